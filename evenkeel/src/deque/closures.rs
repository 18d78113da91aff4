//! Queues of closures that wait for a worker, in the order in which they came.

#![allow(unsafe_code, reason = "a closure may borrow from a frame that waits for it")]

use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use std::collections::VecDeque;
use std::fmt;

/// A closure that a worker will run. It does not panic.
pub(crate) type Closure = Box<dyn FnOnce() + Send>;

/// A queue of closures: first in, first out.
#[derive(Default)]
pub(crate) struct Closures {
    queue: Mutex<VecDeque<Closure>>,
    /// The number of closures, for a look without the lock. Changed under the lock.
    count: AtomicUsize,
}

impl Closures {
    pub(crate) fn push(&self, closure: Closure) {
        let mut queue = lock(&self.queue);
        queue.push_back(closure);
        self.count.store(queue.len(), Ordering::Relaxed);
    }

    /// Takes the oldest closure. The caller runs it outside of the lock.
    pub(crate) fn pop(&self) -> Option<Closure> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let closure = queue.pop_front();
        self.count.store(queue.len(), Ordering::Relaxed);
        closure
    }

    /// Returns whether the queue is empty: one load. A thread that has pushed makes a fence before
    /// it relies on another thread's look.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting() == 0
    }

    /// Returns the number of closures, as [`is_empty`](Self::is_empty) sees it.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Closures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closures").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Erases the lifetime of a closure's borrows.
///
/// # Safety
/// The borrowed values outlive the run or the drop of the closure.
pub(crate) unsafe fn erase<'a>(closure: impl FnOnce() + Send + 'a) -> Closure {
    let closure: Box<dyn FnOnce() + Send + 'a> = Box::new(closure);
    // SAFETY: the caller's promise; the two types differ in that lifetime alone.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Closure>(closure) }
}
