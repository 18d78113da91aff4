//! The multiplexer: small messages to one node travel together.
//!
//! # Roles
//! A *sender* is an actor, or whatever else sends. A *lane* is a set of buffers, one for each node,
//! under a lock of its own; each worker has one, and all that are no workers, or have no [`Trail`],
//! share one more, the *common* lane. A lane's *flusher* is a task. The *host* drives the
//! transport, and *departures* is the queue of frames to it. A *gate* is what is known of a node.
//!
//! # When a buffer leaves
//! 1. When it is full, at the message that fills it.
//! 2. When its worker has run out of local work: the first message in an empty lane wakes the
//!    flusher, which goes to the back of the worker's ready queue; when its turn comes, what was
//!    ready before has run and has sent what it had to send.
//! 3. When its first message has waited for the cap. That is looked at by every sixteenth message
//!    of a buffer, and, for a worker that comes to nothing because of a long poll, by the host.
//!
//! # Why nothing stays
//! A buffer that has something in it is in its lane's list of dirty ones: the first message puts it
//! there, under the lock. A lane whose list is not empty has no flusher's waker, since the same
//! step takes it out and wakes it; so the flusher is going to be polled. Its poll flushes and
//! leaves its waker in one hold of the lock. A lane is closed, and its buffers are flushed for the
//! last time, after all gates are shut, and messages look at their gate under the lane's lock: so a
//! message is either flushed or refused. It is the same with a node that is down. A host that is
//! itself the flusher of all lanes takes what is in them without the queue, under each lane's lock,
//! and what is in the queue before that.
//!
//! # Why order is kept
//! What one sender sends to one actor arrives in the order of sending. *While the sender stays on
//! one lane* all its messages for a node are in the lane's buffer in order, frames are handed over
//! under the lane's lock, so in order, the queue is FIFO, and so are the host and the transport;
//! the receiver reads frames of one lane in order. *When the sender comes to another lane*, because
//! its worker is another, its trail says by which lane it has sent last. Before it puts anything
//! into the new lane it flushes the old one: as handing over happens under the lock, all it has
//! sent is then in the queue, whoever put it there. So its next frame, of the new lane, stands
//! behind them in the queue. It then *fences* the new lane: the next frame to each node is read
//! after all that came before it from here, so the receiver may read frames of different lanes at
//! once and still reads this sender's in order; further frames of the lane come after that one. *A
//! host that takes from a lane itself* takes what is in the queue before, under the lane's lock:
//! whatever a sender had handed over when it put something into this lane is in the queue then, or
//! with the host. Other senders' messages in the fenced frame wait for nothing but time.
//! *A sender without a trail* always sends by the common lane.
//!
//! The trail names one lane for all nodes: at any time all of a sender's messages that are not in
//! the queue are in the trail's lane. A trail that is older than the last
//! epoch (in `trail`) may be forgotten, since all lanes were flushed and fenced then.
//!
//! # Rejected
//! A lane by receiver, which needs no trail: then all workers meet at the locks of all lanes.
//! Numbers in messages, for the receiver to sort by: bytes in each message and a table for each
//! pair of actors. A flush at the end of each turn of an actor: nothing is packed if turns send one
//! message each. A lock for each buffer instead of one for each lane: then a flush of the lane is
//! not one step, and one that is half done by another thread lets a sender that moves overtake
//! itself.

mod departures;
mod error;
mod gate;
mod lane;
mod packer;
#[cfg(test)]
mod tests;
mod trail;

pub use error::PutError;
pub use gate::Traffic;
pub use trail::Trail;

pub(crate) use departures::Departure;
pub(crate) use packer::Sealed;

use super::policy::Packing;
use super::{NodeId, frame};
use crossbeam_utils::CachePadded;
use departures::Departures;
use gate::{Gate, Shut};
use lane::Lane;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use trail::Step;

/// Whom to wake once no lock is held.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Wakes {
    flusher: Option<Waker>,
    host: Option<Waker>,
}

impl Wakes {
    #[inline]
    fn wake(self) {
        if let Some(flusher) = self.flusher {
            flusher.wake();
        }
        if let Some(host) = self.host {
            host.wake();
        }
    }
}

/// Packs messages for other nodes. The module says how.
#[derive(Debug)]
pub struct Multiplexer {
    packing: Packing,
    local: NodeId,
    gates: Box<[Arc<Gate>]>,
    /// One for each worker, and the common one.
    lanes: Box<[CachePadded<Lane>]>,
    departures: Departures,
    /// The epoch that has begun last.
    epoch: Mutex<u64>,
}

/// The way to one other node. Cheap to clone; a remote reference has one.
#[derive(Clone, Debug)]
pub struct Link {
    gate: Arc<Gate>,
    multiplexer: Arc<Multiplexer>,
}

impl Multiplexer {
    /// For this node, `local` of `nodes`, with a lane for each of `workers`.
    ///
    /// # Panics
    /// If there are more workers than [lanes](frame::MOST_LANES), or if `local` is none of the
    /// nodes.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32, workers: usize, packing: Packing) -> Arc<Self> {
        assert!(local.number() < nodes, "node {local} is none of {nodes}");
        assert!(workers < frame::MOST_LANES.into(), "{workers} workers are more than lanes");
        let gates: Box<[_]> = (0..nodes)
            .map(|node| Arc::new(Gate::new(NodeId::new(node), packing.waiting.max(1))))
            .collect();
        let lanes =
            (0..=workers as u16).map(|lane| CachePadded::new(Lane::new(lane, &gates))).collect();
        let departures = Departures::new(packing.frame);
        Arc::new(Self { packing, local, gates, lanes, departures, epoch: Mutex::new(0) })
    }

    /// The number of this node.
    #[must_use]
    pub fn local(&self) -> NodeId {
        self.local
    }

    /// How messages are packed, and how many may wait.
    #[must_use]
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// The way to a node; `None` if there is no such node, or if it is this one.
    #[must_use]
    pub fn link(self: &Arc<Self>, to: NodeId) -> Option<Link> {
        let gate = self.gate(to)?;
        Some(Link { gate: Arc::clone(gate), multiplexer: Arc::clone(self) })
    }

    /// The flushers of all lanes, one future for each, to be spawned where the workers are. They
    /// end once the multiplexer is [closed](Self::close).
    pub fn flushers(self: &Arc<Self>) -> impl Iterator<Item = impl Future<Output = ()> + use<>> {
        (0..self.lanes.len()).map(|lane| {
            let this = Arc::clone(self);
            poll_fn(move |context: &mut Context<'_>| {
                let (wakes, is_closed) =
                    this.lanes[lane].flush_as(context.waker(), &this.departures);
                wakes.wake();
                if is_closed { Poll::Ready(()) } else { Poll::Pending }
            })
        })
    }

    /// Sends what is there, in all lanes.
    pub fn flush(&self) {
        for lane in &self.lanes {
            lane.flush(&self.departures).wake();
        }
    }

    /// Begins an epoch: trails that were laid in earlier ones may be
    /// [forgotten](Trail::remove_before) when this returns.
    pub fn begin_epoch(&self) -> u64 {
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        *epoch = trail::epoch_after(*epoch);
        for lane in &self.lanes {
            lane.begin_epoch(*epoch, &self.departures).wake();
        }
        self.lanes.iter().for_each(|lane| lane.fence());
        *epoch
    }

    /// Takes no more messages, and sends what is there. The host leaves once the transport has it.
    pub fn close(&self) {
        for gate in &self.gates {
            gate.shut(Shut::Leaving);
        }
        for lane in &self.lanes {
            lane.close(&self.departures).wake();
        }
        self.departures.close();
    }

    /// What has gone to a node and come from it; nothing, if there is no such node.
    #[must_use]
    pub fn traffic(&self, node: NodeId) -> Traffic {
        self.gate(node).map(|gate| gate.traffic()).unwrap_or_default()
    }

    /// Takes back the buffer of a frame that has been read.
    pub fn recycle(&self, buffer: Vec<u8>) {
        self.departures.give_back(buffer);
    }

    fn gate(&self, node: NodeId) -> Option<&Arc<Gate>> {
        self.gates.get(node.number() as usize).filter(|_| node != self.local)
    }

    /// The lane of the worker that this thread is, or the common one.
    #[inline]
    fn here(&self) -> u16 {
        let common = self.lanes.len() - 1;
        evenkeel::fork_join::worker_index().unwrap_or(common).min(common) as u16
    }

    fn now(&self) -> u64 {
        evenkeel::internal::now()
    }

    /// The lane that a thread whose worker has the lane `here` puts messages into now, once what
    /// its sender has put into others is on its way.
    #[inline]
    fn lane(&self, here: u16) -> &Lane {
        match trail::step(here) {
            Step::Common => &self.lanes[self.lanes.len() - 1],
            Step::Stays => &self.lanes[usize::from(here)],
            Step::Moves { from } => self.change_lanes(from, here),
        }
    }

    #[cold]
    fn change_lanes(&self, from: u16, to: u16) -> &Lane {
        // A trail that was laid in another multiplexer may name a lane that is not here: then
        // nothing of the sender is in any lane here.
        if let Some(from) = self.lanes.get(usize::from(from)) {
            from.flush(&self.departures).wake();
        }
        let lane = &self.lanes[usize::from(to)];
        debug_assert_eq!(lane.number(), to);
        lane.fence();
        lane
    }
}

/// What the host does with it.
impl Multiplexer {
    /// Moves all frames to the end of `into`. Says whether there will be no more.
    pub(crate) fn take_departures(&self, into: &mut VecDeque<Departure>) -> bool {
        self.departures.take(into)
    }

    /// Moves what is there, in all lanes, as far as it is seen without their locks, to the end of
    /// `into`, for a host that is the flusher. New buffers come from `spare`, as long as it has
    /// some.
    #[inline]
    pub(crate) fn take_seen(&self, spare: &mut Vec<Vec<u8>>, into: &mut VecDeque<Departure>) {
        for lane in &self.lanes {
            lane.take(&self.departures, spare, into);
        }
    }

    /// Whether a buffer is worth keeping for a frame.
    #[inline]
    pub(crate) fn is_of_use(&self, buffer: &Vec<u8>) -> bool {
        self.departures.is_of_use(buffer)
    }

    /// Sends what is there, in all lanes, and leaves the waker of a host that is their flusher.
    pub(crate) fn flush_as(&self, host: &Waker) {
        for lane in &self.lanes {
            let (wakes, _) = lane.flush_as(host, &self.departures);
            wakes.wake();
        }
    }

    /// Ends the host's wait, as there is room again for what arrives.
    pub fn wake_host(&self) {
        self.departures.wake_host();
    }

    /// Leaves the host's waker, unless there is something for it: then false.
    pub(crate) fn park_host(&self, waker: &Waker) -> bool {
        self.departures.park(waker)
    }

    /// A frame that the host has taken from a lane itself waits after all.
    pub(crate) fn queues(&self, to: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(to) {
            gate.queues(bytes);
        }
    }

    /// The transport has taken a frame that waited.
    pub(crate) fn taken(&self, to: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(to) {
            gate.taken(bytes);
        }
    }

    /// A frame has come.
    pub(crate) fn arrived(&self, from: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(from) {
            gate.arrived(bytes);
        }
    }

    /// A frame was dropped.
    pub(crate) fn dropped(&self, to: NodeId, bytes: usize, messages: u32, was_queued: bool) {
        if let Some(gate) = self.gate(to) {
            gate.lost(messages.into());
            if was_queued {
                gate.taken(bytes);
            }
        }
    }

    /// Refuses further messages for a node, for ever, and drops those that are packed. Says how
    /// many messages that were.
    pub fn node_is_down(&self, node: NodeId) -> u64 {
        let Some(gate) = self.gate(node) else { return 0 };
        gate.shut(Shut::Down);
        let messages = self.lanes.iter().map(|lane| lane.discard(gate)).sum();
        gate.lost(messages);
        messages
    }

    /// Sends what has waited for the cap in lanes whose workers come to nothing.
    pub(crate) fn flush_old(&self) {
        let (now, cap) = (self.now(), self.packing.cap.as_nanos() as u64);
        for lane in &self.lanes {
            lane.flush_old(now, cap, &self.departures).wake();
        }
    }
}

impl Link {
    /// The node that it leads to.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.gate.node()
    }

    /// Puts a message in: the record that `write` appends, as
    /// [`Envelope::write`](super::wire::Envelope::write) does.
    ///
    /// `write` runs under the lock of a lane: it puts no other message in. If it panics, what it
    /// has written is taken back.
    ///
    /// # Errors
    /// [`PutError`]; nothing is put in then. If it is `Full`, [`room`](Self::room) waits until it
    /// is worth another try.
    #[inline]
    pub fn try_put<E>(
        &self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        self.try_put_at(self.multiplexer.here(), write)
    }

    /// The same whether there is room or not, for what the other side waits for: answers, and steps
    /// of protocols. There are as many as it has asked for.
    ///
    /// # Errors
    /// [`PutError`], except `Full`.
    pub fn put_anyway<E>(
        &self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        self.put_into(this.lane(this.here()), write)
    }

    /// Whether the node is down, or this one leaves.
    pub fn is_shut(&self) -> bool {
        self.gate.is_shut().is_some()
    }

    /// The same as [`put_anyway`](Self::put_anyway), behind all that was put in under `line`
    /// before, by whomever. The caller has a lock that the others with this line take too.
    pub fn put_in_line<E>(
        &self,
        line: &Trail,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        // As if the line were a sender that has come to this lane: what it sends next is read after
        // what it has sent before.
        line.under(|| _ = this.lane(this.here()));
        self.put_anyway(write)
    }

    /// What is put in for the node after this is read there after all that was put in before, by
    /// whichever lanes. Messages for other nodes stay packed, and no epoch begins.
    pub fn fence(&self) {
        let this = &*self.multiplexer;
        for lane in &this.lanes {
            lane.flush_to(&self.gate, &this.departures).wake();
        }
        // Not before all are flushed: the next frame that leaves takes its lane's fence along.
        for lane in &this.lanes {
            lane.fence_to(&self.gate);
        }
    }

    /// Bytes that wait for the transport.
    pub fn backlog(&self) -> usize {
        self.gate.queued()
    }

    /// The same, by a thread whose worker has the lane `here`.
    #[inline]
    fn try_put_at<E>(
        &self,
        here: u16,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        // Whoever is told that there is no room waits for it, which is in vain if the gate is shut:
        // then the lane says so.
        if !self.gate.has_room() && self.gate.is_shut().is_none() {
            return Err(PutError::Full { most: self.gate.most() });
        }
        self.put_into(this.lane(here), write)
    }

    #[inline]
    fn put_into<E>(
        &self,
        lane: &Lane,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        let put = lane.put(&self.gate, &this.packing, &this.departures, || this.now(), write);
        let (wakes, epoch) = put?;
        trail::has_put(epoch);
        wakes.wake();
        Ok(())
    }

    /// Puts a message in as soon as there is room.
    ///
    /// # Errors
    /// [`PutError`], except `Full`.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has put nothing in.
    pub async fn put<E>(
        &self,
        mut write: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        loop {
            match self.try_put(&mut write) {
                Err(PutError::Full { .. }) => self.room().await,
                done => return done,
            }
        }
    }

    /// Waits until there is room, or the node is down, or this node leaves.
    ///
    /// # Cancel safety
    /// Dropping it forgets the wait.
    pub async fn room(&self) {
        /// Somebody's place among those who wait.
        struct Place<'a>(&'a Gate, Option<u64>);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                if let Some(place) = self.1 {
                    self.0.forget(place);
                }
            }
        }
        let mut place = Place(&self.gate, None);
        poll_fn(|context| {
            if place.0.has_room_or_wait(&mut place.1, context.waker()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
