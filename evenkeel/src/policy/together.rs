//! Whether tasks that a thief has split from a queue should have stayed together.
//!
//! Quick tasks that wake each other pay for a split with cache lines that go back and forth: two of them do 45
//! million operations a second on one core, and 15 million on two. Quick tasks that have nothing to do with each other
//! gain by it. What they are cannot be seen before they are split, so the first steal from a queue of quick tasks is a
//! *trial*: after [`TRIAL`] the thief compares what both processors do with what the one did before. If it was more, the
//! thief gives back what it has, and the queue stays together for a while, longer each time. Nothing of this touches
//! the bound on waiting: tasks that have waited are taken whatever they are.

use super::Look;

/// Polls that last longer than this gain by a split, whatever they have to do with each other: the few lines that two
/// tasks share take 100 to 400 ns to come over, on cores that are near or far. An estimate; no benchmark sets it.
pub const QUICK: u64 = 1_000;

/// How long a trial lasts: twelve times the time in which the [moving averages](super::smooth) of batches follow, so that
/// what the tasks have left behind has come over. `evenkeel-bench run --bench churn --tasks-per-proc 2` set it.
pub const TRIAL: u64 = 200_000;

/// How long a queue stays together after the first trial that failed, and at most: a failed trial costs a few times
/// [`TRIAL`], which is a few percent of the first.
pub const FIRST_PAUSE: u64 = 10_000_000;
/// See [`FIRST_PAUSE`].
pub const LONGEST_PAUSE: u64 = 1_000_000_000;

/// Whether a steal from this queue is a trial.
///
/// # Examples
/// ```
/// use evenkeel::policy::{Look, together::is_trial};
/// assert!(is_trial(&Look { mean_poll: 30, ..Look::default() }));
/// assert!(!is_trial(&Look { mean_poll: 5_000, ..Look::default() }));
/// ```
#[must_use]
pub fn is_trial(victim: &Look) -> bool {
    victim.mean_poll < QUICK
}

/// Whether a queue stays together at the time `now` that a trial has marked `until` a later one: for as long as its polls
/// are quick.
///
/// # Examples
/// ```
/// use evenkeel::policy::together::holds;
/// assert!(holds(5_000, 10_000, 30));
/// assert!(!holds(15_000, 10_000, 30));
/// assert!(!holds(5_000, 10_000, 20_000), "other tasks have come");
/// ```
#[must_use]
pub fn holds(now: u64, until: u64, mean_poll: u64) -> bool {
    now < until && mean_poll < QUICK
}

/// Whether a split pays: whether two processors with polls of `own` and `others` nanoseconds make at least nine tenths
/// of the polls that one made with `before`. The tenth is for noise, in favour of using a core that is there. Polls that are
/// not [`QUICK`] any more are other polls than those before, and prove nothing against the split.
///
/// # Examples
/// ```
/// use evenkeel::policy::together::pays;
/// assert!(pays(30, 30, 30));
/// assert!(pays(30, 60, 60));
/// assert!(!pays(30, 120, 110));
/// assert!(pays(30, 120, 20_000));
/// ```
#[must_use]
pub fn pays(before: u64, own: u64, others: u64) -> bool {
    if own.max(others) >= QUICK {
        return true;
    }
    // Rates in polls per millisecond.
    let rate = |poll: u64| 1_000_000 / poll.max(1);
    10 * (rate(own) + rate(others)) >= 9 * rate(before)
}

/// How long a queue stays together after so many trials in a row that did not pay.
///
/// # Examples
/// ```
/// use evenkeel::policy::together::{FIRST_PAUSE, LONGEST_PAUSE, pause};
/// assert_eq!(pause(1), FIRST_PAUSE);
/// assert_eq!(pause(2), 2 * FIRST_PAUSE);
/// assert_eq!(pause(60), LONGEST_PAUSE);
/// ```
#[must_use]
pub fn pause(failures: u32) -> u64 {
    (FIRST_PAUSE << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}
