//! The spares of a runtime: their places, and the numbers of waiters and of called spares.
//!
//! `scheduler/spare.rs` has the protocol.

use super::Processor;
use crate::primitives::atomic::{AtomicU8, AtomicU64, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::once::OnceLock;
use crate::primitives::probe::Probe;
use crate::primitives::thread::Thread;
use crate::primitives::{Mutex, fence, lock};
use crate::timers::Rules;
use std::fmt;

/// The fewest places: errands may wait for each other where there are few workers. An estimate; no
/// benchmark sets it.
#[cfg(not(any(loom, shuttle)))]
const FEWEST: usize = 64;
#[cfg(any(loom, shuttle))]
const FEWEST: usize = 2;

/// States of a place.
pub(crate) const FREE: u8 = 0;
pub(crate) const CALLED: u8 = 1;
pub(crate) const PARKED: u8 = 2;

/// The spares of one runtime.
pub(crate) struct Spares {
    /// The number of the first spare: the processors have the lower numbers.
    pub(crate) first: usize,
    pub(crate) places: Box<[Place]>,
    pub(crate) rules: Rules,
    pub(crate) waiting: AtomicUsize,
    pub(crate) called: AtomicUsize,
    /// The errands that spares have taken.
    pub(crate) taken: AtomicU64,
}

/// The place of a spare.
pub(crate) struct Place {
    pub(crate) state: AtomicU8,
    pub(crate) processor: OnceLock<Box<Processor>>,
    pub(crate) thread: Mutex<Option<Thread>>,
    pub(crate) probe: Probe,
}

impl Place {
    fn new() -> Self {
        Self {
            state: AtomicU8::new(FREE),
            processor: OnceLock::new(),
            thread: Mutex::new(None),
            probe: Probe::default(),
        }
    }

    /// Changes the state from `from` to `to`. Returns false if it was not `from`.
    ///
    /// A spare that finds itself called, by a failure too, sees what its caller has seen: the
    /// errand. The next thread of a free place comes after the former one by the lock of `thread`.
    pub(crate) fn change(&self, from: u8, to: u8) -> bool {
        let success = edge(Edge::SpareCall, Ordering::Release);
        let failure = edge(Edge::SpareCalled, Ordering::Acquire);
        self.state.compare_exchange(from, to, success, failure).is_ok()
    }

    pub(crate) fn unpark(&self) {
        if let Some(thread) = &*lock(&self.thread) {
            thread.unpark();
        }
    }
}

impl Spares {
    pub(crate) fn new(processors: usize, workers: usize, rules: Rules) -> Self {
        Self {
            first: processors,
            places: (0..workers.max(FEWEST)).map(|_| Place::new()).collect(),
            rules,
            waiting: AtomicUsize::new(0),
            called: AtomicUsize::new(0),
            taken: AtomicU64::new(0),
        }
    }

    /// Returns the processor of the spare with this number, which exists or has existed.
    pub(crate) fn processor(&self, number: usize) -> &Processor {
        self.places[number - self.first].processor.get().expect("only a spare has its number")
    }

    /// Returns the numbers of the spares that may have jobs in their deques. Most of the time there
    /// is none.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        let places = if self.called.load(Ordering::Relaxed) == 0 { &[] } else { &*self.places };
        let is_called = |place: &Place| {
            place.state.load(Ordering::Relaxed) == CALLED && place.processor.get().is_some()
        };
        let places = places.iter().enumerate();
        places.filter(move |(_, place)| is_called(place)).map(|(index, _)| self.first + index)
    }

    /// Returns a number above those of all spares.
    pub(crate) fn end(&self) -> usize {
        self.first + self.places.len()
    }

    /// Unparks the thread of the spare with this number, for whatever reason it is parked.
    pub(crate) fn unpark(&self, number: usize) {
        self.places[number - self.first].unpark();
    }

    /// Unparks all spares, which then look whether the runtime is over.
    pub(crate) fn unpark_all(&self) {
        self.places.iter().for_each(Place::unpark);
    }

    /// Returns the number of errands that spares have taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the probes of the threads of called spares.
    pub(crate) fn probes(&self) -> impl Iterator<Item = &Probe> {
        self.numbers().map(|number| &self.places[number - self.first].probe)
    }
}

impl fmt::Debug for Spares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spares")
            .field("waiting", &self.waiting)
            .field("called", &self.called)
            .finish_non_exhaustive()
    }
}

/// Counts a waiter for as long as it lives.
pub(crate) struct Waiting<'a>(&'a Spares);

impl<'a> Waiting<'a> {
    /// Counts a waiter in, up to and including the fence. The waiter has to look at the errands
    /// before it parks.
    pub(crate) fn begin(spares: &'a Spares) -> Self {
        spares.waiting.fetch_add(1, Ordering::Relaxed);
        fence::after_read_modify_write(Edge::IdleSleep);
        Self(spares)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Spares {
    pub(crate) fn has_waiter(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > self.called.load(Ordering::Relaxed)
    }

    /// Returns whether a spare stays: there are at least as many waiters as called spares, or as
    /// many workers that are `away`.
    pub(crate) fn stays(&self, away: usize) -> bool {
        self.waiting.load(Ordering::Relaxed).max(away) >= self.called.load(Ordering::Relaxed)
    }

    /// Counts a call, if there is a waiter, or one of the `stuck` threads, without a spare.
    ///
    /// A spare, or a call that has failed, gives its place back and then counts itself out, by a
    /// release. So a caller that is counted by this acquire finds that place. No model shows their
    /// loss: loom makes the changes of an atomic in the order in which it runs them. It would cost
    /// a call now and then, which the waiter repeats.
    fn begin_call(&self, stuck: usize) -> bool {
        let mut called = self.called.load(Ordering::Relaxed);
        loop {
            if called >= self.waiting.load(Ordering::Relaxed) + stuck {
                return false;
            }
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            match self.called.compare_exchange_weak(called, called + 1, success, failure) {
                Ok(_) => return true,
                Err(actual) => called = actual,
            }
        }
    }

    /// Calls a spare, if there is a waiter, or one of the `stuck` threads, without one. `start`
    /// starts the thread of the spare with this number; it returns false if the system refuses the
    /// thread.
    pub(crate) fn call(&self, stuck: usize, start: impl FnOnce(usize) -> bool) {
        if !self.begin_call(stuck) {
            return;
        }
        if let Some(place) = self.places.iter().find(|place| place.change(PARKED, CALLED)) {
            return place.unpark();
        }
        if let Some(index) = self.places.iter().position(|place| place.change(FREE, CALLED)) {
            if start(self.first + index) {
                return;
            }
            self.places[index].state.store(FREE, Ordering::Relaxed);
        }
        self.count_out();
    }

    /// Counts out a spare that has given its place back.
    pub(crate) fn count_out(&self) {
        self.called.fetch_sub(1, Ordering::Release);
    }
}
