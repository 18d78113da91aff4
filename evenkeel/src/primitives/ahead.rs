//! A clock that is never behind, for deadlines.
//!
//! # What it is for
//! A timer needs an upper bound of the present time only: a deadline that is counted from a little
//! later makes the wait a little longer, and never too short. A look at the machine's clock takes
//! 20 to 40 ns, a third of the cost of a timer; a look at the processor's cycle counter takes a
//! third of that.
//!
//! # Protocol
//! *Look*, at most every [`EXACT`] nanoseconds: the counter, then the clock. *In between*: add the
//! counts since the look, at the slowest rate that the counter may have, to the clock's reading.
//!
//! # Why it is never behind
//! The look reads the counter before the clock, so the time of that count was not later than the
//! clock's reading. The rate is measured once per process, over at least a millisecond.
//! The clock is read before the first count and after the second, so that the counts between are
//! charged with more time than has passed. The clock of this measurement goes on while the machine
//! is suspended, as the counter may. An eighth is added, because a system that adjusts its
//! clock makes it run faster by a tenth at most (`adjtimex`). [`OUT_OF_ORDER`] covers an
//! instruction that the processor executes ahead of its turn. Where Linux derives its own clock
//! from the counters, which it checks all the time, the counters of all cores agree and never
//! change their rate. Elsewhere, and under a checker, every reading is a look at the clock.
//!
//! # How far ahead
//! An eighth of the time since the look, 4 µs, and the time between the look's two readings: a look
//! that was interrupted for 1 µs between them does not count. So 5 µs at most.
//!
//! # Rejected
//! The coarse clock of the system: it lies behind by up to a tick of the kernel, or more in a
//! virtual machine, so nothing can be counted from it. The clock of the batch: it lies behind by as
//! long as the poll has lasted. Arming by the clock that ends the batch: a task that holds a sleep
//! for long before its first poll would wait too long.

use super::clock;
use std::cell::Cell;

/// Nanoseconds between two looks at the clock. An estimate: several batches, and far below a tick
/// of timers; no benchmark sets it.
const EXACT: u64 = 32_000;

/// The share of the counts between two looks that may lie between the two readings of one look, 1
/// µs: far more than the readings take.
const TORN: u64 = 32;

/// Nanoseconds by which an instruction may be executed ahead of its turn: more than a reorder
/// buffer holds.
const OUT_OF_ORDER: u64 = 100;

/// Binary places of a rate.
const PLACES: u32 = 32;

/// Such a clock, of one thread.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The counter at the last look, and the clock's reading after it.
    cycles: Cell<u64>,
    nanos: Cell<u64>,
    /// Nanoseconds for a count, the eighth included.
    rate: Cell<u64>,
    /// Counts between two looks; none until the rate is known.
    most: Cell<u64>,
}

impl Ahead {
    /// Returns a time that is not before the present one, and at most 5 µs after it.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        let passed = counter::read().wrapping_sub(self.cycles.get());
        if passed < self.most.get() {
            return self.nanos.get() + ((passed * self.rate.get()) >> PLACES) + OUT_OF_ORDER;
        }
        self.look()
    }

    #[cold]
    #[inline(never)]
    fn look(&self) -> u64 {
        let cycles = counter::read();
        let nanos = clock::now();
        if self.most.get() == 0
            && let Some(rate) = counter::rate(cycles)
        {
            self.rate.set(rate);
            self.most.set((EXACT << PLACES) / rate);
        }
        // A thread that was interrupted between the readings would be ahead by as long. It looks
        // again next time.
        let torn = counter::read().wrapping_sub(cycles) > self.most.get() / TORN;
        self.cycles.set(if torn { cycles.wrapping_sub(self.most.get()) } else { cycles });
        self.nanos.set(nanos);
        nanos
    }
}

pub(crate) use counter::prepare;

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(any(loom, shuttle))))]
mod counter {
    #![allow(unsafe_code, reason = "the counter is read by an instruction")]

    use super::PLACES;
    use rustix::time::{ClockId, clock_gettime};
    use std::sync::OnceLock;

    /// Nanoseconds over which the rate is measured: enough for an error of the readings that is far
    /// below the eighth.
    const MEASURE: u64 = 1_000_000;

    /// The first look: the clock's reading, and the counter before and after it. None without a
    /// counter.
    static FIRST: OnceLock<Option<(u64, u64, u64)>> = OnceLock::new();

    static RATE: OnceLock<u64> = OnceLock::new();

    #[inline(always)]
    pub(super) fn read() -> u64 {
        // SAFETY: every processor of this architecture has the instruction, and Linux lets programs
        // execute it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    /// Nanoseconds since the machine started, also those in which it was suspended.
    fn since_start() -> u64 {
        let time = clock_gettime(ClockId::Boottime);
        let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
        u64::try_from(nanos).unwrap_or_default()
    }

    /// Begins to measure the rate.
    pub(crate) fn prepare() {
        FIRST.get_or_init(|| {
            let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            let source = std::fs::read_to_string(source).ok()?;
            (source.trim() == "tsc").then(|| {
                let before = read();
                let nanos = since_start();
                (nanos, before, read())
            })
        });
    }

    /// Nanoseconds for a count, from above, if they are known by the time of a look.
    pub(super) fn rate(cycles: u64) -> Option<u64> {
        if let Some(&rate) = RATE.get() {
            return Some(rate);
        }
        let (first, before, after) = (*FIRST.get()?)?;
        let nanos = since_start();
        let (passed, counted) = (nanos.checked_sub(first)?, cycles.checked_sub(after)?);
        // A thread that was interrupted between two readings measures something else.
        let torn = (after - before).max(read().saturating_sub(cycles)) > counted / 64;
        if passed < MEASURE || torn {
            return None;
        }
        let rate = (u128::from(passed) << PLACES) / u128::from(counted);
        let rate = u64::try_from(rate + rate / 8).ok().filter(|&rate| rate > 0)?;
        Some(*RATE.get_or_init(|| rate))
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(any(loom, shuttle)))))]
mod counter {
    pub(super) fn read() -> u64 {
        0
    }

    pub(crate) fn prepare() {}

    pub(super) fn rate(_cycles: u64) -> Option<u64> {
        None
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn it_is_never_behind_nor_far_ahead() {
        prepare();
        let ahead = Ahead::default();
        let mut stretched = 0;
        for round in 0..200_000_u64 {
            let before = clock::now();
            let now = ahead.now();
            assert!(now >= before, "{now} {before}");
            if now - ahead.nanos.get() > 0 {
                stretched += 1;
                // The time since the look, and an eighth; the rate is measured to a sixteenth at
                // worst.
                let passed = clock::now() - ahead.nanos.get();
                assert!(
                    now - ahead.nanos.get() <= passed + EXACT / 4 + 2 * EXACT / TORN + OUT_OF_ORDER
                );
            }
            if round % 10_000 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        let known = ahead.most.get() > 0;
        assert_eq!(stretched > 0, known, "where there is a rate, most readings go by the counter");
    }

    #[test]
    fn a_counter_that_goes_back_is_not_believed() {
        let ahead = Ahead::default();
        ahead.rate.set(1 << PLACES);
        ahead.most.set(1_000);
        ahead.cycles.set(u64::MAX / 2);
        ahead.nanos.set(1 << 60);
        let now = ahead.now();
        assert!(now < 1 << 60, "it has looked at the clock");
    }
}
