//! The errands of a runtime that no worker has taken yet, and the workers that are enlisted.
//!
//! `scheduler/errands.rs` has the protocol.

use crate::deque::closures::Closures;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering};
use crate::primitives::{Mutex, fence, lock};

/// What somebody else wants to be done on a worker. It does not panic; dropped without having been
/// run, it tells whom it concerns.
pub(crate) use crate::deque::closures::Closure as Errand;

/// The errands of one runtime.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    pub(crate) queue: Closures,
    /// How many workers are enlisted, and which.
    pub(crate) listed: AtomicUsize,
    pub(crate) list: Mutex<Vec<usize>>,
}

impl Errands {
    /// Whether there are none: one load.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many there are.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// The worker comes for errands from now on, while it waits for another runtime.
    pub(crate) fn enlist(&self, worker: usize) {
        let mut list = lock(&self.list);
        list.push(worker);
        self.listed.store(list.len(), Ordering::Relaxed);
        drop(list);
        // The counterpart of the sender's: the worker sees the errand, or the sender sees it in the
        // list.
        fence::full(Edge::IdleSleep);
    }

    /// It does so no more. It may be enlisted several times, by waits on top of each other.
    pub(crate) fn dismiss(&self, worker: usize) {
        let mut list = lock(&self.list);
        if let Some(place) = list.iter().rposition(|&listed| listed == worker) {
            list.remove(place);
        }
        self.listed.store(list.len(), Ordering::Relaxed);
    }
}
