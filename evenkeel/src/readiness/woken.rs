//! The wakers that a look collects, and calls without a lock.

use crate::primitives::unwind;
use std::task::Waker;

/// Some wakers. Most looks find one: it needs no memory of the allocator.
#[derive(Debug, Default)]
pub(super) struct Woken {
    first: Option<Waker>,
    others: Vec<Waker>,
}

impl Woken {
    pub(super) fn push(&mut self, waker: Waker) {
        match &self.first {
            None => self.first = Some(waker),
            Some(_) => self.others.push(waker),
        }
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Wakes all. Returns whether there was any.
    pub(super) fn wake(self) -> bool {
        let is_any = self.first.is_some();
        for waker in self.first.into_iter().chain(self.others) {
            // A foreign waker that panics must not unwind the worker.
            unwind::contain(|| waker.wake());
        }
        is_any
    }
}
