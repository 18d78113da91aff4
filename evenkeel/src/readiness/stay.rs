//! Where a source is, and where its operations wait: when it is worth a move.

use crate::policy::readiness;
use crate::primitives::atomic::{AtomicU32, Ordering};

/// The part of `elsewhere` that counts.
const COUNT: u32 = (1 << 8) - 1;

#[derive(Debug, Default)]
pub(super) struct Stay {
    /// The processor in whose set the source is.
    home: AtomicU32,
    /// The processor of the last wait that was not at home, plus one, and below it the number of
    /// waits there in a row; zero after a wait at home. Two operations that wait at the same time
    /// may lose one of two counts.
    elsewhere: AtomicU32,
}

impl Stay {
    pub(super) fn begin(&self, home: usize) {
        self.home.store(home as u32, Ordering::Relaxed);
    }

    /// Counts a wait after which processor `to` had better look. Returns the processor in whose set
    /// the source is, if it is to move to that of `to`.
    #[inline]
    pub(super) fn wait_for(&self, to: usize) -> Option<usize> {
        let home = self.home.load(Ordering::Relaxed) as usize;
        let last = self.elsewhere.load(Ordering::Relaxed);
        if home == to {
            if last != 0 {
                self.elsewhere.store(0, Ordering::Relaxed);
            }
            return None;
        }
        let here = (to as u32 + 1) * (COUNT + 1);
        let waits = if last & !COUNT == here { (last & COUNT) + 1 } else { 1 };
        let is_worth_moving = readiness::is_worth_moving(waits.into());
        let next = if is_worth_moving { 0 } else { here + waits };
        self.elsewhere.store(next, Ordering::Relaxed);
        is_worth_moving.then_some(home)
    }
}
