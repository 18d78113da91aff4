//! The wakers that a look collects, and its looker calls without a lock.

use crate::primitives::unwind::wake_all;
use std::task::Waker;

/// Some wakers. Most looks find one: it needs no memory of the allocator.
#[derive(Debug, Default)]
#[must_use = "the operations wait until they are woken"]
pub(crate) struct Woken {
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

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Wakes all. Returns whether there was any.
    pub(crate) fn wake(self) -> bool {
        let is_any = !self.is_empty();
        wake_all(self.first.into_iter().chain(self.others));
        is_any
    }
}
