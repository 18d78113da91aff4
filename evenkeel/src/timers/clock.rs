//! The clock of a runtime: the machine's, unless a test makes it stand still.
//!
//! # Roles
//! A *changer* makes the clock stand, moves it or makes it run, under the lock `change`. A *reader*
//! looks at it without that lock.
//!
//! # States
//! One word has the state. *Running*: the machine's time, plus an offset that is zero unless the
//! clock has stood. *Standing*: a fixed time. *Stopping*: the changer is about to read the time at
//! which the clock is to stand.
//!
//! # Steps
//! - *Stop*: the changer says that the clock is stopping, makes a heavy fence, reads the machine's
//!   clock, and says where the clock stands.
//! - *Read*: a reader of a clock that runs reads the machine's clock, makes a light fence, and
//!   looks whether the state is still the one that it has read before. If not, it begins again.
//!   While the clock is stopping, the reader waits: the changer takes no lock and calls no code
//!   meanwhile.
//!
//! # Why it never goes back
//! If the light fence is before the heavy one, the reader has read the machine's clock before the
//! changer does. Otherwise it sees at its second look that the clock is stopping. So the clock
//! stands at no earlier time than any that was read; and it runs on from where it stands.
//!
//! # Rejected
//! A flag beside the time and the offset, without the state *stopping* and the second look. A
//! reader that loses its core between two loads gets a later time than that at which the clock
//! stands; or, after that, an earlier one.
//!
//! Times are nanoseconds since the process first looked at its clock.

use crate::primitives::atomic::{AtomicU64, Edge, Ordering};
use crate::primitives::spin::Backoff;
use crate::primitives::{Mutex, clock, fence};

/// The clock of a runtime.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The [state](State), as a word.
    state: AtomicU64,
    /// Held by the thread that changes the clock.
    pub(crate) change: Mutex<()>,
    /// The number of threads beside workers that are awake inside the runtime. These are threads in
    /// `block_on`, threads that run blocking closures, and threads that move a standing clock and
    /// wake tasks.
    outside: AtomicU64,
}

/// The state of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// With the distance to the machine's clock.
    Runs(i64),
    /// With the time at which it stands.
    Stands(u64),
    Stopping,
}

/// The bit of a word that says that the clock stands; the others are the time, or the offset.
const STANDS: u64 = 1 << 63;

/// Words from here on, without that bit, are negative offsets: down to 4.5 years, for which no
/// clock has stood. As a word, it says that the clock is stopping.
const STOPPING: u64 = STANDS - (1 << 57);

impl State {
    #[inline(always)]
    fn of(word: u64) -> Self {
        if word & STANDS != 0 {
            Self::Stands(word - STANDS)
        } else if word < STOPPING {
            Self::Runs(word.cast_signed())
        } else if word > STOPPING {
            Self::Runs(word.wrapping_sub(STANDS).cast_signed())
        } else {
            Self::Stopping
        }
    }

    #[inline(always)]
    fn word(self) -> u64 {
        match self {
            Self::Runs(offset) => offset.cast_unsigned() & (STANDS - 1),
            Self::Stands(time) => STANDS | time,
            Self::Stopping => STOPPING,
        }
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU64::new(State::Runs(0).word()),
            change: Mutex::new(()),
            outside: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    fn state(&self) -> State {
        State::of(self.state.load(Ordering::Acquire))
    }

    fn set(&self, state: State) {
        self.state.store(state.word(), Ordering::Release);
    }

    /// Returns whether the clock runs, with what offset, or the time at which it stands.
    #[inline(always)]
    fn settled(&self) -> Result<i64, u64> {
        let mut backoff = Backoff::new();
        loop {
            match self.state() {
                State::Runs(offset) => return Ok(offset),
                State::Stands(time) => return Err(time),
                State::Stopping => backoff.snooze(),
            }
        }
    }

    /// Returns the time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        loop {
            let offset = match self.settled() {
                Ok(offset) => offset,
                Err(stood) => return stood,
            };
            let time = clock::now().wrapping_add_signed(offset);
            fence::light_if_paired(Edge::ClockRead);
            if self.state() == State::Runs(offset) {
                return time;
            }
        }
    }

    /// Returns the time, given a recent time of the machine's clock. If that is older than the
    /// present state, the result may be earlier than any time of this clock, and zero at least.
    #[inline]
    pub(crate) fn at(&self, machine: u64) -> u64 {
        match self.settled() {
            Ok(offset) => machine.saturating_add_signed(offset),
            Err(stood) => stood,
        }
    }

    /// Converts `time` to the machine's clock: never, while this clock stands.
    #[inline]
    pub(crate) fn to_machine(&self, time: u64) -> u64 {
        let Ok(offset) = self.settled() else { return u64::MAX };
        // A time before the beginning of the machine's clock is clamped to it.
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        u64::try_from(time.saturating_sub(offset)).unwrap_or(0)
    }

    /// Returns whether the clock stands, or is about to.
    #[inline(always)]
    pub(crate) fn stands(&self) -> bool {
        !matches!(self.state(), State::Runs(_))
    }

    /// Makes the clock stand at the present time. The caller has `change`, and the clock runs.
    pub(crate) fn stop(&self) {
        let Ok(offset) = self.settled() else { return };
        self.set(State::Stopping);
        // If the system refuses the heavy one, though it has granted the pair, the proof above does
        // not hold: a reader may be late by the time between two of its instructions.
        if !fence::heavy(Edge::ClockStop) {
            fence::full(Edge::ClockStop);
        }
        self.stand_at(clock::now().wrapping_add_signed(offset));
    }

    /// Makes the clock stand at `time`, which is below 292 years. The caller has `change`, and the
    /// clock stands or stops, or no thread has looked at it yet.
    pub(crate) fn stand_at(&self, time: u64) {
        self.set(State::Stands(time.min(STANDS - 1)));
    }

    /// Makes the clock run on from the time at which it stands, or from 287 years if that is later.
    /// The caller has `change`.
    pub(crate) fn run(&self) {
        let Err(stood) = self.settled() else { return };
        let offset = stood.wrapping_sub(clock::now()).cast_signed();
        self.set(State::Runs(offset.min(STOPPING.cast_signed() - 1)));
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

    /// Under loom the machine's clock goes on at each look, by any thread.
    #[test]
    fn a_clock_that_stops_and_runs_on_does_not_go_back() {
        check(&[Edge::ClockStop, Edge::ClockRead], || {
            let (clock, seen) = (Arc::new(Clock::new()), Arc::new(AtomicU64::new(0)));
            let reader = {
                let (clock, seen) = (clock.clone(), seen.clone());
                loom::thread::spawn(move || {
                    for _ in 0..2 {
                        let before = seen.load(Ordering::Relaxed);
                        let now = clock.now();
                        assert!(before <= now, "the clock went back");
                        seen.store(now, Ordering::Release);
                    }
                })
            };
            clock.stop();
            let before = seen.load(Ordering::Acquire);
            let stood = clock.now();
            assert!(before <= stood, "the clock stands at an earlier time");
            clock.run();
            reader.join().unwrap();
            assert!(seen.load(Ordering::Acquire) <= clock.now(), "the clock went back");
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{Clock, STANDS, STOPPING, State};

    #[test]
    fn states_fit_into_a_word() {
        let times = [0, 1, 1 << 62, STOPPING, STANDS - 1].map(State::Stands);
        let offsets = [0, 1, -1, 1 << 62, STOPPING.cast_signed() - 1, 1 - (1 << 57)];
        let offsets = offsets.map(State::Runs);
        for state in times.into_iter().chain(offsets).chain([State::Stopping]) {
            assert_eq!(State::of(state.word()), state);
        }
    }

    /// A timer that is armed by such a time is not due.
    #[test]
    fn a_time_from_before_the_clock_stood_is_no_late_one() {
        let clock = Clock::new();
        clock.set(State::Runs(-5));
        assert_eq!((clock.at(3), clock.at(7)), (0, 2));
    }
}
