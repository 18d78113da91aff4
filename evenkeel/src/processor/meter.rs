//! The meter: the time that a worker spends on each occupation.
//!
//! # Roles
//! The *owner* switches from one occupation to another. *Readers* read the time it has spent on
//! each, the present one included.
//!
//! # States
//! `word` holds the present occupation and its beginning, or is [`BUSY`] while the owner is about
//! to change it. `nanos` holds the sums of past occupations.
//!
//! # Protocol
//! *Switch*: `word := BUSY`; add the passed time to the old occupation; `word :=` the new one and
//! the time. *Read*: read `word`, all sums, and `word` again; if it is the same, and not busy, add
//! the time since its beginning to the present occupation.
//!
//! # Why nothing is counted twice or lost
//! A reader that sees a new sum acquires the stores before it, so its second look finds `BUSY` or a
//! later value, and it begins again. A reader that sees the new word at its first look acquires the
//! sum that was stored before it. So the sums are those that belong to the word.
//!
//! # Cost
//! A switch is four plain stores. The caller reads the clock, off the hot paths: where a worker
//! runs out of work, finds some, waits or sleeps.
//!
//! # Rejected
//! Sums alone: a worker that sleeps for an hour, or runs one job for a minute, would show it only
//! afterwards.

use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::spin::Backoff;
use crate::topology::Distance;

/// An occupation of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs tasks and jobs: stolen ones from the victim's distance, its own from
    /// [`Distance::Same`].
    Running(Distance),
    /// It takes work from another worker at this distance.
    Stealing(Distance),
    /// It looks for work and does not find any.
    Searching,
    /// It is parked.
    Asleep,
}

const DISTANCES: usize = Distance::ALL.len();
const SEARCHING: usize = 2 * DISTANCES;
const ASLEEP: usize = SEARCHING + 1;
const SLOTS: usize = ASLEEP + 1;

impl Doing {
    fn slot(self) -> usize {
        match self {
            Self::Running(distance) => distance as usize,
            Self::Stealing(distance) => DISTANCES + distance as usize,
            Self::Searching => SEARCHING,
            Self::Asleep => ASLEEP,
        }
    }

    fn of(slot: usize) -> Self {
        match slot {
            SEARCHING => Self::Searching,
            ASLEEP => Self::Asleep,
            slot if slot < DISTANCES => Self::Running(Distance::ALL[slot]),
            slot => Self::Stealing(Distance::ALL[slot - DISTANCES]),
        }
    }
}

/// The owner is changing its occupation.
const BUSY: u64 = u64::MAX;
/// Bits of the word for the occupation; the rest is its beginning.
const BITS: u32 = 4;

const _: () = assert!(SLOTS <= 1 << BITS);

/// The number of attempts of a reader to find the owner between two changes; then it takes the last
/// values that it has seen.
const TRIES: u32 = 64;

#[derive(Debug)]
pub(crate) struct Meter {
    word: AtomicU64,
    nanos: [AtomicU64; SLOTS],
}

/// The nanoseconds of each occupation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading([u64; SLOTS]);

impl Reading {
    pub(crate) fn of(&self, doing: Doing) -> u64 {
        self.0[doing.slot()]
    }

    /// Returns the nanoseconds for which the worker was busy.
    pub(crate) fn busy(&self) -> u64 {
        self.0[..SEARCHING].iter().sum()
    }

    /// Returns the other nanoseconds.
    pub(crate) fn idle(&self) -> u64 {
        self.0[SEARCHING..].iter().sum()
    }
}

impl Meter {
    /// Makes the meter of a worker that is asleep since `now`.
    pub(crate) fn new(now: u64) -> Self {
        Self {
            word: AtomicU64::new(now << BITS | ASLEEP as u64),
            nanos: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Switches to the occupation `doing`, and returns the former one. The caller is the owner.
    pub(crate) fn switch(&self, doing: Doing, now: u64) -> Doing {
        let word = self.word.load(Ordering::Relaxed);
        let (slot, since) = parts(word);
        self.word.store(BUSY, Ordering::Relaxed);
        let nanos = self.nanos[slot].load(Ordering::Relaxed);
        self.nanos[slot]
            .store(nanos + now.saturating_sub(since), edge(Edge::MeterSum, Ordering::Release));
        // A coarse clock may be behind.
        let word = now.max(since) << BITS | doing.slot() as u64;
        self.word.store(word, edge(Edge::MeterWord, Ordering::Release));
        Doing::of(slot)
    }

    /// Returns whether the worker runs tasks and jobs. A hint, which may be out of date.
    pub(crate) fn is_running(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word != BUSY && parts(word).0 < DISTANCES
    }

    /// Returns whether the worker is parked, or has no thread. A hint, like the one above.
    pub(crate) fn is_asleep(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word != BUSY && parts(word).0 == ASLEEP
    }

    /// Returns the times of all occupations until `now`.
    pub(crate) fn read(&self, now: u64) -> Reading {
        let mut backoff = Backoff::new();
        let mut tries = 0;
        loop {
            let word = self.word.load(edge(Edge::MeterSeen, Ordering::Acquire));
            let sum = |nanos: &AtomicU64| nanos.load(edge(Edge::MeterRead, Ordering::Acquire));
            let mut reading = Reading(self.nanos.each_ref().map(sum));
            let same = word != BUSY && self.word.load(Ordering::Relaxed) == word;
            tries += 1;
            if word != BUSY && (same || tries >= TRIES) {
                let (slot, since) = parts(word);
                reading.0[slot] += now.saturating_sub(since);
                return reading;
            }
            if tries >= TRIES {
                return reading;
            }
            backoff.snooze();
        }
    }
}

/// Splits a word into the occupation and its beginning.
fn parts(word: u64) -> (usize, u64) {
    ((word & ((1 << BITS) - 1)) as usize, word >> BITS)
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use loom::sync::Arc;

    #[test]
    fn a_reading_adds_up_to_the_time_that_has_passed() {
        let edges = [Edge::MeterSum, Edge::MeterWord, Edge::MeterSeen, Edge::MeterRead];
        check(&edges, || {
            let meter = Arc::new(Meter::new(0));
            // The reader is the second thread: loom looks for races at its loads.
            let reader = {
                let meter = meter.clone();
                loom::thread::spawn(move || meter.read(9))
            };
            meter.switch(Doing::Searching, 3);
            meter.switch(Doing::Asleep, 5);
            let reading = reader.join().unwrap();
            assert_eq!(reading.0.iter().sum::<u64>(), 9);
            assert_eq!(meter.read(9).of(Doing::Searching), 2);
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_occupation_gets_its_time_and_the_present_one_goes_on() {
        let meter = Meter::new(100);
        let far = Doing::Running(Distance::Remote);
        assert_eq!(meter.switch(far, 110), Doing::Asleep);
        assert_eq!(meter.switch(Doing::Stealing(Distance::SharedLlc), 130), far);
        // The clock of the caller is a little behind.
        meter.switch(Doing::Searching, 125);
        let reading = meter.read(200);
        assert_eq!(reading.of(Doing::Asleep), 10);
        assert_eq!(reading.of(far), 20);
        assert_eq!(reading.of(Doing::Stealing(Distance::SharedLlc)), 0);
        assert_eq!(reading.of(Doing::Searching), 70);
        assert_eq!(reading.0.iter().sum::<u64>(), 100);
    }

    #[test]
    fn every_occupation_has_a_slot_of_its_own() {
        for slot in 0..SLOTS {
            assert_eq!(Doing::of(slot).slot(), slot);
        }
    }
}
