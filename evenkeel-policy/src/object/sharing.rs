//! When all may read an object at once.
//!
//! Reads at once cost no locked instruction and no journey, and their first write pays for that: it
//! makes a [heavy fence](https://man7.org/linux/man-pages/man2/membarrier.2.html), looks at every
//! worker and waits for the readers. So an object is to be read by all at once only where many
//! reads come before the next write. How many come is not known, and those that have come are not
//! counted: the reads of most objects would write one word more each time. Instead one read in some
//! lets all others in beside it; of those that are [looked at](super::sample) anyway, at first
//! each. Where that has not paid it is one in twice as many the next time.
//!
//! The biased lock BRAVO (Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks", USENIX
//! ATC 2019) goes by time instead: readers take its lock for nine times as long as the last writer
//! has waited for them. Objects would need a clock for that, and a word more.

use super::sample::{ONE_IN, mark};

/// Reads, in the mean, after which a new object is read by all at once: at 50 ns each what a heavy
/// fence takes. 16 and 256 are no better (`evenkeel-bench run --bench cache,directory --objects
/// 1,16 --read-percent 80,95,99 --tasks-per-core 16 --runtime in-place,automatic`).
pub const READS: u32 = ONE_IN;

/// How often that is doubled at most: an object that is written once in 65,536 reads is tried again
/// and again. With no doubling caches of which one operation in 20 or 100 writes make half, with
/// five a cache of one shard makes three quarters (the command of [`READS`]).
pub const DOUBLINGS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 10 };

/// Whether the read that a core looks at as its `look`th lets others in beside it, of an object for
/// which it has not paid `doubled` times more often than it has.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sharing::is_due;
/// assert!((1..100).all(|look| is_due(look, 0)));
/// let due = (0..1_600).filter(|look| is_due(*look, 4)).count();
/// assert!((90..110).contains(&due), "one in 16: {due}");
/// ```
#[must_use]
pub fn is_due(look: u32, doubled: u32) -> bool {
    mark(look) <= u32::MAX >> doubled
}

/// How often it is doubled from now on, of an object that is written after all have been allowed to
/// read it at once, which has paid if many did.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sharing::{after, DOUBLINGS};
/// assert_eq!((after(0, false), after(DOUBLINGS, false)), (1, DOUBLINGS));
/// assert_eq!((after(1, true), after(0, true)), (0, 0));
/// ```
#[must_use]
pub fn after(doubled: u32, has_paid: bool) -> u32 {
    if has_paid { doubled.saturating_sub(1) } else { (doubled + 1).min(DOUBLINGS) }
}
