//! Whether tasks that a thief has split from a queue should have stayed together.
//!
//! Quick tasks that wake each other pay for a split with cache lines that go back and forth: two of
//! them do 45 million operations a second on one core, and 15 million on two. Quick tasks that have
//! nothing to do with each other gain by it. What they are cannot be seen before they are split, so
//! the first steal from a queue of quick tasks is a *trial*: after [`TRIAL`] the thief compares
//! what both processors do with what the one did before. If that was more, the thief gives back
//! what it has, and the queue stays together for a while, longer each time; but only for as long as
//! the one makes more polls than the two did ([`Mark::holds`]), because what has changed may have
//! been the tasks.
//!
//! Tasks that have [waited](super::stealing::OLD_SMALL_HEAD) are taken whatever they are, and those
//! behind a poll that does not end by whoever searches, or by the watch where everybody sleeps.

use super::{Look, stealing};

/// Polls that last longer than this gain by a split, whatever they have to do with each other: the
/// few lines that two tasks share take 100 to 400 ns to come over, on cores that are near or far.
/// An estimate; no benchmark sets it.
pub const QUICK: u64 = 1_000;

/// How long a trial lasts: twelve times the time in which the [moving averages](super::smooth) of
/// batches follow, so that what the tasks have left behind has come over. `evenkeel-bench run
/// --bench churn --tasks-per-proc 2` set it.
pub const TRIAL: u64 = 200_000;

/// How long a queue stays together after the first trial that failed, and at most: a failed trial
/// costs a few times [`TRIAL`], which is a few percent of the first.
pub const FIRST_PAUSE: u64 = 10_000_000;
/// See [`FIRST_PAUSE`].
pub const LONGEST_PAUSE: u64 = 1_000_000_000;

/// Whether a steal from this queue is a trial. One for the age of what waits is not: it is owed to
/// those tasks.
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

/// A queue that is to be left together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// From then on the queue has to be worth it.
    pub from: u64,
    /// The end of it.
    pub until: u64,
    /// The longest mean poll, in nanoseconds, with which the one processor makes as many polls as
    /// the two did.
    pub most: u64,
}

impl Mark {
    /// Whether the queue stays together at the time `now`, when its polls take `mean_poll`.
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

/// The verdict on a split between two processors with polls of `own` and `others` nanoseconds, of
/// tasks whose polls took `before` on one, at the time `now` and after so many `failures` in a row.
/// `None` if it pays: if the two make at least nine tenths of the polls that the one made. The
/// tenth is for noise, in favour of using a core that is there. Polls that are not [`QUICK`] any
/// more are other polls than those before, and prove nothing against the split.
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

/// How long a queue stays together after so many trials in a row that did not pay, before the
/// present one.
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
