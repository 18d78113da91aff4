//! How many polls a processor makes between two looks at the world.
//!
//! At the end of a batch a processor reads the clock, empties its inbox, looks at one other
//! processor and at the sleepers. A batch is meant to last [`BATCH`], whatever a poll lasts.

/// How long a batch is meant to last. The work at its end costs 50 to 100 ns, 1 to 2 % of this;
/// `evenkeel-bench run --bench yield` and `--bench transfer` set it.
pub const BATCH: u64 = 4_000;

/// The most polls in a batch, so that a few quick polls do not make the next batch of slow ones
/// endless. An estimate; no benchmark sets it.
pub const MOST_POLLS: u32 = 256;

/// The average work in a task: the time of a poll times the polls per completed task, of those made
/// lately.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::work;
/// assert_eq!(work(20, 100, 100), 20, "each task is polled once");
/// assert_eq!(work(20, 10_000, 0), 200_000, "tasks that do not end");
/// ```
#[inline]
#[must_use]
pub fn work(mean_poll: u64, polls: u64, completed: u64) -> u64 {
    mean_poll.saturating_mul(polls / completed.max(1))
}

/// For so many nanoseconds that a batch has lasted, one of the next ones is of a single poll: the
/// work at the ends of these is 1 % of that. An estimate by [`BATCH`]'s; `evenkeel-bench run
/// --bench timers --variant long --procs 1` shows what it is for.
const CAUTION: u64 = 8_000;

/// The most batches of a single poll after a long one: as for 8 ms, which no task of a runtime
/// should take. An estimate; no benchmark sets it.
const MOST_CAUTION: u64 = 1_000;

/// How many of the next batches are to be of a single poll, after one that has lasted for
/// `elapsed`, if it were `caution` before that.
///
/// The average says nothing of a single long poll among many short ones: a task that keeps its
/// processor for long, and is ready again at once, would be polled again and again in a batch that
/// is sized for the others, and timers and others would wait.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::{BATCH, caution};
/// assert_eq!(caution(0, BATCH), 0, "as long as it is meant to be");
/// assert_eq!(caution(0, 2_000_000), 250);
/// assert_eq!(caution(250, BATCH), 249);
/// ```
#[inline]
#[must_use]
pub fn caution(caution: u32, elapsed: u64) -> u32 {
    let fresh = (elapsed / CAUTION).min(MOST_CAUTION) as u32;
    caution.saturating_sub(1).max(fresh)
}

/// The number of polls of the next batch, by the average time of a poll.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::{MOST_POLLS, polls};
/// assert_eq!(polls(10), MOST_POLLS);
/// assert_eq!(polls(1_000), 4);
/// assert_eq!(polls(1_000_000), 1);
/// ```
#[inline]
#[must_use]
pub fn polls(mean_poll: u64) -> u32 {
    let polls = BATCH / mean_poll.max(1);
    u32::try_from(polls).unwrap_or(MOST_POLLS).clamp(1, MOST_POLLS)
}
