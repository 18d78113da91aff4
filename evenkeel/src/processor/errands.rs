//! The errands of a runtime that no worker has taken yet, and the workers that are enlisted.
//!
//! `scheduler/errands.rs` has the protocol.

use crate::deque::closures::Closures;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering};
use crate::primitives::{Mutex, fence, lock};

/// A closure that another thread wants a worker to run. It does not panic. If it is dropped before
/// it has run, it tells its sender.
pub(crate) use crate::deque::closures::Closure as Errand;

/// The errands of one runtime.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    pub(crate) queue: Closures,
    /// The number of enlisted workers, and their list.
    pub(crate) listed: AtomicUsize,
    pub(crate) list: Mutex<Vec<usize>>,
}

impl Errands {
    /// Returns whether there are no errands: one load.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the number of errands.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Enlists a worker: it comes for errands while it waits for another runtime.
    pub(crate) fn enlist(&self, worker: usize) {
        let mut list = lock(&self.list);
        list.push(worker);
        self.listed.store(list.len(), Ordering::Relaxed);
        drop(list);
        // It pairs with the sender's fence: the worker sees the errand, or the sender sees the
        // worker in the list.
        fence::full(Edge::IdleSleep);
    }

    /// Removes one entry of the worker from the list. It may have several, from nested waits.
    pub(crate) fn dismiss(&self, worker: usize) {
        let mut list = lock(&self.list);
        if let Some(place) = list.iter().rposition(|&listed| listed == worker) {
            list.remove(place);
        }
        self.listed.store(list.len(), Ordering::Relaxed);
    }
}
