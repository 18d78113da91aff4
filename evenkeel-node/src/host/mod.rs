//! The host drives a transport, on a thread of its own or as a task.
//!
//! One turn takes the frames that lanes have handed over, and gives the transport as many as it
//! accepts. Then it hands on the events that have come: up to one frame, or [all
//! frames](super::policy::looks_for_more) if the turn before had one too. The host splits no frame:
//! the implementor of [`Deliver`] gives frames to workers.
//!
//! A host that is a task and flushes the lanes [keeps the messages](super::policy::keeps) that its
//! worker has packed, while tasks of the worker are ready, and other processes have taken its core
//! where it was offered; up to the cap, and then until the ready tasks have run once more. Messages
//! in the common lane go at each turn: those of other threads, and steps of protocols. It keeps
//! none when it waits: then it flushes the lanes as it leaves its waker.
//!
//! # When there is nothing to do
//! The host [looks again](super::policy::idle) at once for a short while, then yields between
//! looks, then waits, for longer each time. A host that is a task, and the only ready one, looks
//! [several times](super::policy::LOOKS_ALONE) in a turn, with [offers](super::policy::Offers) of
//! its core in between: a frame in the middle of a conversation waits for neither the worker's loop
//! nor a sleep. Before it waits, the host leaves its waker with
//! the [departures](super::multiplexer), in the same step in which it sees that there are none. A
//! thread waits inside [`Transport::wait`]; a task sleeps, once it has left its waker with the
//! transport too. So a handed-over frame always ends a wait. An arriving frame ends it if the
//! transport can; otherwise the host finds it when the wait ends.
//!
//! A host without [room](Deliver::has_room) waits for room, but not inside of the transport: that
//! wait ends at once as long as the transport has untaken events. After it has left its waker the
//! host looks once more for room. The reader first makes room and then takes the waker, under the
//! same lock. So either the host sees the room or the reader finds the waker.
//!
//! # The end
//! After [`Multiplexer::close`] the host sends the handed-over frames, drops those for nodes that
//! have never come up, and tells the transport that this node leaves. If a node takes no frames for
//! a while, the host waits for it, however long: a node in a long poll takes none either, and what
//! was sent before the end is to get there. Only what waits for a node that was [shut
//! out](Multiplexer::node_is_down) is dropped. The host hands on what has come by then, but does
//! not wait until nothing more comes: other nodes may never stop sending. Once the transport has
//! sent everything, the host does not poll it again, but waits until it has
//! [ended](Transport::ended), with the usual waits between two looks. These block the host's own
//! thread, but no worker. Then the host is finished, and drops the transport. If a host ends
//! otherwise, by a panic, this node has left for its own senders, and so has it for all other
//! nodes. The frames that the transport has not accepted are dropped, and their messages are lost.

mod drive;
#[cfg(test)]
mod tests;

use super::multiplexer::{Departure, Multiplexer, Sealed};
use super::{DownReason, Event, NodeId, Refusal, Refused, Transport, policy};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Receives the events of a host. The host calls it from its own thread or task, and waits for it.
///
/// # Examples
/// See [`Host`].
pub trait Deliver {
    /// Takes a frame that has come: untrusted bytes. Returns the buffer if it has read the frame.
    /// If other threads read it, they may [recycle](Multiplexer::recycle) the buffer later.
    fn frame(&mut self, from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>>;

    /// Called before the host hands on events.
    fn begin(&mut self) {}

    /// Returns whether there is room for further frames. If not, the host does not look for any,
    /// unless the transport is still sending and needs polls for that. The reader that makes room
    /// wakes the host.
    fn has_room(&self) -> bool {
        true
    }

    /// Returns whether the host hands on no more events in this turn.
    fn gives_way(&self) -> bool {
        false
    }

    /// Called when a node can be sent to.
    fn up(&mut self, node: NodeId);

    /// Called when a node is down: nothing more comes from it or gets to it. `lost` messages to it
    /// had not reached the transport.
    fn down(&mut self, node: NodeId, reason: DownReason, lost: u64);

    /// Called when the transport has refused a frame with this many `messages` for good.
    fn refused(&mut self, to: NodeId, messages: u32, why: Refusal);
}

/// The result of a turn.
///
/// # Examples
/// See [`Host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The turn has sent or received.
    Worked,
    /// There was nothing to do.
    Idle,
    /// This node has left; there will be no more turns.
    Finished,
}

/// The most events that one turn hands on: the next turn sends the frames to which they have led.
/// An estimate; no benchmark sets it.
///
/// Returned buffers do not count. A turn may send hundreds of frames: if their buffers took the
/// places of arriving frames, a sending node would not read, and so would not learn that it is to
/// hold.
const EVENTS: usize = 64;

/// Turns between two looks for messages that have waited longer than the cap. An estimate; no
/// benchmark sets it.
const TURNS: u32 = 64;

/// The most turns in which a host that has nothing more to send hands on what still comes, before
/// it leaves and again before it ends. What other nodes have sent before they left is handed on,
/// and a node that goes on sending does not keep the host. What has come to a node that itself
/// leaves is handed on too, and finds no actor. An estimate; no benchmark sets it.
const LAST_TURNS: u32 = 32;

/// The most buffers that a host keeps for itself; it gives others to the transport. An estimate:
/// the frames of a turn; no benchmark sets it.
const SPARE: usize = 8;

/// Drives a transport, as described in the module.
///
/// # Examples
/// Two hosts, turn by turn on one thread:
/// ```
/// use evenkeel_node::frame::Frame;
/// use evenkeel_node::host::{Deliver, Host, Progress};
/// use evenkeel_node::in_process::{Faults, network};
/// use evenkeel_node::multiplexer::Multiplexer;
/// use evenkeel_node::policy::Packing;
/// use evenkeel_node::wire::{Message, write_tell};
/// use evenkeel_node::{DownReason, NodeId, Refusal, Slot, Transport};
/// use std::convert::Infallible;
/// use std::sync::Arc;
///
/// /// Notes what comes.
/// #[derive(Default)]
/// struct Notes(Vec<String>);
///
/// impl Deliver for Notes {
///     fn frame(&mut self, _from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> {
///         // The bytes are a peer's: a node shuts a peer out that sends anything else.
///         for envelope in Frame::read(&frame, 1 << 24).expect("a frame").messages() {
///             if let Message::Tell { payload, .. } = envelope.expect("a message").message {
///                 self.0.push(String::from_utf8_lossy(payload).into_owned());
///             }
///         }
///         Some(frame)
///     }
///
///     fn up(&mut self, node: NodeId) {
///         self.0.push(format!("node {node} is up"));
///     }
///
///     fn down(&mut self, _node: NodeId, reason: DownReason, _lost: u64) {
///         self.0.push(reason.to_string());
///     }
///
///     fn refused(&mut self, to: NodeId, messages: u32, why: Refusal) {
///         self.0.push(format!("{messages} messages to node {to}: {why}"));
///     }
/// }
///
/// let (_control, ends) = network(2, Faults::default());
/// let mut nodes = Vec::new();
/// for end in ends {
///     let multiplexer = Multiplexer::new(end.local(), end.nodes(), 1, Packing::default());
///     nodes.push((Host::new(end, Arc::clone(&multiplexer), Notes::default()), multiplexer));
/// }
///
/// let multiplexer = &nodes[0].1;
/// let link = multiplexer.link(NodeId::new(1)).unwrap();
/// for text in ["fair", "winds"] {
///     let write = |out: &mut Vec<u8>| {
///         write_tell(Slot::default(), None, out);
///         out.extend(text.bytes());
///         Ok::<_, Infallible>(())
///     };
///     link.try_put(write).unwrap();
/// }
/// // Sends what is packed, and leaves.
/// multiplexer.close();
/// let traffic = multiplexer.traffic(link.node());
/// assert_eq!((traffic.messages_out, traffic.frames_out), (2, 1));
///
/// for (host, _) in &mut nodes {
///     while host.turn() == Progress::Worked {}
/// }
/// assert_eq!(nodes[0].0.turn(), Progress::Finished);
/// let notes = &nodes[1].0.deliver().0;
/// assert_eq!(*notes, ["node 0 is up", "fair", "winds", "the node has left"]);
/// ```
#[derive(Debug)]
pub struct Host<T: Transport, D: Deliver> {
    transport: T,
    deliver: D,
    multiplexer: Arc<Multiplexer>,
    /// Handed-over frames that are not sorted yet.
    taken: VecDeque<Departure>,
    nodes: Vec<Node>,
    /// How many nodes have frames that the transport has not accepted yet.
    behind: usize,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
    turns: u32,
    /// Whether the lanes hand over no more frames.
    is_closed: bool,
    has_left: bool,
    /// The turns in which something has come since there was nothing more to send.
    last_turns: u32,
    /// Whether the transport has sent everything and only has to end.
    is_ending: bool,
    /// Whether the host is the flusher of all lanes.
    flushes: bool,
    /// Whether the host has worked a moment ago.
    spins: bool,
    /// Whether other processes take the core when this host offers it.
    offers: policy::Offers,
    /// While the host keeps packed messages: all of them have come since then.
    kept_since: Option<u64>,
    /// Whether a frame has come in the last turn.
    flows: bool,
    /// Whether the last turn stopped looking for events because there was no room.
    is_full: bool,
    /// When the host last had something to do.
    worked: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// Frames that the transport has not accepted yet.
    frames: VecDeque<Departure>,
    is_up: bool,
    /// A node that is down stays so.
    is_down: bool,
}

impl<T: Transport, D: Deliver> Host<T, D> {
    /// Creates a host that drives this transport for this multiplexer.
    ///
    /// # Panics
    /// If the multiplexer is another node's, or if its frames may be longer than the transport
    /// accepts.
    #[must_use]
    pub fn new(transport: T, multiplexer: Arc<Multiplexer>, deliver: D) -> Self {
        assert_eq!(transport.local(), multiplexer.local(), "one node has one number");
        let (takes, makes) = (transport.longest_frame(), multiplexer.packing().longest_frame());
        assert!(makes <= takes, "frames of {makes} bytes by a transport that takes {takes}");
        let nodes = (0..transport.nodes()).map(|_| Node::default()).collect();
        Self {
            transport,
            deliver,
            multiplexer,
            taken: VecDeque::new(),
            nodes,
            behind: 0,
            spare: Vec::new(),
            turns: 0,
            is_closed: false,
            has_left: false,
            last_turns: 0,
            is_ending: false,
            flushes: false,
            spins: false,
            offers: policy::Offers::default(),
            kept_since: None,
            flows: false,
            is_full: false,
            worked: 0,
        }
    }

    /// Makes the host flush all lanes at each turn, unless it [keeps](policy::keeps) the messages
    /// of the worker; then there are no other [flushers](Multiplexer::flushers). For a host that is
    /// [a task](Self::drive) of the only worker: like a flusher's, its turn comes when the tasks
    /// that were ready before have run, and a frame does not wait for one turn more.
    #[must_use]
    pub fn flushing(mut self) -> Self {
        self.flushes = true;
        self
    }

    /// Returns the receiver of the host's events.
    pub fn deliver(&mut self) -> &mut D {
        &mut self.deliver
    }

    /// Makes one turn. Does not block.
    pub fn turn(&mut self) -> Progress {
        self.turns = self.turns.wrapping_add(1);
        if self.is_ending {
            return self.end();
        }
        if self.turns.is_multiple_of(TURNS) {
            self.multiplexer.flush_old();
        }
        if self.flushes {
            let keeps = self.keeps();
            self.multiplexer.take_seen(!keeps, &mut self.spare, &mut self.taken);
        }
        let has_sent = self.send();
        let has_received = self.receive();
        if self.is_closed && self.behind == 0 && !has_sent && !self.may_hand_on(has_received) {
            if !self.has_left {
                (self.has_left, self.last_turns) = (true, 0);
                self.transport.leave();
                return Progress::Worked;
            }
            if !self.transport.is_sending() {
                (self.is_ending, self.is_full) = (true, false);
                return self.end();
            }
        }
        if has_sent || has_received { Progress::Worked } else { Progress::Idle }
    }

    /// Returns whether the worker's [packed messages stay](policy::keeps) for another turn.
    fn keeps(&mut self) -> bool {
        if !self.offers.are_due() || evenkeel::internal::is_alone() {
            self.kept_since = None;
            return false;
        }
        let now = evenkeel::internal::now();
        let kept = now.saturating_sub(*self.kept_since.get_or_insert(now));
        let keeps = policy::keeps(kept, self.multiplexer.packing());
        if !keeps {
            self.kept_since = Some(now);
            // In all this time no process could take the core.
            self.offers.note(Duration::ZERO);
        }
        keeps
    }

    /// Returns whether a host that has nothing more to send makes another turn first, because it
    /// has just received something. Other nodes may go on sending, so there are not many of them.
    fn may_hand_on(&mut self, has_received: bool) -> bool {
        self.last_turns += u32::from(has_received);
        has_received && self.last_turns < LAST_TURNS
    }

    /// Advances the end of the transport.
    fn end(&mut self) -> Progress {
        if self.transport.ended() { Progress::Finished } else { Progress::Idle }
    }

    /// Gives the transport as many frames as it accepts.
    fn send(&mut self) -> bool {
        self.is_closed = self.multiplexer.take_departures(&mut self.taken);
        let mut has_sent = !self.taken.is_empty();
        // Waiting frames go first.
        if self.behind > 0 {
            for number in 0..self.nodes.len() {
                has_sent |= self.send_to(number);
            }
        }
        while let Some(departure) = self.taken.pop_front() {
            let number = departure.to.number() as usize;
            // The multiplexer has links to existing nodes only.
            if self.nodes.get(number).is_some_and(|node| node.frames.is_empty()) {
                if let Err(departure) = self.give(departure) {
                    self.keep(number, departure);
                    self.behind += 1;
                }
            } else if number < self.nodes.len() {
                self.keep(number, departure);
            }
        }
        has_sent
    }

    /// Sends the waiting frames of a node, as far as the transport accepts them.
    fn send_to(&mut self, number: usize) -> bool {
        let mut has_sent = false;
        while let Some(departure) = self.nodes[number].frames.pop_front() {
            if let Err(departure) = self.give(departure) {
                self.nodes[number].frames.push_front(departure);
                return has_sent;
            }
            self.behind -= usize::from(self.nodes[number].frames.is_empty());
            has_sent = true;
        }
        has_sent
    }

    /// Gives the transport a frame, or drops the frame if its node is down or the transport refuses
    /// it for good. Returns a frame that is to be tried again.
    fn give(&mut self, departure: Departure) -> Result<(), Departure> {
        let Departure { to, sealed: Sealed { frame, messages }, is_queued } = departure;
        let node = &self.nodes[to.number() as usize];
        let bytes = frame.len();
        let why = if node.is_down {
            Refusal::Down
        } else {
            match self.transport.send(to, frame) {
                Ok(()) => {
                    if is_queued {
                        self.multiplexer.taken(to, bytes);
                    }
                    return Ok(());
                }
                // A node that was shut out may still take what it is told last, but a node that
                // leaves does not wait for it.
                Err(Refused { why: Refusal::Full, .. })
                    if self.is_closed && self.multiplexer.is_down(to) =>
                {
                    Refusal::Down
                }
                // An unknown node comes up later, unless this node leaves before.
                Err(Refused { frame, why })
                    if why == Refusal::Full
                        || why == Refusal::Unknown && !node.is_up && !self.is_closed =>
                {
                    return Err(Departure { to, sealed: Sealed { frame, messages }, is_queued });
                }
                // If the node is down, the transport is about to say so, after it has given out all
                // frames that came from the node before.
                Err(Refused { why, .. }) => why,
            }
        };
        self.multiplexer.dropped(to, bytes, messages, is_queued);
        self.deliver.refused(to, messages, why);
        Ok(())
    }

    /// Keeps a frame behind the waiting ones.
    fn keep(&mut self, number: usize, mut departure: Departure) {
        if !departure.is_queued {
            departure.is_queued = true;
            self.multiplexer.queues(departure.to, departure.sealed.frame.len());
        }
        self.nodes[number].frames.push_back(departure);
    }

    /// Hands on the events that have come.
    fn receive(&mut self) -> bool {
        self.deliver.begin();
        let (flows, mut frames) = (self.flows, 0);
        self.flows = false;
        let (mut events, mut any) = (0, false);
        while events < EVENTS {
            self.is_full = !self.deliver.has_room() && !self.transport.is_sending();
            if self.is_full || self.deliver.gives_way() {
                return any;
            }
            let Some(event) = self.transport.poll() else { return any };
            any = true;
            events += usize::from(!matches!(event, Event::Sent { .. }));
            match event {
                Event::Received { from, frame } => {
                    self.multiplexer.arrived(from, frame.len());
                    if let Some(buffer) = self.deliver.frame(from, frame) {
                        self.recycle(buffer);
                    }
                    frames += 1;
                    self.flows = true;
                    if !policy::looks_for_more(flows, frames) {
                        return true;
                    }
                }
                Event::Sent { buffer } => self.recycle(buffer),
                Event::Up { node } => self.is_up(node),
                Event::Down { node, reason } => self.is_down(node, reason),
            }
        }
        true
    }

    /// Keeps a buffer for the lanes, or gives it to the transport.
    fn recycle(&mut self, buffer: Vec<u8>) {
        if !self.flushes {
            self.multiplexer.recycle(buffer);
        } else if self.spare.len() < SPARE && self.multiplexer.is_of_use(&buffer) {
            self.spare.push(buffer);
        } else {
            self.transport.recycle(buffer);
        }
    }

    fn is_up(&mut self, node: NodeId) {
        // A node that was down stays so, as its gate does.
        if let Some(state) = self.nodes.get_mut(node.number() as usize).filter(|node| !node.is_down)
        {
            state.is_up = true;
            self.deliver.up(node);
        }
    }

    fn is_down(&mut self, node: NodeId, reason: DownReason) {
        let Some(state) = self.nodes.get_mut(node.number() as usize).filter(|node| !node.is_down)
        else {
            return;
        };
        state.is_up = false;
        state.is_down = true;
        // First the gate admits nothing more, then the admitted frames are dropped; those still
        // among the departures are dropped at the next turn.
        let mut lost = self.multiplexer.node_is_down(node);
        self.behind -= usize::from(!state.frames.is_empty());
        for Departure { to, sealed, is_queued } in state.frames.drain(..) {
            lost += u64::from(sealed.messages);
            self.multiplexer.dropped(to, sealed.frame.len(), sealed.messages, is_queued);
        }
        self.deliver.down(node, reason, lost);
    }
}

impl<T: Transport, D: Deliver> Drop for Host<T, D> {
    fn drop(&mut self) {
        // The host sends nothing more: a sender that waits for room, or puts a message in, gets an
        // error.
        self.multiplexer.close();
        for node in 0..self.nodes.len() as u32 {
            self.multiplexer.node_is_down(NodeId::new(node));
        }
        // The lanes are closed, so nothing follows. The multiplexer may outlive the host for long,
        // and would keep the frames.
        self.multiplexer.take_departures(&mut self.taken);
        let waiting = self.nodes.iter_mut().flat_map(|node| node.frames.drain(..));
        for Departure { to, sealed, is_queued } in waiting.chain(self.taken.drain(..)) {
            self.multiplexer.dropped(to, sealed.frame.len(), sealed.messages, is_queued);
        }
    }
}
