//! An event that happens once, and what waits for it.
//!
//! # Roles
//! The *canceller* sets the signal, once, and then wakes. *Waiters* look at it, and leave wakers.
//!
//! # Why no wake-up is lost
//! A waiter that finds the signal unset leaves its waker under the lock, and looks once more before
//! it does so. The canceller sets the signal first, and takes the wakers under the lock afterwards.
//! If the waiter's critical section comes first, the canceller takes its waker. If it comes second,
//! the lock orders it behind the set signal, and the waiter does not wait.
//!
//! A place belongs to its waiter until the canceller has taken all of them. From then on the signal
//! is set, no waiter puts anything, and a place that is removed is not there.

use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
use crate::primitives::slab::Slab;
use crate::primitives::unwind::wake_all;
use crate::primitives::{Mutex, lock};
use std::mem;
use std::task::{Poll, Waker};

/// The signal of one token and its clones.
#[derive(Debug)]
pub(super) struct Signal {
    is_set: AtomicBool,
    /// No waker is cloned, called or dropped with this locked: that may run a caller's code.
    waiters: Mutex<Slab<Waker>>,
}

impl Signal {
    pub(super) fn new(is_set: bool) -> Self {
        Self { is_set: AtomicBool::new(is_set), waiters: Mutex::new(Slab::new()) }
    }

    /// Returns whether the signal is set. If so, the caller sees what the canceller did before.
    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(edge(Edge::TokenSeen, Ordering::Acquire))
    }

    /// Sets the signal. The caller wakes the waiters afterwards.
    pub(super) fn set(&self) {
        self.is_set.store(true, edge(Edge::TokenSet, Ordering::Release));
    }

    /// Wakes the waiters of a signal that is set.
    pub(super) fn wake(&self) {
        debug_assert!(self.is_set(), "a waiter could come afterwards");
        let waiters = lock(&self.waiters).take_all();
        wake_all(waiters);
    }

    /// Waits for the signal: leaves `waker` in the waiter's `place`, which is none at first.
    pub(super) fn poll(&self, place: &mut Option<usize>, waker: &Waker) -> Poll<()> {
        if self.is_set() {
            return Poll::Ready(());
        }
        if let Some(place) = *place
            && let Some(left) = lock(&self.waiters).get_mut(place)
            && left.will_wake(waker)
        {
            // It is still there, so the canceller has yet to take it.
            return Poll::Pending;
        }
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut waker = waker.clone();
        let mut waiters = lock(&self.waiters);
        if self.is_set() {
            return Poll::Ready(());
        }
        match place.and_then(|place| waiters.get_mut(place)) {
            Some(left) => mem::swap(left, &mut waker),
            None => *place = Some(waiters.insert(waker)),
        }
        Poll::Pending
    }

    /// Takes the waker of a waiter that waits no more out of its place.
    pub(super) fn leave(&self, place: usize) {
        let left = lock(&self.waiters).remove(place);
        drop(left);
    }

    /// Returns how many wakers wait.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn waiters(&self) -> usize {
        lock(&self.waiters).len()
    }
}
