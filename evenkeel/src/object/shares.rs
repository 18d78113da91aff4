//! What each worker has done with a class: on lines of its own, which it alone writes.

use crate::primitives::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::scheduler::operations::TURN;
use crossbeam_utils::CachePadded;
use std::fmt;

/// Of so many [turns](TURN) one looks at the clock, which takes longer than a short operation.
/// Measured: an operation on one counter, all of whose operations are at one home, was a fortieth
/// dearer with a look at each turn (`evenkeel-bench run --bench counters --objects 1 --runtime
/// home,automatic`).
const LOOK: u32 = 4;

/// That of each worker, and of the relief.
pub(super) struct Shares(Box<[CachePadded<Share>]>);

/// That of one.
#[derive(Default)]
struct Share {
    /// Operations, in steps of [`TURN`].
    operations: AtomicU64,
    /// How often the class had turned to be entered at homes when the worker last looked at all
    /// operations, so that their objects get theirs.
    turns: AtomicU64,
    /// Turns since the last look at the clock.
    unlooked: AtomicU32,
}

impl Shares {
    /// Those of so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self((0..processors).map(|_| CachePadded::default()).collect())
    }

    /// Operations so far, about.
    pub(super) fn operations(&self) -> u64 {
        self.0.iter().map(|share| share.operations.load(Ordering::Relaxed)).sum()
    }

    /// Counts [`TURN`] operations of processor `me`. True if it is to look at the clock.
    pub(super) fn count(&self, me: usize) -> bool {
        let Some(share) = self.0.get(me) else { return false };
        let count = share.operations.load(Ordering::Relaxed) + u64::from(TURN);
        share.operations.store(count, Ordering::Relaxed);
        let unlooked = (share.unlooked.load(Ordering::Relaxed) + 1) % LOOK;
        share.unlooked.store(unlooked, Ordering::Relaxed);
        unlooked == 0
    }

    /// Whether processor `me` hears for the first time that the class has turned to be entered at
    /// homes so often.
    pub(super) fn hears_of(&self, me: usize, turns: u64) -> bool {
        self.0.get(me).is_some_and(|share| {
            let has_turned = share.turns.load(Ordering::Relaxed) != turns;
            if has_turned {
                share.turns.store(turns, Ordering::Relaxed);
            }
            has_turned
        })
    }
}

impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shares").finish_non_exhaustive()
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
        assert_eq!(shares.operations(), u64::from((10 * LOOK + 1) * TURN));
    }

    #[test]
    fn a_turn_is_heard_of_once_by_each_worker() {
        let shares = Shares::new(2);
        assert!(!shares.hears_of(0, 0));
        assert!(shares.hears_of(0, 1) && !shares.hears_of(0, 1));
        assert!(shares.hears_of(1, 1) && !shares.hears_of(2, 1));
    }
}
