//! The clock of a runtime: the machine's, unless a test makes it stand still.
//!
//! # States
//! *Running*: the machine's time, plus an offset that is zero unless the clock has stood.
//! *Standing*: a fixed time, which [control](crate::scheduler::clock) changes. Threads change the
//! clock under `change`; a reader without it meets one state or the other. The store of the state
//! releases, and the look at it acquires: so a reader has the time of that state, or a later one.
//!
//! Times are nanoseconds since the process first looked at its clock.

use crate::primitives::atomic::{AtomicBool, AtomicU64, Edge, Ordering, edge};
use crate::primitives::{Mutex, clock};

/// The clock of a runtime.
#[derive(Debug)]
pub(crate) struct Clock {
    stands: AtomicBool,
    /// The time at which the clock stands.
    stood: AtomicU64,
    /// The distance to the machine's clock while this clock runs; it wraps.
    offset: AtomicU64,
    /// Held by the thread that changes the clock.
    pub(crate) change: Mutex<()>,
    /// The number of threads beside workers that are awake inside the runtime. These are threads in
    /// `block_on`, threads that run blocking closures, and threads that move a standing clock and
    /// wake tasks.
    outside: AtomicU64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            stands: AtomicBool::new(false),
            stood: AtomicU64::new(0),
            offset: AtomicU64::new(0),
            change: Mutex::new(()),
            outside: AtomicU64::new(0),
        }
    }

    /// Returns the time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.stands() {
            self.stood.load(Ordering::Relaxed)
        } else {
            self.of_machine(clock::now())
        }
    }

    /// Returns the time, given a recent time of the machine's clock.
    #[inline]
    pub(crate) fn at(&self, machine: u64) -> u64 {
        if self.stands() { self.stood.load(Ordering::Relaxed) } else { self.of_machine(machine) }
    }

    #[inline(always)]
    fn of_machine(&self, machine: u64) -> u64 {
        machine.wrapping_add(self.offset.load(Ordering::Relaxed))
    }

    /// Converts `time` to the machine's clock: never, while this clock stands.
    #[inline]
    pub(crate) fn to_machine(&self, time: u64) -> u64 {
        if self.stands() {
            return u64::MAX;
        }
        // A time before the beginning of the machine's clock is clamped to it.
        let offset = self.offset.load(Ordering::Relaxed).cast_signed();
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        u64::try_from(time.saturating_sub(offset)).unwrap_or(0)
    }

    /// Returns whether the clock stands.
    #[inline(always)]
    pub(crate) fn stands(&self) -> bool {
        self.stands.load(edge(Edge::ClockSeen, Ordering::Acquire))
    }

    /// Makes the clock stand at the present time. The caller has `change`.
    pub(crate) fn stop(&self) {
        let now = self.now();
        self.stand_at(now);
        self.stands.store(true, edge(Edge::ClockChange, Ordering::Release));
    }

    /// Changes the time at which the clock stands. The caller has `change`.
    pub(crate) fn stand_at(&self, time: u64) {
        // Relaxed: threads read it relaxed too. The wake of a timer's task orders the two.
        self.stood.store(time, Ordering::Relaxed);
    }

    /// Makes the clock run on from the time at which it stands. The caller has `change`.
    pub(crate) fn run(&self) {
        let stood = self.stood.load(Ordering::Relaxed);
        self.offset.store(stood.wrapping_sub(clock::now()), Ordering::Relaxed);
        self.stands.store(false, edge(Edge::ClockChange, Ordering::Release));
    }

    /// Counts in a thread that is awake inside the runtime.
    pub(crate) fn come(&self) {
        self.outside.fetch_add(HERE + COMING, Ordering::AcqRel);
    }

    /// Counts the thread out.
    pub(crate) fn go(&self) {
        self.outside.fetch_sub(HERE, Ordering::AcqRel);
    }

    /// Returns how many such threads are inside, and how many have ever come.
    pub(crate) fn outside(&self) -> Outside {
        Outside(self.outside.load(Ordering::Acquire))
    }
}

/// One thread that is awake inside the runtime.
const HERE: u64 = 1;

/// One thread that has ever come. The count wraps.
const COMING: u64 = 1 << 32;

/// The value that [`Clock::outside`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outside(u64);

impl Outside {
    /// Returns whether no such thread is awake.
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_multiple_of(COMING)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use std::sync::Arc;

    // The reader is the spawned thread: loom remembers one access to an atomic, and misses a look
    // that comes before the other thread's own.

    /// A time that the machine's clock does not reach.
    const FAR: u64 = 1 << 60;

    #[test]
    fn a_reader_that_sees_the_clock_stand_sees_its_time() {
        check(&[Edge::ClockChange, Edge::ClockSeen], || {
            let clock = Arc::new(Clock::new());
            let reader = {
                let clock = clock.clone();
                loom::thread::spawn(move || !clock.stands() || clock.at(0) > 0)
            };
            clock.stop();
            assert!(reader.join().unwrap(), "the clock does not go back");
        });
    }

    #[test]
    fn a_reader_that_sees_the_clock_run_on_sees_from_where() {
        check(&[Edge::ClockChange, Edge::ClockSeen], || {
            let clock = Arc::new(Clock::new());
            clock.stop();
            clock.stand_at(FAR);
            let reader = {
                let clock = clock.clone();
                loom::thread::spawn(move || clock.at(0))
            };
            clock.run();
            assert!(reader.join().unwrap() > FAR / 2, "the clock does not go back");
        });
    }
}
