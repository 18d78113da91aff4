//! Actors without the type of their messages.

use super::order::Order;
use super::peer::Peer;
use super::stopped::Stopped;
use super::witness::Witness;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use crate::words::metrics::ActorMetrics;
use std::fmt;
use std::sync::Arc;

/// What others can do to an actor whatever its messages are.
pub(crate) trait Control: Send + Sync {
    fn id(&self) -> ActorId;
    fn order(&self, order: Order) -> bool;
    fn kill(&self);
    fn is_stopped(&self) -> bool;
    fn metrics(&self) -> ActorMetrics;
    /// Where it is told of others. None if it has ended.
    fn peer(&self) -> Option<Peer>;
    /// Has a witness told of its end; the reason, if it has ended.
    fn watch(&self, witness: Witness) -> Result<(), ExitReason>;
    fn unwatch(&self, by: ActorId);
    /// Has it linked to an actor; the reason, if it has ended.
    fn link(&self, id: ActorId, peer: Peer) -> Result<(), ExitReason>;
    fn stopped(&self) -> Stopped;
    /// Ends it for good, as its parent or supervisor.
    fn orphan(&self);
    /// Starts it, as its supervisor, who is told as of the child with that number.
    fn rise(&self, term: u64, supervisor: Peer, index: usize);
    /// Calls it by a registered name, or no longer.
    #[cfg(feature = "tracing")]
    fn call(&self, name: &Arc<str>, has: bool);
    /// Has that start stopped, after the present message, as its supervisor.
    fn cease(&self, term: u64);
    /// Kills what has been started last, as its supervisor.
    fn raze(&self);
}

/// An actor of which only is known that it is one: to be stopped, killed, watched and linked.
#[derive(Clone)]
pub struct AnyActor(Arc<dyn Control>);

impl AnyActor {
    pub(crate) fn new(actor: impl Control + 'static) -> Self {
        Self(Arc::new(actor))
    }

    /// The actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Has the actor stop after the messages that are in its mailbox now.
    pub fn stop(&self) {
        self.0.order(Order::Drain);
    }

    /// Has the actor stop after the message that it handles now; the others become dead letters.
    pub fn stop_now(&self) {
        self.0.order(Order::Stop);
    }

    /// Ends the actor at its next await, in the middle of a message. One that is supervised may be
    /// started again.
    pub fn kill(&self) {
        self.0.kill();
    }

    /// Whether the actor has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// What has been counted of it.
    #[must_use]
    pub fn metrics(&self) -> ActorMetrics {
        self.0.metrics()
    }

    /// Waits for the end of the actor: see [`ActorRef::stopped`](crate::ActorRef::stopped).
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

impl fmt::Debug for AnyActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyActor({})", self.id())
    }
}
