//! Actors on other nodes, as references know them: a route there, and a slot.
//!
//! [`remote`](crate::remote) stands above references, which reach it through the trait [`Route`]
//! alone. A route leads to one node, for values of one type. A program has one route per pair of
//! node and type that it uses. Routes are kept for ever, so a reference holds a route's number, and
//! a copy counts nothing.

use crate::kin::control::{AnyActor, Control};
use crate::kin::order::Order;
use crate::kin::peer::Peer;
use crate::kin::stopped::Stopped;
use crate::kin::witness::Witness;
use crate::node::wire::StopHow;
use crate::node::{Name, NodeId, Slot};
use crate::primitives::oneshot;
use crate::system::System;
use crate::words::error::SendError;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use crate::words::metrics::ActorMetrics;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};

/// What references and places for answers need of the node that an actor is on.
pub(crate) trait Route: Any + Send + Sync {
    /// Returns the system of this process's own node.
    fn system(&self) -> System;
    fn name(&self, slot: Slot) -> Name;
    fn id(&self, slot: Slot) -> ActorId;
    /// Returns whether the other node is known to be gone.
    fn is_down(&self) -> bool;
    /// Sends a value of the route's type to an actor, if there is room on the way.
    fn tell(&self, to: Slot, value: &dyn Any) -> Result<(), Refused>;
    /// Waits for room on the way, and until the actor takes messages.
    fn room(&self, to: Slot) -> Room;
    fn end(&self, to: Slot, how: StopHow);
    /// Registers a witness of the actor's end. Returns the reason if the end is known.
    fn watch(&self, slot: Slot, witness: Witness) -> Result<(), ExitReason>;
    fn unwatch(&self, slot: Slot, by: ActorId);
    /// Links an actor of this node. Returns the reason if the other actor's end is known.
    fn link(&self, slot: Slot, id: ActorId, own: Peer) -> Result<(), ExitReason>;
    /// Answers a question of the other node with a value of the route's type. Returns false if no
    /// asker waits for it, or if it cannot be sent. The question `is_handed_on` if it has come here
    /// from a third node.
    fn answer(&self, call: u64, is_handed_on: bool, value: &dyn Any) -> bool;
    /// Reports that a question of the other node is not answered.
    fn leave_unanswered(&self, call: u64, is_handed_on: bool);
}

/// Why a message does not go to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Stopped,
    Full,
    NodeDown,
    TooManyCalls,
    Unwritable,
}

/// The number of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteId(u32);

static ROUTES: boxcar::Vec<Box<dyn Route>> = boxcar::Vec::new();

impl RouteId {
    /// Adds a route, and returns its number.
    pub(crate) fn new(route: Box<dyn Route>) -> Self {
        let number = ROUTES.push(route);
        Self(u32::try_from(number).expect("a program has fewer than 2^32 routes"))
    }

    #[inline]
    pub(crate) fn get(self) -> &'static dyn Route {
        &*ROUTES[self.0 as usize]
    }
}

/// The place of an actor of another node. Twelve bytes, without a reference count; a [`Lease`] has
/// the count.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Remote {
    pub(crate) route: RouteId,
    pub(crate) slot: Slot,
}

/// A wait for room on the way to a node.
pub(crate) struct Room(pub(crate) Pin<Box<dyn Future<Output = ()> + Send>>);

impl Room {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Remote {
    /// Returns the place that a lease is for.
    #[inline]
    pub(crate) fn leased(route: RouteId, lease: &Lease) -> Self {
        Self { route, slot: lease.name.slot }
    }

    pub(crate) fn system(self) -> System {
        self.route.get().system()
    }

    pub(crate) fn name(self) -> Name {
        self.route.get().name(self.slot)
    }

    pub(crate) fn id(self) -> ActorId {
        self.route.get().id(self.slot)
    }

    /// Returns whether the actor's node is known to be gone. This node does not know whether an
    /// actor has ended there.
    pub(crate) fn is_down(self) -> bool {
        self.route.get().is_down()
    }

    /// Sends a message, if there is room on the way.
    #[inline]
    pub(crate) fn try_send<M: 'static>(self, message: M) -> Result<(), SendError<M>> {
        match self.route.get().tell(self.slot, &message) {
            Ok(()) => Ok(()),
            Err(refused) => Err(match refused {
                Refused::Stopped => SendError::Stopped(message),
                Refused::Full => SendError::Full(message),
                Refused::NodeDown => SendError::NodeDown(message),
                Refused::TooManyCalls => SendError::TooManyCalls(message),
                Refused::Unwritable => SendError::Unwritable(message),
            }),
        }
    }

    /// Waits for room on the way.
    pub(crate) fn room(self) -> Room {
        self.route.get().room(self.slot)
    }

    pub(crate) fn end(self, how: StopHow) {
        self.route.get().end(self.slot, how);
    }

    pub(crate) fn watch(self, witness: Witness) -> Result<(), ExitReason> {
        self.route.get().watch(self.slot, witness)
    }

    /// Waits for the actor's end.
    pub(crate) fn stopped(self) -> Stopped {
        let (sender, receiver) = oneshot::channel();
        match self.watch(Witness::Future(sender)) {
            Ok(()) => Stopped::when(receiver),
            Err(reason) => Stopped::over(reason),
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

/// The node of an actor, as its leases know it.
pub(crate) trait Owner: Send + Sync {
    /// Gives a lease back soon.
    fn give_back(&'static self, slot: Slot, lender: NodeId, times: u64);
}

/// A lease that this node holds: it keeps an actor on its node. `remote/lease.rs` has the protocol.
pub(crate) struct Lease {
    owner: &'static dyn Owner,
    name: Name,
    /// The node that has lent it.
    lender: NodeId,
    /// The number of references in one record that it stands for.
    times: u64,
    is_pinned: AtomicBool,
}

impl Lease {
    /// Creates the lease that a lender has just given.
    pub(crate) fn new(owner: &'static dyn Owner, name: Name, lender: NodeId, times: u64) -> Self {
        Self { owner, name, lender, times, is_pinned: AtomicBool::new(false) }
    }

    /// Returns the name of the actor.
    pub(crate) fn name(&self) -> Name {
        self.name
    }

    pub(crate) fn lender(&self) -> NodeId {
        self.lender
    }

    /// Pins the lease, so that its drop does not give it back.
    pub(crate) fn pin(&self) {
        // Relaxed: the last reference reads it when it is dropped, after the others have been
        // dropped.
        self.is_pinned.store(true, Ordering::Relaxed);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !*self.is_pinned.get_mut() {
            self.owner.give_back(self.name.slot, self.lender, self.times);
        }
    }
}

/// An actor of another node, without the type of its messages.
pub(crate) struct Away {
    remote: Remote,
    /// The lease that keeps it there.
    _lease: Option<Arc<Lease>>,
}

impl AnyActor {
    pub(crate) fn remote(remote: Remote, lease: Option<Arc<Lease>>) -> Self {
        Self::new(Away { remote, _lease: lease })
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
            // Events go through peers, and to actors of this node.
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

    fn peer(&self) -> Option<Peer> {
        // The actor's own node sends it events, and a link registers both sides at once: see
        // `link`.
        None
    }

    fn watch(&self, witness: Witness) -> Result<(), ExitReason> {
        self.remote.watch(witness)
    }

    fn unwatch(&self, by: ActorId) {
        self.remote.route.get().unwatch(self.remote.slot, by);
    }

    fn link(&self, id: ActorId, peer: Peer) -> Result<(), ExitReason> {
        self.remote.route.get().link(self.remote.slot, id, peer)
    }

    fn stopped(&self) -> Stopped {
        self.remote.stopped()
    }

    // Parents and supervisors spawn their children on their own node. The functions below serve
    // them alone, and do the nearest thing that a remote actor allows.

    fn orphan(&self) {
        self.remote.end(StopHow::Kill);
    }

    fn rise(&self, _term: u64, _supervisor: Peer, _index: usize) -> bool {
        true
    }

    fn dismiss(&self, _supervisor: Peer, _index: usize) -> bool {
        self.remote.end(StopHow::Kill);
        false
    }

    #[cfg(feature = "tracing")]
    fn call(&self, _name: &std::sync::Arc<str>, _has: bool) {}

    fn cease(&self, _term: u64) {
        self.remote.end(StopHow::Stop);
    }

    fn raze(&self) {
        self.remote.end(StopHow::Kill);
    }

    fn withdraw(&self) {
        self.remote.end(StopHow::Kill);
    }
}

/// The place for the answer to a question of another node. Its drop reports that there is no
/// answer.
pub(crate) struct RemoteReply<R> {
    pub(crate) route: RouteId,
    /// Whether it has come from another node than the asker's.
    pub(crate) is_handed_on: bool,
    /// The halves of the call's number. The lower one is zero once the number has been taken.
    low: AtomicU32,
    high: u32,
    answer: PhantomData<fn(R)>,
}

impl<R> RemoteReply<R> {
    /// Creates the place for the answer to `call`, which goes by a route for answers of this type.
    pub(crate) fn new(route: RouteId, is_handed_on: bool, call: u64) -> Self {
        let (low, high) = (AtomicU32::new(call as u32), (call >> 32) as u32);
        Self { route, is_handed_on, low, high, answer: PhantomData }
    }

    /// Takes the call's number out. Returns zero if it was taken before.
    pub(crate) fn take(&self) -> u64 {
        self.number(self.low.swap(0, Ordering::Relaxed))
    }

    /// Returns the call's number with this lower half; zero if it has been taken.
    fn number(&self, low: u32) -> u64 {
        if low == 0 { 0 } else { u64::from(self.high) << 32 | u64::from(low) }
    }
}

impl<R: 'static> RemoteReply<R> {
    /// Answers. Returns the answer if no asker waits for it, or if it cannot be sent.
    pub(crate) fn send(self, reply: R) -> Result<(), R> {
        let call = self.number(self.low.load(Ordering::Relaxed));
        let is_sent = self.route.get().answer(call, self.is_handed_on, &reply);
        // Only now: if the answer's `Serialize` panics, the drop of this place tells the asker.
        self.take();
        if is_sent { Ok(()) } else { Err(reply) }
    }
}

impl<R> Drop for RemoteReply<R> {
    fn drop(&mut self) {
        let call = self.take();
        if call != 0 {
            self.route.get().leave_unanswered(call, self.is_handed_on);
        }
    }
}
