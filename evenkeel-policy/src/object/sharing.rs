//! When all may read an object at once, without counting themselves in it.
//!
//! Such reads cost no locked instruction and take no line from each other, and their first write
//! pays for that: it makes a
//! [heavy fence](https://man7.org/linux/man-pages/man2/membarrier.2.html), which disturbs every
//! core, looks at every worker and waits for the readers. So it pays only where thousands of reads
//! come before the next write. How many come is not known, and those that have come are not
//! counted: the reads of most objects would write one word more each time. Instead one read in
//! [`READS`] lets all others in beside it, of those that are [looked at](super::sample) anyway.
//!
//! The biased lock BRAVO (Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks", USENIX
//! ATC 2019) goes by time instead: readers take its lock for nine times as long as the last writer
//! has waited for them. Objects would need a clock for that, and a word more.

use super::sample::{ONE_IN, mark};

/// Reads, in the mean, after which an object is read by all at once: at 30 ns each a millisecond,
/// beside a heavy fence of 5 to 50 µs. 4,096 lose a tenth of a cache of 16 shards of which one
/// operation in 100 writes (`evenkeel-bench run --bench cache --objects 1,16 --read-percent
/// 95,99,100 --tasks-per-core 16 --runtime in-place,tasks+rwlock`). In shuttle's models each read
/// that is looked at does so.
pub const READS: u32 = if cfg!(shuttle) { ONE_IN } else { 32_768 };

/// Whether the read that a core looks at as its `look`th lets all others in beside it.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sample::ONE_IN;
/// use evenkeel_policy::object::sharing::{READS, is_due};
/// let due = (0..200 * READS / ONE_IN).filter(|look| is_due(*look)).count();
/// assert!((150..250).contains(&due), "one in {READS} reads: {due}");
/// ```
#[must_use]
pub fn is_due(look: u32) -> bool {
    mark(look) <= u32::MAX / (READS / ONE_IN)
}
