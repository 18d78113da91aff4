//! How long a poll may go on with operations that are always ready.
//!
//! A primitive that can complete without a wait counts its operations. After some of them it reads
//! the clock, and at the end of the poll's slice it has the task yield. The number of operations
//! between two looks adapts to their duration, so that a look costs little beside them, and a slice
//! of long operations is not much too long.

use crate::interleaving::{among, bits};

/// How long a poll may go on with operations that do not wait: a dozen batches, so that the cost of
/// a switch disappears, and half of [`OVERDUE`](crate::timing::OVERDUE), so that the other workers
/// need not fire the timers of this one. An estimate; no benchmark sets it.
pub const SLICE: u64 = 50_000;

/// The operations of a poll where a seed determines the order, which the time must not affect. The
/// number is that of Tokio's budget.
pub const OPERATIONS: u32 = 128;

/// The most operations between two looks at the clock: a look of 25 ns costs each 0.1 ns. An
/// estimate; no benchmark sets it.
pub const MOST: u32 = 256;

/// The refused operations of which one goes on all the same, in the mean. An estimate; no benchmark
/// sets it.
const PASSES: usize = 32;

/// The shortest time between two looks, about: an eighth of the slice, by which a slice is too long
/// at most while the operations last equally long. An estimate; no benchmark sets it.
const BETWEEN: u64 = SLICE / 8;

/// Returns the number of operations until the next look at the clock, if the `granted` operations
/// since the last look have taken `took` and the poll has `left` nanoseconds of its slice: those
/// that fit into half of it. So looks are rare at the beginning of a slice.
///
/// # Examples
/// ```
/// use evenkeel_policy::budget::{MOST, SLICE, grant};
/// assert_eq!(grant(MOST, 1_000, SLICE), MOST, "short operations");
/// assert_eq!(grant(4, 20_000, SLICE), 5, "5 µs each");
/// assert_eq!(grant(4, 20_000, SLICE / 5), 1, "the slice is nearly over");
/// assert_eq!(grant(100, 10_000, 1), 62, "but 100 ns each");
/// assert_eq!(grant(MOST, 10_240_000, SLICE), 1, "40 µs each: a look after each of them");
/// assert_eq!(grant(1, 1_000, SLICE), 2);
/// ```
#[inline]
#[must_use]
pub fn grant(granted: u32, took: u64, left: u64) -> u32 {
    let between = (left / 2).max(BETWEEN);
    let fit = u64::from(granted).saturating_mul(between) / took.max(1);
    u32::try_from(fit).unwrap_or(MOST).clamp(1, granted.saturating_mul(2).clamp(1, MOST))
}

/// Returns how much of its slice a poll has left after `elapsed`.
///
/// # Examples
/// ```
/// use evenkeel_policy::budget::{SLICE, left};
/// assert_eq!(left(1_000), SLICE - 1_000);
/// assert_eq!(left(2 * SLICE), 0);
/// ```
#[inline]
#[must_use]
pub fn left(elapsed: u64) -> u64 {
    SLICE.saturating_sub(elapsed)
}

/// Returns how much of its slice a poll has left where a seed determines the order, if it may make
/// `operations` more of its [`OPERATIONS`].
///
/// # Examples
/// ```
/// use evenkeel_policy::budget::{OPERATIONS, SLICE, left_of};
/// assert_eq!(left_of(OPERATIONS), SLICE);
/// assert_eq!(left_of(OPERATIONS / 2), SLICE / 2);
/// assert_eq!(left_of(0), 0);
/// ```
#[inline]
#[must_use]
pub fn left_of(operations: u32) -> u64 {
    SLICE * u64::from(operations.min(OPERATIONS)) / u64::from(OPERATIONS)
}

/// Returns whether an operation goes on although the slice is over, by its number among the refused
/// ones. A poller that takes no refusal for an end, as a blocking executor inside a task, makes
/// progress that way.
///
/// The numbers are as good as random: of the parts of a task that are refused in turns, each has
/// operations that go on.
///
/// # Examples
/// ```
/// use evenkeel_policy::budget::passes;
/// let passed = (0..3_200).filter(|&refused| passes(refused)).count();
/// assert!((50..150).contains(&passed));
/// ```
#[inline]
#[must_use]
pub fn passes(refused: u32) -> bool {
    among(bits(0, u64::from(refused)), PASSES) == 0
}
