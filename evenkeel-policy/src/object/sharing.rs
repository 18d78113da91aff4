//! When all workers may read an object at once without counting themselves in it.
//!
//! Such reads cost no locked instruction and take no line from each other. The next write pays for
//! that: it makes a [heavy fence](https://man7.org/linux/man-pages/man2/membarrier.2.html), which
//! disturbs every core, looks at every worker and waits for the readers. So sharing pays only if
//! thousands of reads come before the next write. The number of reads to come is unknown, and past
//! reads are not counted: each read of most objects would write one word more. Instead one read in
//! [`READS`], of those that are [looked at](super::sample) anyway, lets all other readers in beside
//! it.
//!
//! The biased lock BRAVO (Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks", USENIX
//! ATC 2019) goes by time instead. After a writer has waited for readers, they take its lock for
//! nine times as long. Objects would need a clock for that, and one word more.

use super::sample::{ONE_IN, mark};

/// Reads, on average, before all workers read an object at once. At 30 ns each they take a
/// millisecond, beside a heavy fence of 5 to 50 µs. With 4,096, a cache of 16 shards with one write
/// in 100 operations loses a tenth (`evenkeel-bench run --bench cache --objects 1,16 --read-percent
/// 95,99,100 --tasks-per-core 16 --runtime in-place,tasks+rwlock`). In shuttle's models each read
/// that is looked at lets the others in.
pub const READS: u32 = if cfg!(shuttle) { ONE_IN } else { 32_768 };

/// Returns whether the read that a core looks at as its `look`th lets all other readers in.
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
