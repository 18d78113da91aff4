//! Where a source is, and where its operations wait: when it is worth a move.

use crate::policy::readiness;
use crate::primitives::atomic::{AtomicU32, Ordering};

#[derive(Debug, Default)]
pub(super) struct Stay {
    /// The processor in whose set the source is.
    home: AtomicU32,
    /// How much it is [drawn](readiness::drawn) to other sets. Two operations that wait at the same
    /// time may lose one of two counts.
    drawn: AtomicU32,
}

impl Stay {
    pub(super) fn begin(&self, home: usize) {
        self.home.store(home as u32, Ordering::Relaxed);
    }

    /// Returns the processor in whose set the source is.
    #[inline]
    pub(super) fn home(&self) -> usize {
        self.home.load(Ordering::Relaxed) as usize
    }

    /// Counts a wait, for which the set of another processor is better if `elsewhere`. Returns
    /// whether the source is to move there.
    #[inline]
    pub(super) fn wait(&self, elsewhere: bool) -> bool {
        let before = self.drawn.load(Ordering::Relaxed);
        let drawn = readiness::drawn(before, elsewhere);
        let moves = drawn >= readiness::MOVE;
        if drawn != before {
            self.drawn.store(if moves { 0 } else { drawn }, Ordering::Relaxed);
        }
        moves
    }
}
