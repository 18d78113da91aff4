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

/// The average work in a task: the time of a poll times the polls per completed task, of those made lately.
///
/// # Examples
/// ```
/// use evenkeel::policy::batch::work;
/// assert_eq!(work(20, 100, 100), 20, "each task is polled once");
/// assert_eq!(work(20, 10_000, 0), 200_000, "tasks that do not end");
/// ```
#[must_use]
pub fn work(mean_poll: u64, polls: u64, completed: u64) -> u64 {
    mean_poll.saturating_mul(polls / completed.max(1))
}

/// The number of polls of the next batch, by the average time of a poll.
///
/// # Examples
/// ```
/// use evenkeel::policy::batch::{MOST_POLLS, polls};
/// assert_eq!(polls(10), MOST_POLLS);
/// assert_eq!(polls(1_000), 4);
/// assert_eq!(polls(1_000_000), 1);
/// ```
#[must_use]
pub fn polls(mean_poll: u64) -> u32 {
    let polls = BATCH / mean_poll.max(1);
    u32::try_from(polls).unwrap_or(MOST_POLLS).clamp(1, MOST_POLLS)
}
