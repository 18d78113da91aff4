//! Closures that wait for whoever runs them, in the order in which they came.

#![allow(unsafe_code, reason = "a closure may borrow from a frame that waits for it")]

use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use std::collections::VecDeque;
use std::fmt;

/// What is left for somebody to run. It does not panic.
pub(crate) type Closure = Box<dyn FnOnce() + Send>;

/// A queue of closures: first in, first out.
#[derive(Default)]
pub(crate) struct Closures {
    queue: Mutex<VecDeque<Closure>>,
    /// How many there are, for a look without the lock. Changed under it.
    count: AtomicUsize,
}

impl Closures {
    pub(crate) fn push(&self, closure: Closure) {
        let mut queue = lock(&self.queue);
        queue.push_back(closure);
        self.count.store(queue.len(), Ordering::Relaxed);
    }

    /// Takes the oldest. Its caller runs it outside of the lock.
    pub(crate) fn pop(&self) -> Option<Closure> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let closure = queue.pop_front();
        self.count.store(queue.len(), Ordering::Relaxed);
        closure
    }

    /// Whether there are none: one load. Whoever has pushed makes a fence before it relies on
    /// another's look.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting() == 0
    }

    /// How many there are, as [`is_empty`](Self::is_empty) sees it.
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

/// Forgets what a closure borrows.
///
/// # Safety
/// What it borrows is there until the closure has been run or dropped.
pub(crate) unsafe fn erase<'a>(closure: impl FnOnce() + Send + 'a) -> Closure {
    let closure: Box<dyn FnOnce() + Send + 'a> = Box::new(closure);
    // SAFETY: the caller's promise; the two types differ in that lifetime alone.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Closure>(closure) }
}
