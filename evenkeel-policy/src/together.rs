//! Whether tasks that a thief has split from a queue should have stayed together.
//!
//! Quick tasks that wake each other pay for a split with cache lines that go back and forth: two
//! such tasks do 45 million operations a second on one core, and 15 million on two. Unrelated quick
//! tasks gain by a split. Nothing tells the two kinds apart before a split, so the first steal from
//! a queue of quick tasks is a *trial*: after [`TRIAL`] the thief compares the rate of both
//! processors with that of the one before. If the one was faster, the thief gives its tasks back,
//! and the queue stays together for a while, longer each time. It stays so only as long as the one
//! processor makes more polls than the two did ([`Mark::holds`]), because the tasks may have
//! changed.
//!
//! Tasks that have [waited](super::stealing::OLD_SMALL_HEAD) are taken in any case. Tasks behind a
//! poll that does not end are taken by a searcher, or by the watch if all others sleep.

use super::{Look, stealing};

/// Tasks with polls longer than this gain by a split, related or not: the few lines that two tasks
/// share take 100 to 400 ns to come over, on cores that are near or far. An estimate; no benchmark
/// sets it.
pub const QUICK: u64 = 1_000;

/// How long a trial lasts: twelve times the time in which the [moving averages](super::smooth) of
/// batches follow, so that the tasks' cache lines have come over. `evenkeel-bench run --bench churn
/// --tasks-per-proc 2` set it.
pub const TRIAL: u64 = 200_000;

/// The pause after the first failed trial, in which a queue stays together. A failed trial costs a
/// few times [`TRIAL`], which is a few percent of this. [`LONGEST_PAUSE`] is the bound of later
/// pauses.
pub const FIRST_PAUSE: u64 = 10_000_000;
/// See [`FIRST_PAUSE`].
pub const LONGEST_PAUSE: u64 = 1_000_000_000;

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
    /// The time from which the polls must be quick enough, at most `most`.
    pub from: u64,
    /// The time at which the mark ends.
    pub until: u64,
    /// The longest mean poll, in nanoseconds, with which one processor makes as many polls as the
    /// two did.
    pub most: u64,
}

impl Mark {
    /// Returns whether the queue stays together at the time `now` if its polls take `mean_poll`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::together::Mark;
    /// let mark = Mark { from: 1_000, until: 5_000, most: 50 };
    /// assert!(mark.holds(500, 120), "the average has yet to follow");
    /// assert!(mark.holds(2_000, 30));
    /// assert!(!mark.holds(2_000, 120), "the two did better");
    /// assert!(!mark.holds(6_000, 30));
    /// ```
    #[inline]
    #[must_use]
    pub fn holds(&self, now: u64, mean_poll: u64) -> bool {
        now < self.until && (now < self.from || mean_poll <= self.most)
    }
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
    // Rates in polls per millisecond.
    let rate = |poll: u64| 1_000_000 / poll.max(1);
    let both = rate(own) + rate(others);
    if 10 * both >= 9 * rate(before) {
        return None;
    }
    let from = now.saturating_add(TRIAL);
    Some(Mark { from, until: now.saturating_add(pause(failures)), most: 1_000_000 / both.max(1) })
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
