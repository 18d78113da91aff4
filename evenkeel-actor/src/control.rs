//! Actors without the type of their messages.

use crate::mailbox::{HasId, Mailbox, Order};
use crate::metrics::ActorMetrics;
use evenkeel::internal::Public;
use evenkeel::task::Id;
use std::fmt;
use std::sync::Arc;

/// The number of an actor, which no other in this process has or will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActorId(pub(crate) Id);

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What others can do to an actor whatever its messages are.
pub(crate) trait Control: Send + Sync {
    fn id(&self) -> ActorId;
    fn order(&self, order: Order) -> bool;
    fn kill(&self);
    fn is_stopped(&self) -> bool;
    fn metrics(&self) -> ActorMetrics;
}

impl<M: Send + 'static> Control for Public<Mailbox<M>> {
    fn id(&self) -> ActorId {
        HasId::id(self)
    }

    fn order(&self, order: Order) -> bool {
        crate::mailbox::order(self, order)
    }

    fn kill(&self) {
        self.abort();
    }

    fn is_stopped(&self) -> bool {
        Mailbox::is_closed(self)
    }

    fn metrics(&self) -> ActorMetrics {
        Mailbox::metrics(self)
    }
}

/// An actor of which only is known that it is one: to be stopped, killed, watched and linked.
#[derive(Clone)]
pub struct AnyActor(Arc<dyn Control>);

impl AnyActor {
    pub(crate) fn local<M: Send + 'static>(own: Public<Mailbox<M>>) -> Self {
        Self(Arc::new(own))
    }

    pub(crate) fn remote(remote: crate::remote::Remote) -> Self {
        Self(Arc::new(remote))
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

    /// Ends the actor at its next await, in the middle of a message.
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
