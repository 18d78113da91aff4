//! Whether quick tasks run on one processor or on two.
//!
//! Quick tasks that wake each other pay for a split with cache lines that go back and forth: two
//! such tasks do 45 million operations a second on one core, and 15 million on two. Unrelated quick
//! tasks gain by a split. Nothing but a trial tells the two kinds apart:
//!
//! * The first steal from a queue of quick tasks is a trial. After [`TRIAL`] the thief compares the
//!   rate of both processors with that of the one before. If the one was faster, the thief gives
//!   its tasks back.
//! * A processor beside another one, both with quick polls, counts those of both for [`COUNT`].
//!   Then it gives its tasks to the other, to see whether that one alone makes as many.
//!
//! In both cases the queue with all the tasks is left together for a while. It stays so only as
//! long as the one processor makes more polls than the two did ([`Mark::has_failed`]), because the
//! tasks may have changed.
//!
//! Tasks that have [waited](super::stealing::OLD_SMALL_HEAD) are taken in any case. Tasks behind a
//! poll that does not end are taken by a searcher, or by the watch if all others sleep.

use super::{Look, stealing};

/// Tasks with polls longer than this gain by a split, related or not: the few lines that two tasks
/// share take 100 to 400 ns to come over, on cores that are near or far. An estimate; no benchmark
/// sets it.
pub const QUICK: u64 = 1_000;

/// How long a trial lasts, and a time in which a marked queue's polls are counted: forty to fifty
/// batches, so that the tasks' cache lines have come over. `evenkeel-bench run --bench churn
/// --tasks-per-proc 2` set it.
pub const TRIAL: u64 = 200_000;

/// How long the polls of two processors are counted before one gives its tasks to the other: long
/// beside the times for which the operating system takes a core away. An estimate; no benchmark
/// sets it.
pub const COUNT: u64 = 5 * TRIAL;

/// The pause after the first failed trial, in which a queue stays together. A failed trial costs a
/// few times [`TRIAL`], which is a few percent of this. [`LONGEST_PAUSE`] is the bound of later
/// pauses. Estimates; no benchmark sets them.
pub const FIRST_PAUSE: u64 = 10_000_000;
/// See [`FIRST_PAUSE`].
pub const LONGEST_PAUSE: u64 = 1_000_000_000;

/// How often the time of a mark that has held is doubled: the 2 ms apart between two marks are a
/// little more than a percent of 160. `evenkeel-bench run --bench locality --procs 2` set it.
pub const DOUBLINGS: u32 = 4;

/// Returns whether a steal from this queue is a trial. A steal because tasks have waited for long
/// is not: those tasks are owed a processor.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, together::is_trial};
/// let quick = Look { mean_poll: 30, switched: true, ..Look::default() };
/// assert!(is_trial(&quick));
/// assert!(!is_trial(&Look { mean_poll: 5_000, ..quick }));
/// assert!(!is_trial(&Look { mean_poll: 0, ..quick }), "nothing is known of it yet");
/// assert!(!is_trial(&Look { switched: false, ..quick }), "it stands still");
/// assert!(!is_trial(&Look { head_age: 200_000, ..quick }));
/// ```
#[inline]
#[must_use]
pub fn is_trial(victim: &Look) -> bool {
    (1..QUICK).contains(&victim.mean_poll)
        && victim.switched
        && !victim.together
        && victim.head_age < stealing::OLD_SMALL_HEAD
}

/// Marks a queue that thieves leave together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The time at which the mark ends.
    pub until: u64,
    /// The longest mean poll, in nanoseconds, with which one processor makes as many polls as the
    /// two did.
    pub most: u64,
}

impl Mark {
    /// Returns whether the queue is to be left together no longer: the two did better, or a poll
    /// is so long that the others should not wait for it. These are the nanoseconds per poll in the
    /// last two times of at least [`TRIAL`]. One such time alone says nothing: the operating system
    /// may have given the core to another thread.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::together::Mark;
    /// let mark = Mark { until: 5_000_000, most: 50 };
    /// assert!(!mark.has_failed([120, 30]));
    /// assert!(!mark.has_failed([30, 120]));
    /// assert!(mark.has_failed([90, 120]));
    /// ```
    #[inline]
    #[must_use]
    pub fn has_failed(&self, means: [u64; 2]) -> bool {
        means.into_iter().min() > Some(self.most)
    }
}

/// Returns the nanoseconds per poll.
///
/// # Examples
/// ```
/// use evenkeel_policy::together::mean;
/// assert_eq!(mean(1_000, 20), 50);
/// assert_eq!(mean(1_000, 0), 1_000);
/// ```
#[inline]
#[must_use]
pub fn mean(nanos: u64, polls: u64) -> u64 {
    nanos / polls.max(1)
}

/// Judges a split between two processors with polls of `own` and `others` nanoseconds, of tasks
/// with polls of `before` on one processor, at the time `now` after `failures` failed trials in a
/// row. Returns `None` if the split pays: if the two make at least nine tenths of the polls of the
/// one. The tenth is for noise, in favour of using an available core. If polls are not [`QUICK`],
/// the tasks have changed, and nothing speaks against the split.
///
/// # Examples
/// ```
/// use evenkeel_policy::together::{FIRST_PAUSE, judge};
/// assert_eq!(judge(30, 30, 30, 0, 0), None);
/// assert_eq!(judge(30, 60, 60, 0, 0), None);
/// let mark = judge(30, 120, 120, 0, 0).expect("it does not pay");
/// assert_eq!((mark.until, mark.most), (FIRST_PAUSE, 60));
/// assert_eq!(judge(30, 120, 20_000, 0, 0), None);
/// ```
#[inline]
#[must_use]
pub fn judge(before: u64, own: u64, others: u64, now: u64, failures: u32) -> Option<Mark> {
    if own.max(others) >= QUICK {
        return None;
    }
    let both = rate(own) + rate(others);
    if 10 * both >= 9 * rate(before) {
        return None;
    }
    Some(mark(both, now, pause(failures)))
}

/// Marks a queue for the time `pause`, as long as its processor makes at least `both` polls per
/// millisecond.
fn mark(both: u64, now: u64, pause: u64) -> Mark {
    Mark { until: now.saturating_add(pause), most: 1_000_000 / both.max(1) }
}

/// Returns whether a processor gives its tasks to another to see whether that one alone makes as
/// many polls as both: if the polls of both are quick, both go on, and all their tasks start soon.
/// Where tasks travel to [objects](crate::object), homes say where they run.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, together::may_gather};
/// let quick = Look { ready: 20, mean_poll: 150, switched: true, ..Look::default() };
/// assert!(may_gather(&quick, &quick));
/// assert!(!may_gather(&quick, &Look { switched: false, ..quick }), "it may be asleep");
/// assert!(!may_gather(&quick, &Look { mean_poll: 5_000, ..quick }));
/// assert!(!may_gather(&Look { head_age: 200_000, ..quick }, &quick));
/// ```
#[inline]
#[must_use]
pub fn may_gather(own: &Look, other: &Look) -> bool {
    let is_quick = |look: &Look| look.visitors == 0 && is_trial(look);
    own.ready > 0 && is_quick(own) && is_quick(other)
}

/// Returns the mark of a queue that gets all tasks of another: it is left together as long as one
/// processor makes four thirds of the polls that the two made, with polls of `own` and `others`
/// nanoseconds. With less than that, a core that is at hand is used: unrelated tasks at two
/// hardware threads of one core make about as many polls as at one (`evenkeel-bench run --bench
/// cycle --procs 2`). The more marks have held before it, the longer it lasts.
///
/// # Examples
/// ```
/// use evenkeel_policy::together::{FIRST_PAUSE, Past, gather};
/// let mark = gather(160, 160, 0, Past::default());
/// assert_eq!((mark.until, mark.most), (FIRST_PAUSE, 60));
/// ```
#[inline]
#[must_use]
pub fn gather(own: u64, others: u64, now: u64, past: Past) -> Mark {
    mark((rate(own) + rate(others)) / 3 * 4, now, pause(past.held))
}

/// What became of a giver's marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The marks that have held until their time was over, up to [`DOUBLINGS`].
    held: u32,
    /// The marks in a row that have failed after none had held.
    failures: u32,
}

impl Past {
    /// Adds a mark that has held or failed. Returns how long the giver then waits before it counts
    /// again. A failure after marks that held may be chance: it halves their number, and the giver
    /// waits no longer than after one that held.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::together::{COUNT, FIRST_PAUSE, Past, gather};
    /// let mut past = Past::default();
    /// assert_eq!(past.add(false), 2 * FIRST_PAUSE);
    /// assert_eq!(past.add(false), 4 * FIRST_PAUSE);
    /// assert_eq!(past.add(true), COUNT);
    /// assert_eq!(gather(160, 160, 0, past).until, 2 * FIRST_PAUSE);
    /// assert_eq!(past.add(false), COUNT);
    /// assert_eq!(past.add(false), 2 * FIRST_PAUSE);
    /// (0..99).for_each(|_| assert_eq!(past.add(true), COUNT));
    /// assert_eq!(gather(160, 160, 0, past).until, 16 * FIRST_PAUSE);
    /// ```
    #[must_use]
    pub fn add(&mut self, has_held: bool) -> u64 {
        match (has_held, self.held) {
            (false, 0) => {
                self.failures += 1;
                return self.pause();
            }
            (false, held) => self.held = held / 2,
            (true, held) => *self = Self { held: DOUBLINGS.min(held + 1), failures: 0 },
        }
        COUNT
    }

    /// Returns how long the giver waits before it looks again, where no mark has just ended.
    #[must_use]
    pub fn pause(&self) -> u64 {
        pause(self.failures)
    }
}

/// Returns the polls per millisecond.
fn rate(poll: u64) -> u64 {
    1_000_000 / poll.max(1)
}

/// Returns how long a queue stays together after a failed trial that follows `failures` failed ones
/// in a row.
///
/// # Examples
/// ```
/// use evenkeel_policy::together::{FIRST_PAUSE, LONGEST_PAUSE, pause};
/// assert_eq!(pause(0), FIRST_PAUSE);
/// assert_eq!(pause(1), 2 * FIRST_PAUSE);
/// assert_eq!(pause(60), LONGEST_PAUSE);
/// ```
#[inline]
#[must_use]
pub fn pause(failures: u32) -> u64 {
    (FIRST_PAUSE << failures.min(16)).min(LONGEST_PAUSE)
}
