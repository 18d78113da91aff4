//! Errors of messages.

use std::any::type_name;
use std::cell::Cell;
use std::error::Error;
use std::fmt;

/// The message was not taken and is returned: the actor has stopped, or its mailbox is full.
/// [`try_send`](crate::ActorRef::try_send) fails on a full mailbox, and so does
/// [`send`](crate::ActorRef::send) under the policy [`Fail`](crate::Fail).
///
/// # Examples
/// ```
/// use evenkeel_actor::{SendError, kit};
///
/// kit::run(1, |kit| async move {
///     let actor = kit.probe().actor();
///     actor.stop();
///     actor.stopped().await;
///     let error = actor.send("a message").await.unwrap_err();
///     assert!(matches!(error, SendError::Stopped(_)));
///     assert!(!error.is_full());
///     assert_eq!(error.to_string(), "the actor has stopped");
///     assert_eq!(error.into_message(), "a message");
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<M> {
    /// The mailbox is full.
    Full(M),
    /// The actor has stopped.
    Stopped(M),
    /// The actor's node is down, or shut out, or the local node is about to leave.
    NodeDown(M),
    /// The message is longer than a message between nodes may be, or something in it cannot be
    /// written. A [`ReplyTo`](crate::ReplyTo) that was written before is empty: its asker has been
    /// told that there is [no reply](AskError::NoReply).
    Unwritable(M),
    /// The message has a [`ReplyTo`](crate::ReplyTo) in it, and the actor's node has as many asks
    /// without an answer as [there may be](crate::remote::Limits::calls). The `ReplyTo` is empty:
    /// its asker has been told that there is [no reply](AskError::NoReply), and may ask again. The
    /// message itself cannot be sent again.
    TooManyCalls(M),
}

/// A message that was not taken at once.
///
/// # Examples
/// See [`ActorRef::try_send`](crate::ActorRef::try_send).
pub type TrySendError<M> = SendError<M>;

impl<M> SendError<M> {
    /// Returns the message.
    pub fn into_message(self) -> M {
        match self {
            Self::Full(message)
            | Self::Stopped(message)
            | Self::NodeDown(message)
            | Self::Unwritable(message)
            | Self::TooManyCalls(message) => message,
        }
    }

    /// Returns the error without its message, which is dropped.
    ///
    /// An error with a message is as `Sync` as the message. `?` into a
    /// [`Failure`](crate::Failure), or into a box that is `Sync`, wants an error that is `Sync`.
    ///
    /// # Examples
    /// A closure can be sent to another thread, and cannot be shared with it:
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Context, Handled, SendError, kit, spawn};
    ///
    /// struct Call(Box<dyn FnOnce(&mut u32) + Send>);
    ///
    /// /// A number that is changed by closures.
    /// struct Number(u32);
    ///
    /// impl Actor for Number {
    ///     type Message = Call;
    ///
    ///     async fn handle(&mut self, call: Call, _context: &mut Context<Self>) -> Handled {
    ///         call.0(&mut self.0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// /// Counts what it is told on a number.
    /// struct Counter(ActorRef<Call>);
    ///
    /// impl Actor for Counter {
    ///     type Message = ();
    ///
    ///     async fn handle(&mut self, _one: (), _context: &mut Context<Self>) -> Handled {
    ///         let add = Call(Box::new(|number| *number += 1));
    ///         self.0.send(add).await.map_err(SendError::without_message)?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let number = spawn(Number(0));
    ///     let counter = spawn(Counter(number.clone()));
    ///     counter.send(()).await.unwrap();
    ///     kit.settle().await;
    ///     assert_eq!(number.metrics().handled, 1);
    ///
    ///     number.stop();
    ///     number.stopped().await;
    ///     let late = number.try_send(Call(Box::new(|_| ())));
    ///     assert_eq!(late.map_err(SendError::without_message), Err(SendError::Stopped(())));
    /// });
    /// ```
    pub fn without_message(self) -> SendError<()> {
        self.kind()
    }

    /// Returns what [`without_message`](Self::without_message) does, and leaves the message.
    pub(crate) fn kind(&self) -> SendError<()> {
        match self {
            Self::Full(_) => SendError::Full(()),
            Self::Stopped(_) => SendError::Stopped(()),
            Self::NodeDown(_) => SendError::NodeDown(()),
            Self::Unwritable(_) => SendError::Unwritable(()),
            Self::TooManyCalls(_) => SendError::TooManyCalls(()),
        }
    }

    /// Returns whether the mailbox was full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Stopped(_) => "Stopped(..)",
            Self::NodeDown(_) => "NodeDown(..)",
            Self::Unwritable(_) => "Unwritable(..)",
            Self::TooManyCalls(_) => "TooManyCalls(..)",
        })
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => {
                "the actor's mailbox is full: send waits for room where the policy is Wait; else try again later, or give it a larger capacity"
            }
            Self::Stopped(_) => "the actor has stopped",
            Self::NodeDown(_) => "the actor's node is down",
            Self::Unwritable(_) => {
                "the message cannot be sent to another node: it is too long, or something in it cannot be written"
            }
            Self::TooManyCalls(_) => {
                "the asks to the actor's node without an answer have reached their limit: ask anew after some answers, as this message has lost its asker, or raise the limit"
            }
        })
    }
}

impl<M> Error for SendError<M> {
    /// Returns `None`.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let here = (std::ptr::from_ref(self).addr(), type_name::<Self>());
        LOOKED_AT.set(Some((here, self.kind())));
        None
    }
}

/// An error's address and the name of its type.
type Which = (usize, &'static str);

thread_local! {
    /// The last [`SendError`] that was asked for its source, and its kind.
    static LOOKED_AT: Cell<Option<(Which, SendError<()>)>> = const { Cell::new(None) };
}

/// Returns an error's kind without its message, if it is a [`SendError`] and does not wrap one. The
/// type of the messages is unknown, so the error itself is asked, through its `source`.
pub(crate) fn without_message<E: Error>(error: &E) -> Option<SendError<()>> {
    LOOKED_AT.set(None);
    let is_last = error.source().is_none();
    let (looked_at, says) = LOOKED_AT.take()?;
    let here = (std::ptr::from_ref(error).addr(), type_name::<E>());
    (is_last && looked_at == here).then_some(says)
}

/// Why an ask has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// The mailbox is full, and its policy is not to wait.
    Full,
    /// The actor had stopped.
    Stopped,
    /// The actor dropped the request without an answer: it failed, stopped first, or its policy
    /// dropped the request.
    NoReply,
    /// The limit of the [ask](crate::Ask::timeout), or that of the
    /// [system](crate::System::set_ask_limit), has passed. An answer that comes later is a dead
    /// letter.
    Elapsed,
    /// The actor's node is down.
    NodeDown,
    /// The request cannot be sent to another node: it is too long, or something in it cannot be
    /// written.
    Unwritable,
    /// The actor's node has as many asks without an answer as [there may
    /// be](crate::remote::Limits::calls).
    TooManyCalls,
    /// The other node knows the request or its answer by another type, or the answer is too long.
    Unreadable,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the actor's mailbox is full",
            Self::Stopped => "the actor has stopped",
            Self::NoReply => "the actor has dropped the request without a reply",
            Self::Elapsed => {
                "the actor has not replied in time: check whether it keeps the request, or give the ask more time with timeout, or all asks with System::set_ask_limit"
            }
            Self::NodeDown => "the actor's node is down",
            Self::Unwritable => "the request cannot be sent to another node",
            Self::TooManyCalls => {
                "the asks to the actor's node without an answer have reached their limit"
            }
            Self::Unreadable => {
                "the request or its answer has another type on the other node, or is too long"
            }
        })
    }
}

impl Error for AskError {}

/// Why an actor was not spawned.
///
/// # Examples
/// See [`Builder::spawn`](crate::Builder::spawn).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// The mailbox would have no room for a message.
    ZeroCapacity,
    /// The mailbox would have more room than can be counted.
    TooLarge {
        /// The capacity that was asked for.
        capacity: usize,
        /// The largest capacity.
        most: usize,
    },
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroCapacity => f.write_str(
                "a mailbox has room for one message at least: give it a capacity above 0",
            ),
            Self::TooLarge { capacity, most } => {
                write!(f, "a mailbox has room for {most} messages at most, not {capacity}")
            }
        }
    }
}

impl Error for SpawnError {}
