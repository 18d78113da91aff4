//! Several nodes in one process, for tests and for one machine.
//!
//! Frames are moved, not copied. [`Faults`] adds the delays of real networks: a frame takes a
//! random time, so frames of different pairs of nodes overtake each other, but never those of one
//! pair. [`Control`] loses nodes and connections. Random delays depend on the seed and on what each
//! node sends, not on threads; with a [`Clock::Manual`] a run is the same each time.
//!
//! # Protocol
//! Each node has an *inbox*, under a lock: for each other node the frames on their way from there,
//! with the times at which they are due. A sender pushes into the receiver's inbox; a receiver
//! polls its own. Due times never decrease within a pair, so the first frame of a pair is the first
//! that is due. A lost connection stays lost: the receiver still gets the frames that are due, the
//! others are dropped, and then [`Event::Down`] follows, once.
//!
//! # Why no wake-up is lost
//! A receiver looks at its inbox, and falls asleep or leaves the waker of its task, in one hold of
//! the lock. A thread that pushes, loses a connection or calls the waker changes the inbox under
//! the same lock, and then notifies and wakes. No wake-up marks the time at which a frame becomes
//! due: a receiver sleeps no longer than until then.

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
    /// The seed of the random delays.
    pub seed: u64,
    /// How long a frame takes, evenly distributed; longer if an earlier frame of the same pair
    /// takes longer.
    pub delay: Range<Duration>,
    /// The most frames on their way from one node to another; beyond it, sending is refused as
    /// [`Refusal::Full`].
    pub under_way: usize,
    /// The longest frame.
    pub longest_frame: usize,
    /// The clock of the network.
    pub clock: Clock,
}

impl Default for Faults {
    /// No faults: no delay, 1,024 frames under way, frames of up to 1 GiB, the real clock.
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

/// The clock of a network.
///
/// # Examples
/// See [`Control`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Time passes by itself.
    #[default]
    Real,
    /// Time passes only when [`Control::advance`] is called.
    Manual,
}

/// The state that all nodes share.
#[derive(Debug)]
struct Shared {
    inboxes: Vec<Inbox>,
    faults: Faults,
    start: Instant,
    /// The time of the manual clock, in nanoseconds.
    manual: AtomicU64,
}

/// Controls a network: loses nodes and connections, and advances the clock.
///
/// # Examples
/// ```
/// use evenkeel_node::in_process::{Clock, Faults, network};
/// use evenkeel_node::{DownReason, Event, NodeId, Transport};
/// use std::time::Duration;
///
/// let (a, b, c) = (NodeId::new(0), NodeId::new(1), NodeId::new(2));
/// let delay = Duration::from_millis(5)..Duration::from_millis(6);
/// let faults = Faults { delay, clock: Clock::Manual, ..Faults::default() };
/// let (control, mut nodes) = network(3, faults);
/// for node in &mut nodes {
///     // The other two nodes are up.
///     let up = [node.poll(), node.poll()];
///     assert!(up.iter().all(|event| matches!(event, Some(Event::Up { .. }))));
/// }
///
/// nodes[0].send(b, b"ahoy".to_vec()).unwrap();
/// assert!(control.next_due().unwrap() >= Duration::from_millis(5));
/// assert_eq!(nodes[1].poll(), None);
/// control.advance(Duration::from_millis(6));
/// assert_eq!(nodes[1].poll(), Some(Event::Received { from: a, frame: b"ahoy".to_vec() }));
///
/// // A frame that is not due is lost with its connection.
/// nodes[0].send(b, b"anyone there?".to_vec()).unwrap();
/// control.cut(a, b);
/// let reason = DownReason::Lost("the connection was cut".to_owned());
/// assert_eq!(nodes[1].poll(), Some(Event::Down { node: a, reason }));
///
/// control.kill(c);
/// let reason = DownReason::Lost("the node was killed".to_owned());
/// assert_eq!(nodes[1].poll(), Some(Event::Down { node: c, reason }));
/// ```
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

/// One node's end of a network.
///
/// # Examples
/// See [`network`], and [`Control`].
#[derive(Debug)]
pub struct InProcess {
    shared: Arc<Shared>,
    local: NodeId,
    /// The generator of the delays to each node.
    random: Vec<Random>,
    /// Events for the other nodes that are up. A send adds none: its buffer goes to the receiver,
    /// and a returned buffer would stand before arrived frames.
    events: VecDeque<Event>,
    has_left: bool,
}

/// Creates a network of `nodes` nodes, all of which are up from the beginning.
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

    /// Loses the connection from `from` to `to`: only frames that are due still come.
    fn lose(&self, from: NodeId, to: NodeId, how: &str) {
        if let Some(inbox) = self.inbox(to) {
            inbox.lose(from, self.now(), DownReason::Lost(how.to_owned()));
        }
    }

    fn lose_node(&self, node: NodeId, how: &str) {
        let others = || (0..self.inboxes.len() as u32).map(NodeId::new).filter(|&to| to != node);
        // It falls silent before it learns anything, of which it could tell others.
        others().for_each(|other| self.lose(node, other, how));
        others().for_each(|other| self.lose(other, node, how));
    }
}

impl Control {
    /// Loses a node, as if its process died: the others receive the frames that are due from it,
    /// and then learn that it is down. The lost node learns that all others are down.
    pub fn kill(&self, node: NodeId) {
        self.shared.lose_node(node, "the node was killed");
    }

    /// Loses the connection between two nodes: each learns that the other is down.
    pub fn cut(&self, a: NodeId, b: NodeId) {
        let how = "the connection was cut";
        self.shared.lose(a, b, how);
        self.shared.lose(b, a, how);
    }

    /// Advances the manual clock.
    ///
    /// # Panics
    /// If the clock is the real one.
    pub fn advance(&self, by: Duration) {
        assert_eq!(self.shared.faults.clock, Clock::Manual, "only a manual clock is advanced");
        self.shared.manual.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
        self.shared.inboxes.iter().for_each(Inbox::wake);
    }

    /// Returns the time until the next unreceived frame is due; zero if one is due already.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        let due = self.shared.inboxes.iter().filter_map(Inbox::next_due).min()?;
        Some(Duration::from_nanos(due.saturating_sub(self.shared.now())))
    }
}

impl InProcess {
    fn new(shared: &Arc<Shared>, local: u32) -> Self {
        let nodes = shared.inboxes.len() as u32;
        // Each pair has its own random numbers, so the frames of one node do not change the delays
        // of another.
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
