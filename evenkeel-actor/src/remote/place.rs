//! A remote actor's place, and what a reference to it does.

use super::lease::Lease;
use super::route::{RouteId, Standing};
use super::scope;
use super::ties;
use crate::control::{ActorId, Control};
use crate::error::SendError;
use crate::exit::ExitReason;
use crate::kin::peer::Peer as KinPeer;
use crate::kin::{Stopped, Witness};
use crate::mailbox::Order;
use crate::metrics::ActorMetrics;
use crate::node::multiplexer::PutError;
use crate::node::wire::{Message, StopHow};
use crate::node::{Name, Slot};
use crate::oneshot;
use serde::Serialize;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::route::Peer;

/// The place of an actor of another node. Twelve bytes, and nothing to count; what is counted is a
/// [lease](super::lease).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remote {
    route: RouteId,
    slot: Slot,
}

/// A wait for room on the way to a node.
pub(crate) struct Room(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Room {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Remote {
    pub(crate) fn new<M: Serialize + 'static>(peer: &'static Peer, slot: Slot) -> Self {
        Self { route: RouteId::of::<M>(peer), slot }
    }

    /// The place that a lease is for.
    #[inline]
    pub(crate) fn leased(route: RouteId, lease: &Lease) -> Self {
        Self { route, slot: lease.slot }
    }

    pub(crate) fn peer(self) -> &'static Peer {
        self.route.peer()
    }

    pub(crate) fn slot(self) -> Slot {
        self.slot
    }

    pub(crate) fn name(self) -> Name {
        Name { node: self.peer().id, slot: self.slot }
    }

    /// Sends a message, if there is room on the way.
    #[inline]
    pub(crate) fn try_send<M: 'static>(self, message: M) -> Result<(), SendError<M>> {
        match self.route.get().tell(self.slot, &message) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.refused(message, &error)),
        }
    }

    #[cold]
    fn refused<M, E>(self, message: M, error: &PutError<E>) -> SendError<M> {
        match error {
            PutError::Down if self.is_home() => SendError::Stopped(message),
            PutError::Full { .. } => SendError::Full(message),
            PutError::Down | PutError::Leaving => SendError::NodeDown(message),
            PutError::Unwritable(_) if scope::were_too_many_calls() => {
                SendError::TooManyCalls(message)
            }
            PutError::TooLong { .. } | PutError::Unwritable(_) => SendError::Unwritable(message),
        }
    }

    /// Waits for room.
    pub(crate) fn room(self) -> Room {
        Room(Box::pin(self.peer().room(self.slot)))
    }

    pub(crate) fn end(self, how: StopHow) {
        self.peer().say(Message::Stop { to: self.slot, how });
    }

    /// Whether its node is known to be gone. Of an actor that has ended there, nothing is known
    /// here.
    pub(crate) fn is_down(self) -> bool {
        let peer = self.peer();
        peer.link.as_ref().is_none_or(|link| link.is_shut()) || peer.standing() == Standing::Down
    }

    /// Whether it was an actor of this node, which has ended: a reference that comes home is remote
    /// then only.
    fn is_home(self) -> bool {
        self.peer().link.is_none()
    }

    /// Waits for its end.
    pub(crate) fn stopped(self) -> Stopped {
        let (sender, receiver) = oneshot::channel();
        match ties::watch(self, Witness::Future(sender)) {
            Ok(()) => Stopped::when(receiver),
            Err(reason) => Stopped::over(reason),
        }
    }

    pub(crate) fn id(self) -> ActorId {
        self.peer().actor(self.slot)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

/// An actor of another node of which only is known that it is one.
pub(crate) struct Away {
    remote: Remote,
    /// What keeps it there.
    _lease: Option<Arc<Lease>>,
}

impl Away {
    pub(crate) fn new(remote: Remote, lease: Option<Arc<Lease>>) -> Self {
        Self { remote, _lease: lease }
    }
}

impl Control for Away {
    fn id(&self) -> ActorId {
        self.remote.id()
    }

    fn order(&self, order: Order) -> bool {
        match order {
            Order::Drain => self.remote.end(StopHow::Drain),
            Order::Stop | Order::Cease => self.remote.end(StopHow::Stop),
            // Events go by peers, and to actors of this node.
            Order::Event(_) => return false,
        }
        !self.remote.is_down()
    }

    fn kill(&self) {
        self.remote.end(StopHow::Kill);
    }

    fn is_stopped(&self) -> bool {
        self.remote.is_down()
    }

    fn metrics(&self) -> ActorMetrics {
        ActorMetrics::default()
    }

    fn peer(&self) -> Option<KinPeer> {
        // Its own node tells it, and a link has both sides known at once: see `link`.
        None
    }

    fn watch(&self, witness: Witness) -> Result<(), ExitReason> {
        ties::watch(self.remote, witness)
    }

    fn unwatch(&self, by: ActorId) {
        ties::unwatch(self.remote, by);
    }

    fn link(&self, id: ActorId, peer: KinPeer) -> Result<(), ExitReason> {
        ties::link(self.remote, id, peer)
    }

    fn stopped(&self) -> Stopped {
        self.remote.stopped()
    }

    // Parents and supervisors spawn their children, on their own node. What follows is for them
    // alone, and does the nearest that there is.

    fn orphan(&self) {
        self.remote.end(StopHow::Kill);
    }

    fn rise(&self, _term: u64, _supervisor: KinPeer, _index: usize) {}

    #[cfg(feature = "tracing")]
    fn call(&self, _name: &std::sync::Arc<str>, _has: bool) {}

    fn cease(&self, _term: u64) {
        self.remote.end(StopHow::Stop);
    }

    fn raze(&self) {
        self.remote.end(StopHow::Kill);
    }
}
