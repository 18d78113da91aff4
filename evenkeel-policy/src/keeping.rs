//! For how long a worker keeps tasks whose polls have returned `Pending`: it leaves out the end of
//! the poll, which saves two locked instructions if the same worker wakes the task.

/// The places for kept tasks of one worker, a power of two: 16 KiB. With more tasks than places, a
/// task is rarely woken before its place is wanted; `evenkeel-bench run --bench cycle` has 500
/// tasks.
pub const PLACES: usize = 1_024;

/// The time after which the worker looks at all tasks that it keeps: those that a thread has woken
/// which took them for polled wait for no longer. The look costs 1 µs, a batch 4. An estimate from
/// these two costs; no benchmark sets it.
pub const PERIOD: u64 = 256_000;

/// The shortest and the longest pause of a worker that has kept tasks in vain, or has run out of
/// work: pauses double. A trial costs some 10 ns for each task that it keeps, so the longest makes
/// trials a thousandth of the time. Estimates; no benchmark sets them.
pub const PAUSE: (u64, u64) = (PERIOD, 64 * PERIOD);

/// The fewest ready tasks of a worker that keeps tasks beside other workers. Workers of
/// `evenkeel-bench run --bench locality --procs 2` have one or two, and take a quarter longer if
/// they keep tasks.
const FEWEST: usize = 8;

/// Returns whether a worker with this number of `ready` tasks keeps others, as one of `workers`.
///
/// A kept task that another worker wakes comes back to its keeper. So that worker has one task less
/// than if it had found the task idle. While there are few, it runs out of work.
///
/// # Examples
/// ```
/// use evenkeel_policy::keeping::may_keep;
/// assert!(may_keep(1, 1));
/// assert!(!may_keep(0, 1), "it is about to run out of work");
/// assert!(!may_keep(1, 2));
/// assert!(may_keep(20, 2));
/// ```
#[inline]
#[must_use]
pub fn may_keep(ready: usize, workers: usize) -> bool {
    ready >= if workers == 1 { 1 } else { FEWEST }
}

/// What a worker has done in one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// How long it was.
    pub length: u64,
    /// Its polls.
    pub polls: u64,
    /// The kept tasks that it has woken itself.
    pub woken: u64,
    /// The kept tasks whose polls it has had to end: other threads have woken them, or none for
    /// long.
    pub ended: u64,
}

/// The fewest tasks that a worker wakes itself in a useful period, or as many for its length if it
/// ends early: what they save, 15 ns each, pays for the look at all places. An estimate; no
/// benchmark sets it.
const LEAST_WOKEN: u64 = PLACES as u64 / 8;

/// Returns for how long a worker keeps no tasks, after this period. The last pause was `pause`.
///
/// A task that is kept in vain, or that finds its place taken, costs more than one whose poll has
/// ended at once.
///
/// # Examples
/// ```
/// use evenkeel_policy::keeping::{PAUSE, PERIOD, Period, pause};
/// let useful = Period { length: PERIOD, polls: 10_000, woken: 9_600, ended: 400 };
/// assert_eq!(pause(PAUSE.0, useful), 0, "the worker goes on");
/// let in_vain = Period { ended: 9_600, ..useful };
/// assert_eq!(pause(0, in_vain), PAUSE.0);
/// assert_eq!(pause(PAUSE.0, in_vain), 2 * PAUSE.0);
/// assert_eq!(pause(PAUSE.1, in_vain), PAUSE.1);
/// let too_many_tasks = Period { woken: 700, ended: 200, ..useful };
/// assert_eq!(pause(0, too_many_tasks), PAUSE.0);
/// let long_polls = Period { polls: 25, woken: 25, ended: 0, ..useful };
/// assert_eq!(pause(0, long_polls), PAUSE.0);
/// let short = Period { length: PERIOD / 8, ..long_polls };
/// assert_eq!(pause(0, short), 0, "it has run out of tasks");
/// ```
#[inline]
#[must_use]
pub fn pause(pause: u64, Period { length, polls, woken, ended }: Period) -> u64 {
    let least = LEAST_WOKEN.saturating_mul(length.min(PERIOD)) / PERIOD;
    let is_useful = woken >= least.max(polls / 4) && woken >= ended.saturating_mul(2);
    if is_useful { 0 } else { (pause * 2).clamp(PAUSE.0, PAUSE.1) }
}
