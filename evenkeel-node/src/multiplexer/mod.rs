//! The multiplexer: small messages to one node travel together.
//!
//! # Roles
//! A *sender* is an actor, or other code that sends. A *lane* is a set of buffers, one for each
//! node, under a lock of its own. Each worker has one. Threads that are no workers, and senders
//! without a [`Trail`], share one more, the *common* lane. A lane's *flusher* is a task. The *host*
//! drives the transport, and *departures* is the queue of frames to it. A *gate* is the state of
//! one node.
//!
//! # When a buffer leaves
//! 1. When it is full, at the message that fills it.
//! 2. When its worker has run out of local work: the first message in an empty lane wakes the
//!    flusher, which goes to the back of the worker's ready queue. When its turn comes, the tasks
//!    that were ready before have run and have sent their messages. A host that is the flusher and
//!    [shares its core](super::policy::keeps) waits until no task is ready.
//! 3. When its first message has waited for the cap. Every sixteenth message of a buffer looks at
//!    that, and the host does for a worker that is held up by a long poll. An idle host looks when
//!    its wait ends, which takes up to [`LONGEST_WAIT`](super::policy::LONGEST_WAIT); a host that
//!    is a task of that worker looks when the poll has ended.
//!
//! # Why nothing stays
//! A buffer with messages is in its lane's dirty list: the first message puts it there, under the
//! lock. The same step takes out the flusher's waker and wakes it, so a lane with a dirty buffer
//! has no waker, and its flusher is going to be polled. (A host that is the flusher, and keeps the
//! messages, is ready, and flushes before it waits.) That poll flushes and leaves the waker in one
//! hold of the lock. A lane is closed, and flushed for the last time, after all gates are shut, and
//! a sender looks at the gate under the lane's lock: so a message is either flushed or refused. The
//! same holds for a node that is down. A host that is the flusher of all lanes takes their messages
//! without the queue, under each lane's lock, after it has taken what is in the queue.
//!
//! # Why order is kept
//! The messages of one sender to one actor arrive in the order of sending.
//!
//! *While the sender stays on one lane*, all its messages for a node are in the lane's buffer in
//! order. Frames are handed over under the lane's lock, so in order. The queue, the host and the
//! transport are FIFO, and the receiver reads frames of one lane in order.
//!
//! *When the sender comes to another worker*, its trail names the lane by which it has sent last.
//! As long as messages wait in that lane, the sender stays on it: their flusher is on its way and
//! takes the next message along. The sender sees without the lock whether messages wait, and may
//! see it late: order is kept whether it stays or goes.
//!
//! *When the sender comes to another lane*, it first flushes the old one. Handing over happens
//! under the lock, so all its messages are then in the queue, whichever thread put them there. Its
//! next frame, of the new lane, stands behind them in the queue. The sender then *fences* the new
//! lane: each node reads the lane's next frame after all frames that came before it from here. So
//! the receiver may read frames of different lanes at once and still reads this sender's messages
//! in order; further frames of the lane come after the fenced one. The messages of other senders in
//! the fenced frame are only delayed.
//!
//! *A host that takes from a lane itself* first takes what is in the queue, under the lane's lock.
//! All that a sender had handed over when it put a message into this lane is then in the queue, or
//! with the host.
//!
//! *A sender without a trail* always sends by the common lane.
//!
//! The trail names one lane for all nodes: at any time all of a sender's messages that are not in
//! the queue are in the trail's lane. A trail older than the last epoch (see `trail`) may be
//! forgotten, since the epoch has flushed and fenced all lanes.
//!
//! # Rejected
//! A host that is woken by the first message in a lane, so that the cap holds for a worker that is
//! held up: a wake-up for each message that is sent alone, for which the flusher makes one soon. A
//! lane by receiver, which needs no trail: then all workers meet at the locks of all lanes. Numbers
//! in messages, by which the receiver sorts: they cost bytes in each message and a table for each
//! pair of actors. A flush at the end of each turn of an actor: nothing is packed if turns send one
//! message each. A lock for each buffer instead of one for each lane: a flush of the lane is then
//! not one step, and a flush that another thread has half done lets a moving sender overtake
//! itself. A sender that goes to the lane of its worker each time: actors move between workers all
//! the time, so lanes are flushed all the time. In `latency_probe` on two ranks of two workers a
//! frame then has 4 messages instead of 9.

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

/// The wakers to call once no lock is held.
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

/// Packs messages for other nodes, as described in the module.
///
/// # Examples
/// [`Host`](super::host::Host) has an example with both sides. Here no host takes the frames, so
/// they wait:
/// ```
/// use evenkeel_node::multiplexer::{Multiplexer, PutError};
/// use evenkeel_node::policy::Packing;
/// use evenkeel_node::wire::write_tell;
/// use evenkeel_node::{NodeId, Slot};
/// use std::convert::Infallible;
///
/// let packing = Packing { waiting: 1_000, ..Packing::default() };
/// let multiplexer = Multiplexer::new(NodeId::new(0), 2, 1, packing);
/// let link = multiplexer.link(NodeId::new(1)).unwrap();
/// let put = |bytes: usize| {
///     link.try_put(|out| {
///         write_tell(Slot::default(), None, out);
///         out.resize(out.len() + bytes, 7);
///         Ok::<_, Infallible>(())
///     })
/// };
///
/// for _ in 0..10 {
///     put(200).unwrap();
/// }
/// assert_eq!(link.backlog(), 0);
/// // The ten messages leave in one frame.
/// multiplexer.flush();
/// let traffic = multiplexer.traffic(link.node());
/// assert_eq!((traffic.messages_out, traffic.frames_out), (10, 1));
/// assert!(link.backlog() > 2_000);
/// assert_eq!(put(1), Err(PutError::Full { most: 1_000 }));
///
/// multiplexer.node_is_down(link.node());
/// assert!(link.is_shut());
/// assert_eq!(put(1), Err(PutError::Down));
/// ```
#[derive(Debug)]
pub struct Multiplexer {
    packing: Packing,
    local: NodeId,
    gates: Box<[Arc<Gate>]>,
    /// A lane for each worker, and the common one.
    lanes: Box<[CachePadded<Lane>]>,
    departures: Departures,
    /// The epoch that has begun last.
    epoch: Mutex<u64>,
}

/// The route to one other node. Cheap to clone; a remote reference has one.
///
/// # Examples
/// See [`Multiplexer`].
#[derive(Clone, Debug)]
pub struct Link {
    gate: Arc<Gate>,
    multiplexer: Arc<Multiplexer>,
}

impl Multiplexer {
    /// Creates a multiplexer for node `local` of `nodes`, with a lane for each of `workers`.
    ///
    /// # Panics
    /// If there are more workers than [lanes](frame::MOST_LANES), or if `local` is not one of the
    /// nodes.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32, workers: usize, packing: Packing) -> Arc<Self> {
        assert!(local.number() < nodes, "node {local} is not one of {nodes} nodes");
        assert!(workers < frame::MOST_LANES.into(), "{workers} workers are more than lanes");
        let gates: Box<[_]> = (0..nodes)
            .map(|node| Arc::new(Gate::new(NodeId::new(node), packing.waiting.max(1))))
            .collect();
        let lanes =
            (0..=workers as u16).map(|lane| CachePadded::new(Lane::new(lane, &gates))).collect();
        let departures = Departures::new(packing.frame);
        Arc::new(Self { packing, local, gates, lanes, departures, epoch: Mutex::new(0) })
    }

    /// Returns the number of this node.
    #[must_use]
    pub fn local(&self) -> NodeId {
        self.local
    }

    /// Returns how messages are packed, and how many bytes may wait.
    #[must_use]
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Returns the route to a node; `None` if there is no such node, or if it is this one.
    #[must_use]
    pub fn link(self: &Arc<Self>, to: NodeId) -> Option<Link> {
        let gate = self.gate(to)?;
        Some(Link { gate: Arc::clone(gate), multiplexer: Arc::clone(self) })
    }

    /// Returns the flushers of all lanes, one future for each, to be spawned on the runtime of the
    /// workers. They end once the multiplexer is [closed](Self::close).
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

    /// Sends all messages in all lanes.
    pub fn flush(&self) {
        for lane in &self.lanes {
            lane.flush(&self.departures).wake();
        }
    }

    /// Begins an epoch: when this returns, trails of earlier epochs may be
    /// [forgotten](Trail::remove_before).
    pub fn begin_epoch(&self) -> u64 {
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        *epoch = trail::epoch_after(*epoch);
        for lane in &self.lanes {
            lane.begin_epoch(*epoch, &self.departures).wake();
        }
        self.lanes.iter().for_each(|lane| lane.fence());
        *epoch
    }

    /// Refuses further messages, and sends those in the lanes. The host leaves once the transport
    /// has them.
    pub fn close(&self) {
        for gate in &self.gates {
            gate.shut(Shut::Leaving);
        }
        for lane in &self.lanes {
            lane.close(&self.departures).wake();
        }
        self.departures.close();
    }

    /// Returns the traffic to and from a node; zeros if there is no such node.
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

    /// Returns the lane of this thread's worker, or the common one.
    #[inline]
    fn here(&self) -> u16 {
        let common = self.lanes.len() - 1;
        evenkeel::fork_join::worker_index().unwrap_or(common).min(common) as u16
    }

    fn now(&self) -> u64 {
        evenkeel::internal::now()
    }

    /// Returns the lane into which a thread puts its sender's next message if its worker has the
    /// lane `here`: the lane of the message before, as long as messages wait there. Otherwise the
    /// sender comes to the worker's lane.
    #[inline]
    fn lane(&self, here: u16) -> &Lane {
        // Most senders are `here`, and look at no other lane.
        let waits = |lane| self.lanes.get(usize::from(lane)).is_some_and(|lane| lane.has_any());
        self.go_by(here, waits)
    }

    /// Returns the lane of the sender's next message, which is the lane `here` unless the sender
    /// `stays` with another one. The sender's messages in another lane are flushed first.
    #[inline]
    fn go_by(&self, here: u16, stays: impl FnOnce(u16) -> bool) -> &Lane {
        match trail::step(here, stays) {
            Step::Common => &self.lanes[self.lanes.len() - 1],
            Step::By(lane) => &self.lanes[usize::from(lane)],
            Step::Moves { from } => self.change_lanes(from, here),
        }
    }

    #[cold]
    fn change_lanes(&self, from: u16, to: u16) -> &Lane {
        // The trail of another multiplexer may name a lane that does not exist here: then no lane
        // here has messages of the sender.
        if let Some(from) = self.lanes.get(usize::from(from)) {
            from.flush(&self.departures).wake();
        }
        let lane = &self.lanes[usize::from(to)];
        debug_assert_eq!(lane.number(), to);
        lane.fence();
        lane
    }
}

/// The host's part.
impl Multiplexer {
    /// Moves all frames to the end of `into`. Returns whether they are the last.
    pub(crate) fn take_departures(&self, into: &mut VecDeque<Departure>) -> bool {
        self.departures.take(into)
    }

    /// For a host that is the flusher: moves the messages of all lanes, or of the common one alone,
    /// as far as it sees them without the locks, to the end of `into`. New buffers come from
    /// `spare` as long as it has some.
    #[inline]
    pub(crate) fn take_seen(
        &self,
        all: bool,
        spare: &mut Vec<Vec<u8>>,
        into: &mut VecDeque<Departure>,
    ) {
        let first = if all { 0 } else { self.lanes.len() - 1 };
        for lane in &self.lanes[first..] {
            lane.take(&self.departures, spare, into);
        }
    }

    /// Returns whether a buffer is worth keeping for a frame.
    #[inline]
    pub(crate) fn is_of_use(&self, buffer: &Vec<u8>) -> bool {
        self.departures.is_of_use(buffer)
    }

    /// Sends all messages in all lanes, and leaves the waker of a host that is their flusher.
    pub(crate) fn flush_as(&self, host: &Waker) {
        for lane in &self.lanes {
            let (wakes, _) = lane.flush_as(host, &self.departures);
            wakes.wake();
        }
    }

    /// Ends the host's wait when there is room again for arriving frames.
    pub fn wake_host(&self) {
        self.departures.wake_host();
    }

    /// Leaves the host's waker and returns true, or returns false if there is something for the
    /// host.
    pub(crate) fn park_host(&self, waker: &Waker) -> bool {
        self.departures.park(waker)
    }

    /// Counts a frame that the host has taken from a lane itself and that waits after all.
    pub(crate) fn queues(&self, to: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(to) {
            gate.queues(bytes);
        }
    }

    /// Counts a waiting frame that the transport has accepted.
    pub(crate) fn taken(&self, to: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(to) {
            gate.taken(bytes);
        }
    }

    /// Counts a frame that has come.
    pub(crate) fn arrived(&self, from: NodeId, bytes: usize) {
        if let Some(gate) = self.gate(from) {
            gate.arrived(bytes);
        }
    }

    /// Counts a dropped frame.
    pub(crate) fn dropped(&self, to: NodeId, bytes: usize, messages: u32, was_queued: bool) {
        if let Some(gate) = self.gate(to) {
            gate.lost(messages.into());
            if was_queued {
                gate.taken(bytes);
            }
        }
    }

    /// Refuses all further messages for a node, drops the packed ones, and returns their number.
    pub fn node_is_down(&self, node: NodeId) -> u64 {
        let Some(gate) = self.gate(node) else { return 0 };
        gate.shut(Shut::Down);
        let messages = self.lanes.iter().map(|lane| lane.discard(gate)).sum();
        gate.lost(messages);
        messages
    }

    /// Returns whether the node [is down](Self::node_is_down).
    pub(crate) fn is_down(&self, node: NodeId) -> bool {
        self.gate(node).is_some_and(|gate| gate.is_down())
    }

    /// Sends messages that have waited for the cap in lanes of held-up workers.
    pub(crate) fn flush_old(&self) {
        let now = self.now();
        let cap = u64::try_from(self.packing.cap.as_nanos()).unwrap_or(u64::MAX);
        for lane in &self.lanes {
            lane.flush_old(now, cap, &self.departures).wake();
        }
    }
}

impl Link {
    /// Returns the node to which it leads.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.gate.node()
    }

    /// Puts a message in: the record that `write` appends, as
    /// [`Envelope::write`](super::wire::Envelope::write) does.
    ///
    /// `write` runs under the lock of a lane and must not put in another message. If it panics, its
    /// record is discarded.
    ///
    /// # Errors
    /// [`PutError`]; nothing is put in then. After `Full`, [`room`](Self::room) waits until another
    /// try is worth it.
    #[inline]
    pub fn try_put<E>(
        &self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        self.try_put_at(self.multiplexer.here(), write)
    }

    /// Puts a message in even without room. For messages that cannot wait: answers, requests that
    /// have waited for room, and steps of protocols. No bound is checked. The peer bounds those for
    /// which it has asked. Those that this node sends of its own accord, such as orders to stop,
    /// watches and links, are as many as its actors cause: [`backlog`](Self::backlog) shows how
    /// much waits.
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

    /// Returns whether the node is down, or this one leaves.
    pub fn is_shut(&self) -> bool {
        self.gate.is_shut().is_some()
    }

    /// Does the same as [`put_anyway`](Self::put_anyway), behind all messages that any thread has
    /// put in under `line` before. The caller holds a lock that all users of this line take.
    ///
    /// # Errors
    /// [`PutError`], except `Full`.
    pub fn put_in_line<E>(
        &self,
        line: &Trail,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        let lane = this.lane(this.here());
        // The line acts as a sender that has come to this lane: its next message is read after its
        // earlier ones.
        line.under(|| _ = this.go_by(lane.number(), |_| false));
        self.put_into(lane, write)
    }

    /// Orders messages for the node: it reads those that are put in after this call after all that
    /// were put in before, by any lanes. Messages for other nodes stay packed, and no epoch begins.
    pub fn fence(&self) {
        let this = &*self.multiplexer;
        for lane in &this.lanes {
            lane.flush_to(&self.gate, &this.departures).wake();
        }
        // Only after all lanes are flushed: the next frame of a lane takes its fence along.
        for lane in &this.lanes {
            lane.fence_to(&self.gate);
        }
    }

    /// Returns the number of bytes that wait for the transport.
    pub fn backlog(&self) -> usize {
        self.gate.queued()
    }

    /// Does the same on a thread of the worker with the lane `here`.
    #[inline]
    fn try_put_at<E>(
        &self,
        here: u16,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), PutError<E>> {
        let this = &*self.multiplexer;
        // A caller that gets `Full` waits for room, in vain if the gate is shut: then the lane
        // returns the error.
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
        self.gate.room().await;
    }
}
