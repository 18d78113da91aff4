//! Several nodes in one process: for tests, and for one machine.
//!
//! Frames are moved, not copied. [`Faults`] adds what real networks do: a frame takes a random
//! time, so frames of different pairs of nodes overtake each other, never those of one pair; and
//! [`Control`] loses nodes and connections. What is random depends on the seed and on what each
//! node sends alone, not on threads; with a [`Clock::Manual`] a run is the same each time.
//!
//! # Protocol
//! Each node has an *inbox*, under a lock: for each other node the frames on their way from there,
//! with the times at which they are due. A sender pushes into the receiver's inbox; a receiver
//! polls its own. Times never fall within a pair, so the first frame of a pair is the first that is
//! due. A connection that is lost stays so: the frames that are due are still received, the others
//! are dropped, and then comes [`Event::Down`], once.
//!
//! # Why no wake-up is lost
//! A receiver looks at its inbox, and falls asleep or leaves the waker of its task, in one hold of
//! the lock; the thread that pushes, loses a connection or calls the waker does so under the lock,
//! and notifies and wakes. What is not due yet wakes no receiver when it is: one sleeps until then
//! at the latest.

mod inbox;
#[cfg(test)]
mod tests;

use super::{DownReason, Event, NodeId, Refusal, Refused, Transport, TransportWaker};
use evenkeel_policy::random::Random;
use inbox::Inbox;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

/// What a network does to frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// What is random depends on this.
    pub seed: u64,
    /// How long a frame takes, evenly distributed; longer, if one before it from the same node to
    /// the same takes longer.
    pub delay: Range<Duration>,
    /// As many frames may be on their way from one node to another; beyond, sending is refused as
    /// [`Refusal::Full`].
    pub under_way: usize,
    /// The longest frame.
    pub longest_frame: usize,
    /// By which clock.
    pub clock: Clock,
}

impl Default for Faults {
    /// None: no delay, 1024 frames under way, frames of up to 1 GiB, the real clock.
    fn default() -> Self {
        Self {
            seed: 0,
            delay: Duration::ZERO..Duration::ZERO,
            under_way: 1_024,
            longest_frame: 1 << 30,
            clock: Clock::Real,
        }
    }
}

/// What time it is in a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time passes.
    #[default]
    Real,
    /// It passes when [`Control::advance`] says so.
    Manual,
}

/// What all nodes share.
#[derive(Debug)]
struct Shared {
    inboxes: Vec<Inbox>,
    faults: Faults,
    start: Instant,
    /// What the manual clock shows, in nanoseconds.
    manual: AtomicU64,
}

/// Does things to a network.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

/// One node's end of a network.
#[derive(Debug)]
pub struct InProcess {
    shared: Arc<Shared>,
    local: NodeId,
    /// For the delays to each node.
    random: Vec<Random>,
    /// That the other nodes are up. A send adds nothing: its buffer goes to the receiver, and what
    /// came back would stand before what has arrived.
    events: VecDeque<Event>,
    has_left: bool,
}

/// A network of this many nodes. All of them are up from the beginning.
///
/// # Examples
/// ```
/// use evenkeel_node::in_process::{Faults, network};
/// use evenkeel_node::{Event, NodeId, Transport};
///
/// let (_control, mut nodes) = network(2, Faults::default());
/// nodes[0].send(NodeId::new(1), b"hello".to_vec()).unwrap();
/// assert_eq!(nodes[1].poll(), Some(Event::Up { node: NodeId::new(0) }));
/// let received = Event::Received { from: NodeId::new(0), frame: b"hello".to_vec() };
/// assert_eq!(nodes[1].poll(), Some(received));
/// ```
#[must_use]
pub fn network(nodes: u32, faults: Faults) -> (Control, Vec<InProcess>) {
    let inboxes = (0..nodes).map(|_| Inbox::new(nodes as usize)).collect();
    let shared =
        Arc::new(Shared { inboxes, faults, start: Instant::now(), manual: AtomicU64::new(0) });
    let ends = (0..nodes).map(|local| InProcess::new(&shared, local)).collect();
    (Control { shared }, ends)
}

impl Shared {
    fn now(&self) -> u64 {
        match self.faults.clock {
            Clock::Real => self.start.elapsed().as_nanos() as u64,
            Clock::Manual => self.manual.load(Ordering::SeqCst),
        }
    }

    fn inbox(&self, node: NodeId) -> Option<&Inbox> {
        self.inboxes.get(node.number() as usize)
    }

    /// Nothing more comes from `from` to `to` than what is due.
    fn lose(&self, from: NodeId, to: NodeId, how: &str) {
        if let Some(inbox) = self.inbox(to) {
            inbox.lose(from, self.now(), DownReason::Lost(how.to_owned()));
        }
    }

    fn lose_node(&self, node: NodeId, how: &str) {
        for other in (0..self.inboxes.len() as u32).map(NodeId::new).filter(|&other| other != node)
        {
            self.lose(node, other, how);
            self.lose(other, node, how);
        }
    }
}

impl Control {
    /// Loses a node, as if its process died: the others receive what is due from it, and then hear
    /// that it is down. It hears that all others are.
    pub fn kill(&self, node: NodeId) {
        self.shared.lose_node(node, "the node was killed");
    }

    /// Loses the connection between two nodes: each hears that the other is down.
    pub fn cut(&self, a: NodeId, b: NodeId) {
        let how = "the connection was cut";
        self.shared.lose(a, b, how);
        self.shared.lose(b, a, how);
    }

    /// Lets time pass.
    ///
    /// # Panics
    /// If the clock is the real one.
    pub fn advance(&self, by: Duration) {
        assert_eq!(self.shared.faults.clock, Clock::Manual, "only a manual clock is advanced");
        self.shared.manual.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
        self.shared.inboxes.iter().for_each(Inbox::wake);
    }

    /// When the next frame is due that has not been received yet, as a duration from now; zero if
    /// one is.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        let due = self.shared.inboxes.iter().filter_map(Inbox::next_due).min()?;
        Some(Duration::from_nanos(due.saturating_sub(self.shared.now())))
    }
}

impl InProcess {
    fn new(shared: &Arc<Shared>, local: u32) -> Self {
        let nodes = shared.inboxes.len() as u32;
        // Each pair has its own numbers, so that what one node sends does not change how long
        // another's frames take.
        let pair = |to: u32| (u64::from(local) << 32 | u64::from(to)).wrapping_mul(0x9E37_79B9);
        let random = (0..nodes).map(|to| Random::new(shared.faults.seed ^ pair(to))).collect();
        let others = (0..nodes).filter(|&node| node != local);
        let events = others.map(|node| Event::Up { node: NodeId::new(node) }).collect();
        let local = NodeId::new(local);
        Self { shared: Arc::clone(shared), local, random, events, has_left: false }
    }

    fn inbox(&self) -> &Inbox {
        &self.shared.inboxes[self.local.number() as usize]
    }
}

impl Transport for InProcess {
    fn local(&self) -> NodeId {
        self.local
    }

    fn nodes(&self) -> u32 {
        self.shared.inboxes.len() as u32
    }

    fn longest_frame(&self) -> usize {
        self.shared.faults.longest_frame
    }

    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        let faults = &self.shared.faults;
        let inbox = match self.shared.inbox(to) {
            Some(inbox) if to != self.local => inbox,
            _ => return Err(Refused { frame, why: Refusal::Unknown }),
        };
        if frame.len() > faults.longest_frame {
            return Err(Refused { frame, why: Refusal::TooLong });
        }
        if self.has_left {
            return Err(Refused { frame, why: Refusal::Down });
        }
        let random = &mut self.random[to.number() as usize];
        let range = (faults.delay.end.saturating_sub(faults.delay.start)).as_nanos() as u64;
        let now = if faults.delay.end.is_zero() { 0 } else { self.shared.now() };
        let mut delay = || faults.delay.start.as_nanos() as u64 + random.below(range);
        inbox.push(self.local, frame, faults.under_way, || now + delay())
    }

    fn poll(&mut self) -> Option<Event> {
        self.events.pop_front().or_else(|| self.inbox().pop(|| self.shared.now()))
    }

    fn wait(&mut self, most: Duration) {
        if self.events.is_empty() {
            let clock = self.shared.faults.clock;
            self.inbox().wait(most, clock == Clock::Real, || self.shared.now());
        }
    }

    fn waker(&self) -> TransportWaker {
        let (shared, local) = (Arc::clone(&self.shared), self.local);
        Arc::new(move || shared.inboxes[local.number() as usize].wake())
    }

    fn wakes(&mut self, waker: &Waker) -> Option<Duration> {
        if !self.events.is_empty() {
            return Some(Duration::ZERO);
        }
        let clock_runs = self.shared.faults.clock == Clock::Real;
        Some(self.inbox().wakes(waker, clock_runs, || self.shared.now()))
    }

    fn is_sending(&self) -> bool {
        false
    }

    fn leave(&mut self) {
        self.has_left = true;
        for (node, inbox) in (0..).map(NodeId::new).zip(&self.shared.inboxes) {
            if node != self.local {
                inbox.push_leave(self.local);
            }
        }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        if !self.has_left {
            self.shared.lose_node(self.local, "the node has ended without leaving");
        }
        self.inbox().close();
    }
}
