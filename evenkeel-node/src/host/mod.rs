//! The host: drives a transport, on a thread of its own or as a task.
//!
//! One turn takes the frames that lanes have handed over, gives the transport as many as it takes,
//! and hands on what has come: one frame, or [as many as there are](super::policy::looks_for_more)
//! if the turn before has found one too. The host splits no frame: the implementor of [`Deliver`]
//! gives frames to workers.
//!
//! # When there is nothing to do
//! The host [looks again](super::policy::idle) at once for a short while, then lets others run in
//! between, then waits, for longer each time. One that is a task, and the only one that is ready,
//! looks [several times](super::policy::LOOKS_ALONE) in a turn, so that what comes in the middle of
//! a conversation waits for neither the worker's loop nor a sleep. The host leaves its waker with
//! the [departures](super::multiplexer) before it waits, in the same step in which it sees that
//! there are none; a thread waits inside [`Transport::wait`], and a task sleeps, once it has left
//! its waker with the transport too. So a frame that is handed over ends a wait, always; what
//! arrives ends it where the transport can, and is found at the end of the wait where it cannot.
//!
//! A host without [room](Deliver::has_room) waits for that: not inside of the transport, whose wait
//! ends at once as long as something is there that is not taken. It looks once more whether there
//! is room after it has left its waker. The reader that makes room does that first and then takes
//! the waker, under the same lock, so either the look sees the room or the waker is found.
//!
//! # The end
//! After [`Multiplexer::close`] the host sends what was handed over, drops what it has for nodes
//! that have never come up, and says that this node leaves. Once the transport has sent everything
//! it is not polled any more: it [ends](Transport::ended) by itself, with waits between two looks
//! as at other times, which block a thread of the host's own and no worker. Then the host is
//! finished, and drops it. If a host ends otherwise, by a panic, all nodes are down for those who
//! send here.

mod drive;
#[cfg(test)]
mod tests;

use super::multiplexer::{Departure, Multiplexer, Sealed};
use super::{DownReason, Event, NodeId, Refusal, Refused, Transport, policy};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a host tells. It calls this from its own thread or task, and waits for it.
pub trait Deliver {
    /// A frame has come. It is untrusted bytes. If it has been read, its buffer is given back; if
    /// others read it, it is worth [recycling](Multiplexer::recycle) then.
    fn frame(&mut self, from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>>;

    /// The host is about to hand on what has come.
    fn begin(&mut self) {}

    /// Whether further frames are taken now. If not, the host does not look for any, unless the
    /// transport is still sending and needs to be polled for that; the reader that has made room
    /// wakes it.
    fn has_room(&self) -> bool {
        true
    }

    /// Whether the host hands on no more in this turn.
    fn gives_way(&self) -> bool {
        false
    }

    /// A node can be sent to.
    fn up(&mut self, node: NodeId);

    /// A node is down: nothing more comes from it, and nothing more gets to it. `lost` messages
    /// were on this side of the transport yet.
    fn down(&mut self, node: NodeId, reason: DownReason, lost: u64);

    /// The transport has refused a frame for good, with this many messages.
    fn refused(&mut self, to: NodeId, messages: u32, why: Refusal);
}

/// What a turn has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something.
    Worked,
    /// Nothing.
    Idle,
    /// This node has left; there will be no more turns.
    Finished,
}

/// Events that are handed on in one turn: the next turn sends what they have led to. An estimate;
/// no benchmark sets it.
///
/// Buffers that come back are not counted. A turn sends as many frames as the transport takes,
/// which may be hundreds: if their buffers took the places of what comes, a node that sends would
/// not read, and so not hear that it is to hold.
const EVENTS: usize = 64;

/// Turns between two looks for messages that have waited for the cap. An estimate; no benchmark
/// sets it.
const TURNS: u32 = 64;

/// Buffers that a host keeps for itself; others are the transport's. An estimate: those of the
/// frames of a turn; no benchmark sets it.
const SPARE: usize = 8;

/// Drives a transport; the module says how.
#[derive(Debug)]
pub struct Host<T: Transport, D: Deliver> {
    transport: T,
    deliver: D,
    multiplexer: Arc<Multiplexer>,
    /// Frames that were handed over, not sorted yet.
    taken: VecDeque<Departure>,
    nodes: Vec<Node>,
    /// How many nodes have frames that the transport has not taken yet.
    behind: usize,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    turns: u32,
    /// Whether no more frames will be handed over.
    is_closed: bool,
    has_left: bool,
    /// Whether the transport has sent everything, and only its end is left.
    is_ending: bool,
    /// Whether it is the flusher of all lanes.
    flushes: bool,
    /// Whether it has had something to do a moment ago.
    spins: bool,
    /// Whether a frame has come in the last turn.
    flows: bool,
    /// Whether nothing was looked for any more, as there was no room.
    is_full: bool,
    /// When the host had something to do, last.
    worked: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// Frames that the transport has not taken yet.
    frames: VecDeque<Departure>,
    is_up: bool,
    /// For ever.
    is_down: bool,
}

impl<T: Transport, D: Deliver> Host<T, D> {
    /// Drives this transport for this multiplexer.
    ///
    /// # Panics
    /// If the multiplexer is another node's, or if it makes frames that are longer than the
    /// transport takes.
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
            is_ending: false,
            flushes: false,
            spins: false,
            flows: false,
            is_full: false,
            worked: 0,
        }
    }

    /// Has the host flush all lanes, at each turn; then there are no other
    /// [flushers](Multiplexer::flushers). For a host that is [a task](Self::drive) of the only
    /// worker: its turn comes when what was ready before has run, as a flusher's does, and a frame
    /// does not wait for one turn more.
    #[must_use]
    pub fn flushing(mut self) -> Self {
        self.flushes = true;
        self
    }

    /// What it delivers to.
    pub fn deliver(&mut self) -> &mut D {
        &mut self.deliver
    }

    /// One turn. Does not block.
    pub fn turn(&mut self) -> Progress {
        self.turns = self.turns.wrapping_add(1);
        if self.is_ending {
            return self.end();
        }
        if self.turns.is_multiple_of(TURNS) {
            self.multiplexer.flush_old();
        }
        if self.flushes {
            self.multiplexer.take_seen(&mut self.spare, &mut self.taken);
        }
        let has_sent = self.send();
        let has_received = self.receive();
        if has_sent || has_received {
            return Progress::Worked;
        }
        if self.is_closed && self.behind == 0 {
            if !self.has_left {
                self.has_left = true;
                self.transport.leave();
                return Progress::Worked;
            }
            if !self.transport.is_sending() {
                (self.is_ending, self.is_full) = (true, false);
                return self.end();
            }
        }
        Progress::Idle
    }

    /// Moves the transport's end on.
    fn end(&mut self) -> Progress {
        if self.transport.ended() { Progress::Finished } else { Progress::Idle }
    }

    /// Gives the transport what it takes.
    fn send(&mut self) -> bool {
        self.is_closed = self.multiplexer.take_departures(&mut self.taken);
        let mut has_sent = !self.taken.is_empty();
        // What has waited goes first.
        if self.behind > 0 {
            for number in 0..self.nodes.len() {
                has_sent |= self.send_to(number);
            }
        }
        while let Some(departure) = self.taken.pop_front() {
            let number = departure.to.number() as usize;
            // The multiplexer has links to nodes that there are.
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

    /// Sends what has waited for a node, as far as the transport takes it.
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

    /// Gives the transport a frame, or drops it, if its node is down or it is refused for good. It
    /// comes back if it is to be tried again.
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
                // A node that is unknown will be up, unless this node leaves before.
                Err(Refused { frame, why })
                    if why == Refusal::Full
                        || why == Refusal::Unknown && !node.is_up && !self.is_closed =>
                {
                    return Err(Departure { to, sealed: Sealed { frame, messages }, is_queued });
                }
                // If the node is down, the transport is about to say so; what has come from it
                // before comes before that.
                Err(Refused { why, .. }) => why,
            }
        };
        self.multiplexer.dropped(to, bytes, messages, is_queued);
        self.deliver.refused(to, messages, why);
        Ok(())
    }

    /// Keeps a frame behind those that wait.
    fn keep(&mut self, number: usize, mut departure: Departure) {
        if !departure.is_queued {
            departure.is_queued = true;
            self.multiplexer.queues(departure.to, departure.sealed.frame.len());
        }
        self.nodes[number].frames.push_back(departure);
    }

    /// Hands on what has come.
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
        // One that was down stays so, as its gate does.
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
        // First nothing more gets in, then what has got in is dropped: what is in departures yet is
        // so at the next turn.
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
        // Nobody sends any more: whoever waits for room, or puts a message in, hears of it.
        self.multiplexer.close();
        for node in 0..self.nodes.len() as u32 {
            self.multiplexer.node_is_down(NodeId::new(node));
        }
    }
}
