//! The spares of a runtime: their places, and how many are called and waited for.
//!
//! `scheduler/spare.rs` has the protocol.

use super::Processor;
use crate::primitives::atomic::{AtomicU8, AtomicU64, AtomicUsize, Edge, Ordering};
use crate::primitives::thread::Thread;
use crate::primitives::{Mutex, fence, lock};
use crate::timers::Rules;
use std::fmt;
use std::sync::OnceLock;

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
    /// The number of the first: as many processors have lower ones.
    pub(crate) first: usize,
    pub(crate) places: Box<[Place]>,
    pub(crate) rules: Rules,
    pub(crate) waiting: AtomicUsize,
    pub(crate) called: AtomicUsize,
    pub(crate) served: AtomicU64,
}

/// Where a spare is.
pub(crate) struct Place {
    pub(crate) state: AtomicU8,
    pub(crate) processor: OnceLock<Box<Processor>>,
    pub(crate) thread: Mutex<Option<Thread>>,
    /// How many scopes have begun here: their numbers go on from thread to thread.
    pub(crate) scopes: AtomicU64,
}

impl Place {
    fn new() -> Self {
        Self {
            state: AtomicU8::new(FREE),
            processor: OnceLock::new(),
            thread: Mutex::new(None),
            scopes: AtomicU64::new(0),
        }
    }

    pub(crate) fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
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
            served: AtomicU64::new(0),
        }
    }

    /// The processor of the spare with this number, which has been there.
    pub(crate) fn processor(&self, number: usize) -> &Processor {
        self.places[number - self.first].processor.get().expect("only a spare has its number")
    }

    /// The numbers of the spares whose deques may have jobs. Most of the time there is none.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        let places = if self.called.load(Ordering::Relaxed) == 0 { &[] } else { &*self.places };
        let is_called = |place: &Place| {
            place.state.load(Ordering::Acquire) == CALLED && place.processor.get().is_some()
        };
        let places = places.iter().enumerate();
        places.filter(move |(_, place)| is_called(place)).map(|(index, _)| self.first + index)
    }

    /// More than any number of a spare.
    pub(crate) fn end(&self) -> usize {
        self.first + self.places.len()
    }

    /// Unparks the thread of the spare with this number, whatever it is parked for.
    pub(crate) fn unpark(&self, number: usize) {
        self.places[number - self.first].unpark();
    }

    /// Has all spares look whether the runtime is over.
    pub(crate) fn unpark_all(&self) {
        self.places.iter().for_each(Place::unpark);
    }

    /// Errands that spares have run.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
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

/// A waiter, for as long as this lives.
pub(crate) struct Waiting<'a>(&'a Spares);

impl<'a> Waiting<'a> {
    /// Counts a waiter in, up to and with the fence. It has to look at the errands before it parks.
    pub(crate) fn begin(spares: &'a Spares) -> Self {
        spares.waiting.fetch_add(1, Ordering::AcqRel);
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

    /// Whether a spare stays: its waiter has not come back.
    pub(crate) fn stays(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.called.load(Ordering::Relaxed)
    }

    /// Counts a call, if there is a waiter without a spare.
    fn begin_call(&self) -> bool {
        let mut called = self.called.load(Ordering::Relaxed);
        loop {
            if called >= self.waiting.load(Ordering::Relaxed) {
                return false;
            }
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.called.compare_exchange_weak(called, called + 1, success, failure) {
                Ok(_) => return true,
                Err(actual) => called = actual,
            }
        }
    }

    /// Calls a spare, if there is a waiter without one. `start` starts the thread of the spare with
    /// this number; false if the system refuses it.
    pub(crate) fn call(&self, start: impl FnOnce(usize) -> bool) {
        if !self.begin_call() {
            return;
        }
        if let Some(place) = self.places.iter().find(|place| place.change(PARKED, CALLED)) {
            return place.unpark();
        }
        if let Some(index) = self.places.iter().position(|place| place.change(FREE, CALLED)) {
            if start(self.first + index) {
                return;
            }
            self.places[index].state.store(FREE, Ordering::Release);
        }
        self.called.fetch_sub(1, Ordering::AcqRel);
    }
}
