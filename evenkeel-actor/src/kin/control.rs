//! Actors without the type of their messages.

use super::order::Order;
use super::peer::Peer;
use super::stopped::Stopped;
use super::witness::Witness;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use crate::words::metrics::ActorMetrics;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Operations on an actor, whatever the type of its messages.
pub(crate) trait Control: Send + Sync {
    fn id(&self) -> ActorId;
    fn order(&self, order: Order) -> bool;
    fn kill(&self);
    fn is_stopped(&self) -> bool;
    fn metrics(&self) -> ActorMetrics;
    /// Returns the address at which the actor is told of others; `None` if it has ended.
    fn peer(&self) -> Option<Peer>;
    /// Adds a witness of the actor's end. Returns the reason if it has ended.
    fn watch(&self, witness: Witness) -> Result<(), ExitReason>;
    fn unwatch(&self, by: ActorId);
    /// Links the actor to another. Returns the reason if it has ended.
    fn link(&self, id: ActorId, peer: Peer) -> Result<(), ExitReason>;
    fn stopped(&self) -> Stopped;
    /// Ends the actor for good, for its parent or supervisor.
    fn orphan(&self);
    /// Starts the actor for its supervisor, which gets notices of it as the child `index`. Returns
    /// false if the actor has ended: then no notice comes.
    fn rise(&self, term: u64, supervisor: Peer, index: usize) -> bool;
    /// Ends the actor for good, for its supervisor, which gets the notice of that as the child
    /// `index`. Returns as [`rise`](Self::rise).
    fn dismiss(&self, supervisor: Peer, index: usize) -> bool;
    /// Notes that the actor has a registered name, or has lost it.
    #[cfg(feature = "tracing")]
    fn call(&self, name: &Arc<str>, has: bool);
    /// Stops that start after the present message, for the supervisor.
    fn cease(&self, term: u64);
    /// Kills the last start, for the supervisor.
    fn raze(&self);
    /// Kills the last start, and takes back one that has not begun, for a supervisor that has
    /// fallen or starts anew.
    fn withdraw(&self);
}

/// An actor with messages of an unknown type: to be stopped, killed, watched and linked.
///
/// # Examples
/// Actors with different messages in one list, which are stopped together:
/// ```
/// use evenkeel_actor::{Actor, AnyActor, Context, ExitReason, Handled, spawn};
///
/// struct Names;
///
/// impl Actor for Names {
///     type Message = String;
///
///     async fn handle(&mut self, _name: String, _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// struct Numbers;
///
/// impl Actor for Numbers {
///     type Message = u64;
///
///     async fn handle(&mut self, _number: u64, _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let (names, numbers) = (spawn(Names), spawn(Numbers));
///     names.send("Ada".to_owned()).await.unwrap();
///     let all: [AnyActor; 2] = [names.any(), numbers.any()];
///
///     all.iter().for_each(AnyActor::stop);
///     for actor in &all {
///         assert!(matches!(actor.stopped().await, ExitReason::Normal));
///         assert!(actor.is_stopped());
///     }
///     assert_eq!(all[0].metrics().handled, 1);
///     assert_eq!(all[1].id(), numbers.id());
/// });
/// ```
#[derive(Clone)]
pub struct AnyActor(Arc<dyn Control>);

impl AnyActor {
    pub(crate) fn new(actor: impl Control + 'static) -> Self {
        Self(Arc::new(actor))
    }

    /// Returns the actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Stops the actor after the messages that are in its mailbox.
    pub fn stop(&self) {
        self.0.order(Order::Drain);
    }

    /// Stops the actor after the message that it is handling; the others become dead letters.
    ///
    /// # Examples
    /// See [`ActorRef`](crate::ActorRef).
    pub fn stop_now(&self) {
        self.0.order(Order::Stop);
    }

    /// Ends the actor at its next await, in the middle of a message. A supervised actor may be
    /// restarted.
    ///
    /// # Examples
    /// See [`ActorRef`](crate::ActorRef).
    pub fn kill(&self) {
        self.0.kill();
    }

    /// Returns whether the actor has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// Returns the actor's counts.
    #[must_use]
    pub fn metrics(&self) -> ActorMetrics {
        self.0.metrics()
    }

    /// Waits until the actor has ended: see [`ActorRef::stopped`](crate::ActorRef::stopped).
    pub fn stopped(&self) -> Stopped {
        self.0.stopped()
    }

    pub(crate) fn control(&self) -> &dyn Control {
        &*self.0
    }
}

impl PartialEq for AnyActor {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for AnyActor {}

impl Hash for AnyActor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

/// As for [`ActorRef`](crate::ActorRef).
impl UnwindSafe for AnyActor {}
/// As for [`ActorRef`](crate::ActorRef).
impl RefUnwindSafe for AnyActor {}

impl fmt::Debug for AnyActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyActor({})", self.id())
    }
}
