//! How a run learns that its last actor is done, and when that was.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use tokio::sync::Notify;

/// Counts down; the last one stops the clock. One task waits for it, on whatever runtime.
pub(crate) struct Finish {
    left: CachePadded<AtomicUsize>,
    at: OnceLock<Instant>,
    over: Notify,
}

impl Finish {
    /// So many are to come.
    pub(crate) fn of(left: usize) -> Finish {
        let left = CachePadded::new(AtomicUsize::new(left));
        Finish { left, at: OnceLock::new(), over: Notify::new() }
    }

    /// One is done. What it did before is seen by whoever has waited.
    pub(crate) fn one(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.at.get_or_init(Instant::now);
            // The permit stays if nobody waits yet.
            self.over.notify_one();
        }
    }

    /// Waits for the last one. Gives the time at which it came.
    pub(crate) async fn wait(&self) -> Instant {
        loop {
            if let Some(&at) = self.at.get() {
                return at;
            }
            self.over.notified().await;
        }
    }
}
