//! The frames on their way to one node.

use super::super::{DownReason, Event, NodeId, Refusal, Refused};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// The inbox of a node.
#[derive(Debug)]
pub(super) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// From each node.
    ways: Vec<Way>,
    /// The node that comes first among those with frames due at the same time.
    turn: usize,
    /// Whether the waker has been called since the last wait.
    woken: bool,
    waiting: bool,
    /// The waker of the receiver's task, if it waits.
    task: Option<Waker>,
}

/// The frames on their way from one node.
#[derive(Debug, Default)]
struct Way {
    flights: VecDeque<Flight>,
    /// When the last frame is due; the next is not due before.
    last_due: u64,
    /// Whether sending is refused.
    is_shut: bool,
    /// The event that follows once all flights have been received.
    down: Option<DownReason>,
}

#[derive(Debug)]
struct Flight {
    due: u64,
    frame: Vec<u8>,
}

impl Inbox {
    pub(super) fn new(nodes: usize) -> Self {
        let ways = (0..nodes).map(|_| Way::default()).collect();
        let state = State { ways, turn: 0, woken: false, waiting: false, task: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the receiver, once the lock is released: it may be a task of the caller's worker, or
    /// take the lock at once.
    fn notify(&self, mut state: MutexGuard<'_, State>) {
        let task = state.task.take();
        if state.waiting {
            self.changed.notify_all();
        }
        drop(state);
        task.into_iter().for_each(Waker::wake);
    }

    /// Sends a frame on its way.
    pub(super) fn push(
        &self,
        from: NodeId,
        frame: Vec<u8>,
        most: usize,
        due: impl FnOnce() -> u64,
    ) -> Result<(), Refused> {
        let mut state = self.lock();
        let way = &mut state.ways[from.number() as usize];
        if way.is_shut {
            return Err(Refused { frame, why: Refusal::Down });
        }
        if way.flights.len() >= most {
            return Err(Refused { frame, why: Refusal::Full });
        }
        way.last_due = due().max(way.last_due);
        way.flights.push_back(Flight { due: way.last_due, frame });
        self.notify(state);
        Ok(())
    }

    /// Notes that the sender has left: nothing comes after the frames on their way.
    pub(super) fn push_leave(&self, from: NodeId) {
        let mut state = self.lock();
        let way = &mut state.ways[from.number() as usize];
        if !way.is_shut {
            way.is_shut = true;
            way.down = Some(DownReason::Left);
            self.notify(state);
        }
    }

    /// Loses the frames that are not due yet; nothing more comes.
    pub(super) fn lose(&self, from: NodeId, now: u64, reason: DownReason) {
        let mut state = self.lock();
        let way = &mut state.ways[from.number() as usize];
        let under_way = way.flights.len();
        way.flights.retain(|flight| flight.due <= now);
        // A node that has left and loses no frame is not lost.
        if !way.is_shut || way.flights.len() < under_way {
            way.down = Some(reason);
        }
        way.is_shut = true;
        self.notify(state);
    }

    /// Closes the inbox of a node that is gone: sends to it are refused, and its frames are
    /// dropped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        for way in &mut state.ways {
            way.flights.clear();
            way.is_shut = true;
            way.down = None;
        }
        let task = state.task.take();
        drop(state);
        drop(task);
    }

    /// Takes the next event that is due.
    pub(super) fn pop(&self, now: impl FnOnce() -> u64) -> Option<Event> {
        let mut state = self.lock();
        let turn = state.turn;
        let ways = state.ways.len();
        let order = (turn..ways).chain(0..turn);
        let due = order.filter_map(|from| Some((state.ways[from].next_due()?, from)));
        // The first of the nodes with frames due at the same time.
        let (due, from) = due.min_by_key(|&(due, _)| due)?;
        if due > 0 && due > now() {
            return None;
        }
        state.turn = (from + 1) % ways;
        let node = NodeId::new(from as u32);
        let way = &mut state.ways[from];
        Some(match way.flights.pop_front() {
            Some(flight) => Event::Received { from: node, frame: flight.frame },
            None => Event::Down { node, reason: way.down.take()? },
        })
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.lock().next_due()
    }

    /// Waits until an event is due, or the waker has been called, or `most` has passed.
    pub(super) fn wait(&self, most: Duration, clock_runs: bool, now: impl FnOnce() -> u64) {
        let mut state = self.lock();
        let mut limit = most;
        if let Some(due) = state.next_due() {
            let left = due.saturating_sub(now());
            if left == 0 {
                return;
            }
            if clock_runs {
                limit = limit.min(Duration::from_nanos(left));
            }
        }
        if !state.woken {
            state.waiting = true;
            let waited = self.changed.wait_timeout(state, limit);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting = false;
        }
        state.woken = false;
    }

    /// Leaves the waker of the receiver's task, unless an event is due. Returns the time until the
    /// next event, as far as it is known.
    pub(super) fn wakes(
        &self,
        task: &Waker,
        clock_runs: bool,
        now: impl FnOnce() -> u64,
    ) -> Duration {
        // Wakers are copied and dropped outside the lock: they may run any code.
        let task = task.clone();
        let mut state = self.lock();
        let left = state.next_due().map(|due| due.saturating_sub(now()));
        if left == Some(0) {
            return Duration::ZERO;
        }
        let before = state.task.replace(task);
        drop(state);
        drop(before);
        left.filter(|_| clock_runs).map_or(Duration::MAX, Duration::from_nanos)
    }

    pub(super) fn wake(&self) {
        let mut state = self.lock();
        state.woken = true;
        self.notify(state);
    }
}

impl State {
    fn next_due(&self) -> Option<u64> {
        self.ways.iter().filter_map(Way::next_due).min()
    }
}

impl Way {
    /// Returns when the next event is due; zero if it is about a connection.
    fn next_due(&self) -> Option<u64> {
        match (self.flights.front(), &self.down) {
            (Some(flight), _) => Some(flight.due),
            (None, Some(_)) => Some(0),
            (None, None) => None,
        }
    }
}
