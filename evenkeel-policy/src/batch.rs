//! How many polls a processor makes between two looks round.
//!
//! At the end of a batch a processor reads the clock, empties its inbox, and looks at the sleepers
//! and, if it is [time](super::helping::Looks), at one other processor. A batch is meant to last
//! [`BATCH`], however long a poll lasts.
//!
//! # Rejected
//! Several polls in a batch where sockets wake no tasks, or where there are many processors: there
//! are fewer looks round. With up to four while they last for 16 µs, of 256 simulated processors,
//! of which 83 are stuck, a task waits for 4.1 ms beyond its share, where the bound is 3.2 (`cargo
//! test -p evenkeel-sim --test promise stuck`).

use super::helping::ROUND;

/// How long a batch is meant to last. The work at its end costs 50 to 100 ns, 1 to 2 % of this;
/// `evenkeel-bench run --bench yield` and `--bench transfer` set it.
pub const BATCH: u64 = 4_000;

/// The most polls in a batch: after a few quick polls, a batch of slow ones still ends. An
/// estimate; no benchmark sets it.
pub const MOST_POLLS: u32 = 256;

/// The same for a few polls of some microseconds, where [sockets wake the
/// tasks](super::Look::serves). Such tasks are left to their processor for longer anyway, and it
/// looks at its sockets [more rarely](super::readiness::LOOK). `evenkeel-bench run --bench
/// echo,http` shows what it is for; the length is an estimate, and was not measured on its own.
pub const SERVING: u64 = 8 * BATCH;

/// The polls of such a batch, which then costs each of them a quarter of its end. An estimate; no
/// benchmark sets it.
const FEW: u64 = 4;

/// Returns how long a batch of a few polls is meant to last on a processor with this many `others`:
/// no longer than until it looks at the next one.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::{BATCH, SERVING, span};
/// assert_eq!(span(false, 1), BATCH);
/// assert_eq!(span(true, 1), SERVING);
/// assert_eq!(span(true, 255), BATCH);
/// ```
#[inline]
#[must_use]
pub fn span(serves: bool, others: usize) -> u64 {
    if serves { (ROUND / others.max(1) as u64).clamp(BATCH, SERVING) } else { BATCH }
}

/// Returns the average work in a task: the mean time of a poll times the recent polls per completed
/// task.
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

/// A batch that lasts for two of its [spans](span()) makes one later batch have a single poll for
/// each `CAUTION` nanoseconds that it lasted. The work at the ends of those batches is 1 % of that
/// time. An estimate from that of [`BATCH`]; `evenkeel-bench run --bench timers --variant long
/// --procs 1` shows its purpose.
const CAUTION: u64 = 2 * BATCH;

/// The most batches of a single poll after a long batch: those for one of 8 ms. No task of a
/// runtime should take longer. An estimate; no benchmark sets it.
const MOST_CAUTION: u64 = 1_000;

/// Returns how many of the next batches have a single poll, after a batch that has lasted for
/// `elapsed` and was meant to last for `span`. Before that batch it was `caution`.
///
/// The average does not show a single long poll among many short ones. A task with long polls that
/// is ready again at once would be polled many times in a batch sized for short polls. Timers and
/// other tasks would wait.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::{BATCH, SERVING, caution};
/// assert_eq!(caution(0, BATCH, BATCH), 0, "as long as it is meant to be");
/// assert_eq!(caution(0, 2_000_000, BATCH), 250);
/// assert_eq!(caution(250, BATCH, BATCH), 249);
/// assert_eq!(caution(0, 2 * SERVING - 1, SERVING), 0);
/// assert_eq!(caution(0, 2_000_000, SERVING), 250);
/// ```
#[inline]
#[must_use]
pub fn caution(caution: u32, elapsed: u64, span: u64) -> u32 {
    let is_long = elapsed >= span.saturating_mul(2);
    let fresh = if is_long { (elapsed / CAUTION).min(MOST_CAUTION) as u32 } else { 0 };
    caution.saturating_sub(1).max(fresh)
}

/// Returns the number of polls of the next batch, by the average time of a poll and the
/// [span] of a batch of a few.
///
/// # Examples
/// ```
/// use evenkeel_policy::batch::{BATCH, MOST_POLLS, SERVING, polls};
/// assert_eq!(polls(10, BATCH), MOST_POLLS);
/// assert_eq!(polls(1_000, BATCH), 4);
/// assert_eq!(polls(1_000_000, BATCH), 1);
/// assert_eq!(polls(8_000, SERVING), 4);
/// assert_eq!(polls(1_000, SERVING), 4);
/// ```
#[inline]
#[must_use]
pub fn polls(mean_poll: u64, span: u64) -> u32 {
    let mean = mean_poll.max(1);
    let polls = (BATCH / mean).max((span / mean).min(FEW));
    u32::try_from(polls).unwrap_or(MOST_POLLS).clamp(1, MOST_POLLS)
}
