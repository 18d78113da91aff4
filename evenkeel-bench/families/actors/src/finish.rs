//! How a run learns that its last actor has finished, and when.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use tokio::sync::Notify;

/// Counts actors down; the last one stops the clock. One task waits for it, on any runtime.
pub(crate) struct Finish {
    left: CachePadded<AtomicUsize>,
    at: OnceLock<Instant>,
    over: Notify,
}

impl Finish {
    /// Makes the countdown of `left` actors.
    pub(crate) fn of(left: usize) -> Finish {
        let left = CachePadded::new(AtomicUsize::new(left));
        Finish { left, at: OnceLock::new(), over: Notify::new() }
    }

    /// Counts one actor as finished. The waiting task sees what the actor did before.
    pub(crate) fn one(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.at.get_or_init(Instant::now);
            // If no task waits yet, the permit stays.
            self.over.notify_one();
        }
    }

    /// Waits for the last actor, and returns the time of its end.
    pub(crate) async fn wait(&self) -> Instant {
        loop {
            if let Some(&at) = self.at.get() {
                return at;
            }
            self.over.notified().await;
        }
    }
}
