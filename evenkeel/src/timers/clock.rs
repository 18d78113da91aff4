//! The clock of a runtime: the machine's, unless a test makes it stand still.
//!
//! # States
//! *Running*: the machine's time, plus an offset that is zero unless the clock has stood.
//! *Standing*: a fixed time, which [control](crate::scheduler::clock) changes. Changes
//! are made under `change`; whoever reads without it meets one state or the other.
//!
//! Times are nanoseconds since the process first looked at its clock.

use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::{Mutex, clock};

/// The clock of a runtime.
#[derive(Debug)]
pub(crate) struct Clock {
    stands: AtomicBool,
    /// Where it stands.
    stood: AtomicU64,
    /// How far it is from the machine's while it runs; it wraps.
    offset: AtomicU64,
    /// Who changes it.
    pub(crate) change: Mutex<()>,
    /// Who is awake inside the runtime beside workers: threads in `block_on`, closures that block,
    /// and whoever wakes what a standing clock has fired.
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

    /// What time it is.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.stands() {
            self.stood.load(Ordering::Relaxed)
        } else {
            self.of_machine(clock::now())
        }
    }

    /// The same, by somebody's look at the machine's clock.
    #[inline]
    pub(crate) fn at(&self, machine: u64) -> u64 {
        if self.stands() { self.stood.load(Ordering::Relaxed) } else { self.of_machine(machine) }
    }

    #[inline(always)]
    fn of_machine(&self, machine: u64) -> u64 {
        machine.wrapping_add(self.offset.load(Ordering::Relaxed))
    }

    /// When it will be so late, by the machine's clock: never, while this one stands.
    #[inline]
    pub(crate) fn to_machine(&self, time: u64) -> u64 {
        if self.stands() {
            return u64::MAX;
        }
        // Before the machine's clock began is as good as its beginning.
        let offset = self.offset.load(Ordering::Relaxed).cast_signed();
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        u64::try_from(time.saturating_sub(offset)).unwrap_or(0)
    }

    /// Whether it stands.
    #[inline(always)]
    pub(crate) fn stands(&self) -> bool {
        self.stands.load(Ordering::Acquire)
    }

    /// Makes it stand where it is. The caller has `change`.
    pub(crate) fn stop(&self) {
        let now = self.now();
        self.stand_at(now);
        self.stands.store(true, Ordering::Release);
    }

    /// Changes where it stands. The caller has `change`.
    pub(crate) fn stand_at(&self, time: u64) {
        self.stood.store(time, Ordering::Release);
    }

    /// Has it go on from where it stands. The caller has `change`.
    pub(crate) fn run(&self) {
        let stood = self.stood.load(Ordering::Relaxed);
        self.offset.store(stood.wrapping_sub(clock::now()), Ordering::Relaxed);
        self.stands.store(false, Ordering::Release);
    }

    /// Counts somebody in who is awake inside the runtime.
    pub(crate) fn come(&self) {
        self.outside.fetch_add(HERE + COMING, Ordering::AcqRel);
    }

    /// Counts it out.
    pub(crate) fn go(&self) {
        self.outside.fetch_sub(HERE, Ordering::AcqRel);
    }

    /// Who is, and how many have come so far.
    pub(crate) fn outside(&self) -> Outside {
        Outside(self.outside.load(Ordering::Acquire))
    }
}

/// Somebody who is awake inside the runtime.
const HERE: u64 = 1;

/// Somebody who has ever been. The count wraps.
const COMING: u64 = 1 << 32;

/// What [`Clock::outside`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outside(u64);

impl Outside {
    /// Whether nobody is awake.
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_multiple_of(COMING)
    }
}
