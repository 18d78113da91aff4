//! The operations of each worker on a class, counted on lines that only that worker writes.

use crate::policy::object::sample::ONE_IN;
use crate::primitives::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// Of `LOOK` operations that are [looked at](ONE_IN), one reads the clock, which takes longer than
/// a short operation. Measured: an operation on one counter, with all operations at one home, was a
/// fortieth dearer with a look at each turn (`evenkeel-bench run --bench counters --objects 1
/// --runtime home,automatic`).
const LOOK: u32 = 4;

/// The share of each worker, and reliefs have none: operations, in steps of [`ONE_IN`].
#[derive(Debug)]
pub(super) struct Shares(Box<[CachePadded<AtomicU64>]>);

impl Shares {
    /// Makes the shares of `processors` processors.
    pub(super) fn new(processors: usize) -> Self {
        Self((0..processors).map(|_| CachePadded::default()).collect())
    }

    /// Returns the operations so far, about.
    pub(super) fn operations(&self) -> u64 {
        self.0.iter().map(|share| share.load(Ordering::Relaxed)).sum()
    }

    /// Counts [`ONE_IN`] operations of processor `me`. True if the processor is to read the clock.
    pub(super) fn count(&self, me: usize) -> bool {
        let Some(share) = self.0.get(me) else { return false };
        let count = share.load(Ordering::Relaxed) + u64::from(ONE_IN);
        share.store(count, Ordering::Relaxed);
        count.is_multiple_of(u64::from(LOOK * ONE_IN))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_worker_counts_for_itself_and_looks_at_the_clock_now_and_then() {
        let shares = Shares::new(2);
        let looks = (0..10 * LOOK).filter(|_| shares.count(0)).count();
        assert_eq!(looks, 10);
        assert!(!shares.count(1) && !shares.count(2), "there is no third one");
        assert_eq!(shares.operations(), u64::from((10 * LOOK + 1) * ONE_IN));
    }
}
