//! How long to pause between two looks at MPI.

use std::time::Duration;

/// What a waiting thread does before it looks at MPI again.
///
/// A function of the length of the silence. For 20 µs the thread spins: the answer of another rank
/// on the same machine or on a fast network comes within a few. Up to 200 µs it yields its
/// processor in between, perhaps to the workers that send messages. It does so up to 5 ms if frames
/// are under way, since a long one moves in pieces, each at a look of both sides. After that it
/// sleeps for a quarter of the silence so far: a frame is late by a quarter of the silence before
/// it, and a wait costs ever fewer looks. A sleep lasts at least 50 µs, by which a timer of Linux
/// is late in any case, and at most the longest nap. Naps of 1 ms cost 2 % of a processor, mostly
/// for falling asleep and waking.
///
/// ```
/// use evenkeel_mpi::Pause;
/// use std::time::Duration;
///
/// let nap = Duration::from_millis(1);
/// let two = Duration::from_millis(2);
/// assert_eq!(Pause::after(Duration::ZERO, nap, false), Pause::Spin);
/// assert_eq!(Pause::after(two, nap, false), Pause::Sleep(two / 4));
/// assert_eq!(Pause::after(two, nap, true), Pause::Yield);
/// assert_eq!(Pause::after(Duration::from_secs(9), nap, true), Pause::Sleep(nap));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Looks again at once.
    Spin,
    /// Yields to other threads first.
    Yield,
    /// Sleeps for this long, or until the waker is called.
    Sleep(Duration),
}

// Estimates, except the first: in the example `pingpong` both sides spin with 20 µs, and answers
// take 1 µs.
const SPIN: Duration = Duration::from_micros(20);
const YIELD: Duration = Duration::from_micros(200);
const YIELD_UNDER_WAY: Duration = Duration::from_millis(5);
const SHORTEST_NAP: Duration = Duration::from_micros(50);
/// A sleep is this part of the time that has passed.
const PART: u32 = 4;

impl Pause {
    /// Returns the pause after a silence of `idle`, if no sleep may be longer than `longest_nap`;
    /// `under_way` says whether frames are.
    #[must_use]
    pub fn after(idle: Duration, longest_nap: Duration, under_way: bool) -> Self {
        let until = if under_way { YIELD_UNDER_WAY } else { YIELD };
        if idle < SPIN {
            Self::Spin
        } else if idle < until || longest_nap.is_zero() {
            Self::Yield
        } else {
            Self::Sleep((idle / PART).max(SHORTEST_NAP).min(longest_nap))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAP: Duration = Duration::from_millis(1);

    /// Returns how often a thread looks in `idle` if a look takes a microsecond.
    fn looks(idle: Duration) -> u32 {
        let (mut passed, mut looks) = (Duration::ZERO, 0);
        while passed < idle {
            looks += 1;
            passed += Duration::from_micros(1);
            if let Pause::Sleep(nap) = Pause::after(passed, NAP, false) {
                passed += nap;
            }
        }
        looks
    }

    #[test]
    fn a_thread_that_is_idle_for_long_hardly_looks() {
        let first = looks(Duration::from_secs(1));
        assert!(first < 1_300, "{first} looks");
        assert!(looks(Duration::from_secs(2)) - first <= 1_000);
    }

    #[test]
    fn no_look_is_later_than_a_quarter_of_the_silence_before() {
        for micros in (0..9_000).step_by(7) {
            let idle = Duration::from_micros(micros);
            for under_way in [false, true] {
                if let Pause::Sleep(nap) = Pause::after(idle, NAP, under_way) {
                    assert!(nap <= idle / 4 && nap <= NAP, "{nap:?} after {idle:?}");
                }
            }
        }
    }

    #[test]
    fn without_naps_it_never_sleeps() {
        assert_eq!(Pause::after(Duration::from_secs(1), Duration::ZERO, false), Pause::Yield);
    }
}
