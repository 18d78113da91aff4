//! Why actors end.

use super::error::without_message;
use crate::node::NodeId;
use crate::words::id::ActorId;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// An error that a handler fails with, made by `?` from any other error, or by
/// [`new`](Self::new) from what is none, such as an error in a box.
///
/// From a [`SendError`](crate::SendError) it keeps the kind, as a `SendError<()>`, and drops the
/// message. A failure is kept as long as a witness of the end may ask for it, and askers with a
/// [`ReplyTo`](crate::ReplyTo) in the message would wait meanwhile.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Builder, Context, ExitReason, Failure, Handled, System};
/// use std::num::ParseIntError;
///
/// struct Parser;
///
/// impl Actor for Parser {
///     type Message = &'static str;
///
///     async fn handle(&mut self, text: &'static str, _context: &mut Context<Self>) -> Handled {
///         if text.parse::<i32>()? < 0 {
///             return Err(Failure::message("a number is negative"));
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let system = System::new();
///     system.on_failure(|_| ());
///     let fails = async |text| {
///         let parser = Builder::new().system(system).spawn(Parser).unwrap();
///         parser.send(text).await.unwrap();
///         let ExitReason::Failed(failure) = parser.stopped().await else { panic!() };
///         failure
///     };
///     assert_eq!(fails("-7").await.to_string(), "a number is negative");
///     // The error itself is there, with its type.
///     assert!(fails("seven").await.error().is::<ParseIntError>());
/// });
/// ```
pub struct Failure(Box<dyn Error + Send + Sync>);

impl Failure {
    /// Returns a failure with any error that fits into a box: one that is in a box already, one of
    /// a library that converts into such a box, as `anyhow` does, or words. `?` alone does not take
    /// boxes, which are no [`Error`]s themselves.
    ///
    /// A [`SendError`](crate::SendError) keeps its message here: for one, use `?`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, ExitReason, Failure, Handled, kit, spawn};
    /// use std::error::Error;
    /// use std::num::ParseIntError;
    ///
    /// /// A function of the program, which fails in several ways.
    /// fn weight(parcel: &str) -> Result<u32, Box<dyn Error + Send + Sync>> {
    ///     Ok(parcel.strip_suffix(" kg").ok_or("a weight is in kg")?.parse()?)
    /// }
    ///
    /// struct Scales(u32);
    ///
    /// impl Actor for Scales {
    ///     type Message = &'static str;
    ///
    ///     async fn handle(&mut self, parcel: &'static str, _: &mut Context<Self>) -> Handled {
    ///         self.0 += weight(parcel).map_err(Failure::new)?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     kit.system().on_failure(|_| ());
    ///     let scales = spawn(Scales(0));
    ///     scales.try_send("7 kg").unwrap();
    ///     scales.try_send("heavy kg").unwrap();
    ///     let ExitReason::Failed(failure) = scales.stopped().await else { panic!() };
    ///     // The error itself is there, not its words alone.
    ///     assert!(failure.error().is::<ParseIntError>());
    /// });
    /// ```
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// Returns a failure that consists of words alone.
    pub fn message(words: impl Into<String>) -> Self {
        Self(words.into().into())
    }

    /// Returns the error.
    #[must_use]
    pub fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        match without_message(&error) {
            Some(error) => Self(Box::new(error)),
            None => Self(Box::new(error)),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Why an actor has ended.
///
/// # Examples
/// ```
/// use evenkeel_actor::{ExitReason, kit};
///
/// kit::run(1, |kit| async move {
///     let (asked, killed) = (kit.probe::<()>().actor(), kit.probe::<()>().actor());
///     asked.stop();
///     killed.kill();
///     let reason = asked.stopped().await;
///     assert!(matches!(reason, ExitReason::Normal) && reason.is_normal());
///
///     // A kill is not an end in order, but not the actor's own failure either.
///     let reason = killed.stopped().await;
///     assert!(matches!(reason, ExitReason::Killed));
///     assert!(!reason.is_normal() && !reason.is_failure());
/// });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExitReason {
    /// It stopped itself, or a caller asked it to stop.
    Normal,
    /// It had no references left, and its mailbox was empty.
    Unreferenced,
    /// It was killed, or its runtime has ended.
    Killed,
    /// A handler panicked, with these words.
    Panicked(Arc<str>),
    /// A handler returned an error.
    Failed(Arc<Failure>),
    /// An actor that it was linked to has ended, not normally.
    Linked {
        /// The first actor of the chain of links.
        actor: ActorId,
        /// Why that actor has ended.
        reason: Arc<ExitReason>,
    },
    /// It was on this node, which is lost, has left, or has shut the local node out.
    NodeDown(NodeId),
    /// It has ended on another node, which has forgotten why.
    Forgotten,
    /// It is on this node, and may be alive: that node and the local one have as many watches and
    /// links between them as [there may be](crate::remote::Limits::ties).
    TooManyTies(NodeId),
}

impl ExitReason {
    /// Returns whether the actor ended in order: by itself, on request, or for want of references.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        matches!(self, Self::Normal | Self::Unreferenced)
    }

    /// Returns whether the actor itself went wrong: it panicked or returned an error.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Panicked(_) | Self::Failed(_))
    }

    /// Returns the reason that linked actors get: the first of the chain.
    pub(crate) fn for_linked(&self, actor: ActorId) -> Self {
        match self {
            Self::Linked { .. } => self.clone(),
            _ => Self::Linked { actor, reason: Arc::new(self.clone()) },
        }
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("stopped"),
            Self::Unreferenced => f.write_str("stopped, as it had no references left"),
            Self::Killed => f.write_str("was killed"),
            Self::Panicked(words) => write!(f, "panicked: {words}"),
            Self::Failed(failure) => write!(f, "failed: {failure}"),
            Self::NodeDown(node) => write!(f, "was lost with node {node}"),
            Self::Forgotten => f.write_str("ended, and its node has forgotten why"),
            Self::TooManyTies(node) => write!(
                f,
                "is on node {node}, and the watches and links with that node have reached their limit: raise the limit on both nodes"
            ),
            Self::Linked { actor, reason } => {
                write!(f, "ended with actor {actor}, to which it was linked, and which {reason}")
            }
        }
    }
}
