//! References that are typed by the message that can be sent, not by the actor.

use super::actor_ref::ActorRef;
use crate::kin::control::AnyActor;
use crate::mailbox::overflow::{Full, Overflow};
use crate::system::System;
use crate::system::dead_letters;
use crate::words::dead_letter::DeadLetterKind;
use crate::words::error::SendError;
use crate::words::id::ActorId;
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;

/// What becomes of a message that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Taken,
    /// The policy of the mailbox has dropped the message, which counts as a dead letter.
    Dropped,
    /// The mailbox is full, and its policy lets senders wait.
    Full,
    /// The mailbox is full, and its policy does not let senders wait; or the message cannot be
    /// sent. The error says which.
    Refused(SendError<()>),
    /// The actor has stopped, or its node is down. The error says which.
    Gone(SendError<()>),
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), SendError<()>>> + Send + 'a>>;

/// An actor that takes messages of type `N`.
trait Deliver<N>: Send + Sync {
    fn offer(&self, message: N) -> Offer;
    fn send(&self, message: N) -> Sending<'_>;
    fn any(&self) -> AnyActor;
    fn id(&self) -> ActorId;
    fn is_stopped(&self) -> bool;
    fn system(&self) -> System;
    fn make_known(&self) -> bool;
}

impl<N, M, P> Deliver<N> for ActorRef<M, P>
where
    N: Into<M> + Send + 'static,
    M: Send + 'static,
    P: Overflow,
{
    fn offer(&self, message: N) -> Offer {
        match self.offer(message.into()) {
            Ok(true) => Offer::Taken,
            Ok(false) => Offer::Dropped,
            Err(SendError::Full(_)) if P::FULL == Full::Wait => Offer::Full,
            Err(error) => match error.kind() {
                gone @ (SendError::Stopped(()) | SendError::NodeDown(())) => Offer::Gone(gone),
                refused => Offer::Refused(refused),
            },
        }
    }

    fn send(&self, message: N) -> Sending<'_> {
        let message = message.into();
        Box::pin(async move { self.send(message).await.map_err(SendError::without_message) })
    }

    fn any(&self) -> AnyActor {
        self.any()
    }

    fn id(&self) -> ActorId {
        self.id()
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped()
    }

    fn system(&self) -> System {
        self.system()
    }

    fn make_known(&self) -> bool {
        self.make_known()
    }
}

/// A reference to any actor that takes messages of type `N`: its own messages are of that type, or
/// can be made [from](From) it. So an actor understands the replies and events of others without a
/// type that they all share.
///
/// It applies the mailbox's policy, without naming it. Cheap to clone, and counted as a reference.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Context, Handled, Recipient, ReplyTo, kit, spawn};
///
/// /// Sends a temperature to any actor that takes one.
/// struct Sensor;
///
/// struct Temperature(f64);
///
/// impl Actor for Sensor {
///     type Message = Recipient<Temperature>;
///
///     async fn handle(&mut self, to: Self::Message, _context: &mut Context<Self>) -> Handled {
///         to.send(Temperature(20.5)).await?;
///         Ok(())
///     }
/// }
///
/// struct Heating(f64);
///
/// enum Message {
///     Measured(f64),
///     Get(ReplyTo<f64>),
/// }
///
/// impl From<Temperature> for Message {
///     fn from(temperature: Temperature) -> Self {
///         Self::Measured(temperature.0)
///     }
/// }
///
/// impl Actor for Heating {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::Measured(temperature) => self.0 = temperature,
///             Message::Get(reply) => reply.send(self.0),
///         }
///         Ok(())
///     }
/// }
///
/// kit::run(1, |kit| async move {
///     let (sensor, heating) = (spawn(Sensor), spawn(Heating(0.0)));
///     sensor.send(heating.recipient()).await.unwrap();
///     kit.settle().await;
///     assert_eq!(heating.ask(Message::Get).await, Ok(20.5));
/// });
/// ```
///
/// A sender with recipients of several kinds, which forgets those that have stopped. A recipient
/// with a full mailbox misses a reading, and stays:
/// ```
/// use evenkeel_actor::{Recipient, SendError, kit};
///
/// #[derive(Clone, Copy)]
/// struct Celsius(f64);
///
/// impl From<Celsius> for f64 {
///     fn from(Celsius(degrees): Celsius) -> Self {
///         degrees
///     }
/// }
///
/// impl From<Celsius> for String {
///     fn from(Celsius(degrees): Celsius) -> Self {
///         format!("{degrees} °C")
///     }
/// }
///
/// fn publish(all: &mut Vec<Recipient<Celsius>>, reading: Celsius) {
///     all.retain(|to| !matches!(to.try_send(reading), Err(SendError::Stopped(()))));
/// }
///
/// kit::run(1, |kit| async move {
///     let (heating, display) = (kit.probe::<f64>(), kit.probe::<String>());
///     let mut all = vec![heating.actor().recipient(), display.actor().recipient()];
///
///     publish(&mut all, Celsius(20.5));
///     kit.settle().await;
///     assert_eq!((heating.drain(), display.drain()), (vec![20.5], vec!["20.5 °C".to_owned()]));
///
///     all[0].any().stop();
///     kit.settle().await;
///     assert!(all[0].is_stopped() && !all[1].is_stopped());
///     publish(&mut all, Celsius(21.0));
///     assert_eq!(all.len(), 1);
///     assert_eq!(all[0].id(), display.actor().id());
/// });
/// ```
pub struct Recipient<N>(Arc<dyn Deliver<N>>);

impl<N: Send + 'static> Recipient<N> {
    /// Sends a message, if that is possible at once.
    ///
    /// # Errors
    /// If the mailbox is full or the actor has stopped; for an actor of another node also if that
    /// node is down, or if the message cannot be sent there: the same as
    /// [`ActorRef::try_send`]. The message has been converted, and is dropped.
    pub fn try_send(&self, message: N) -> Result<(), SendError<()>> {
        match self.offer(message) {
            Offer::Taken | Offer::Dropped => Ok(()),
            Offer::Full => Err(SendError::Full(())),
            Offer::Refused(error) | Offer::Gone(error) => Err(error),
        }
    }

    /// Sends a message. If the actor's policy is [`Wait`](crate::Wait), the future waits for room.
    /// Allocates the future.
    ///
    /// # Errors
    /// If the actor has stopped, or, under [`Fail`](crate::Fail), its mailbox is full. For an actor
    /// of another node also if that node is down, or if the message cannot be sent there.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has sent nothing, and drops its message.
    pub async fn send(&self, message: N) -> Result<(), SendError<()>> {
        self.0.send(message).await
    }

    pub(crate) fn offer(&self, message: N) -> Offer {
        self.0.offer(message)
    }

    /// Counts a message that was not delivered, and that no sender gets back, as a dead letter.
    pub(crate) fn note_undelivered(&self) {
        let kind = DeadLetterKind::Undelivered;
        dead_letters::note::<N>(self.0.system(), Some(self.id()), kind, 1);
    }

    /// Returns the actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Returns the actor, without the type of its messages.
    #[must_use]
    pub fn any(&self) -> AnyActor {
        self.0.any()
    }

    /// Returns whether the actor has stopped: the same as [`ActorRef::is_stopped`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    pub(crate) fn system(&self) -> System {
        self.0.system()
    }

    pub(crate) fn make_known(&self) -> bool {
        self.0.make_known()
    }
}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    /// Returns the actor as a recipient of messages of type `N`, from which its own are made.
    ///
    /// # Examples
    /// See [`Recipient`].
    #[must_use]
    pub fn recipient<N: Into<M> + Send + 'static>(&self) -> Recipient<N> {
        Recipient(Arc::new(self.clone()))
    }
}

impl<M: Send + 'static, P: Overflow> From<ActorRef<M, P>> for Recipient<M> {
    fn from(actor: ActorRef<M, P>) -> Self {
        Self(Arc::new(actor))
    }
}

/// As for [`ActorRef`].
impl<N> UnwindSafe for Recipient<N> {}
/// As for [`ActorRef`].
impl<N> RefUnwindSafe for Recipient<N> {}

impl<N> Clone for Recipient<N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<N> fmt::Debug for Recipient<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>({})", type_name::<N>(), self.0.id())
    }
}
