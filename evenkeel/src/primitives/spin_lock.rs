//! A lock for critical sections of a few instructions.
//!
//! # Why not a mutex
//! Releasing a mutex takes a locked instruction, to learn whether a waiter sleeps; releasing this
//! lock is a plain store. A semaphore's operation is 5 ns of work, so that instruction would double
//! it. The price: a thread that finds the lock held burns a few pauses, then yields its core.
//!
//! # Protocol
//! `held` goes from false to true by one `swap` with acquire ordering, and back by one store with
//! release ordering. The thread that saw false, the holder, has exclusive access to the value until
//! it stores false.
//!
//! # Why nothing is lost
//! A waiter looks again for as long as the lock is held, so a release cannot go unnoticed. No
//! critical section runs a caller's code or blocks.

#![allow(unsafe_code, reason = "a lock gives `&mut` from `&`")]

use super::atomic::{AtomicBool, Edge, Ordering, edge};
use super::cell::UnsafeCell;
use super::spin::{Backoff, pause};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The number of pauses for which [`SpinLock::lock_in_turns`] leaves the lock to others: about two
/// microseconds, in which they take it a hundred times. `evenkeel-bench run --bench fanin --workers
/// 2` set it.
const TURN: usize = 200;

/// The number of its looks before it waits as `SpinLock::lock` does, in case the holder has lost
/// its core.
const LOOKS: usize = 16;

/// A value behind a spin lock.
pub struct SpinLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives access to the value to one thread at a time, so sharing the lock only ever
// moves the value between threads.
unsafe impl<T: Send> Send for SpinLock<T> {}
// SAFETY: as above: `&SpinLock<T>` gives `&mut T` to one thread at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    const_unless_model! {
        /// Returns an unlocked lock.
        pub const fn new(value: T) -> Self {
            Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value of a lock that no other thread has.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: the exclusive borrow of the lock rules out another one of the value.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// Takes the lock.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if !self.try_hold() {
            self.lock_contended();
        }
        SpinGuard { lock: self, marker: PhantomData }
    }

    /// Takes the lock, and first leaves it to its holder for a while if it is held: for threads
    /// that take it again and again. The guarded value then stays in one cache for some dozens of
    /// holds, instead of moving between caches for each.
    #[inline(always)]
    pub fn lock_in_turns(&self) -> SpinGuard<'_, T> {
        if !self.try_hold() {
            self.lock_later();
        }
        SpinGuard { lock: self, marker: PhantomData }
    }

    #[cold]
    #[inline(never)]
    fn lock_later(&self) {
        for _ in 0..LOOKS {
            for _ in 0..TURN {
                pause();
            }
            if !self.held.load(Ordering::Relaxed) && self.try_hold() {
                return;
            }
        }
        self.lock_contended();
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        self.try_hold().then(|| SpinGuard { lock: self, marker: PhantomData })
    }

    #[cfg(not(loom))]
    #[inline(always)]
    fn try_hold(&self) -> bool {
        !self.held.swap(true, edge(Edge::SpinLock, Ordering::Acquire))
    }

    /// The same, except that a failed attempt writes nothing: loom leaves that write and the
    /// holder's plain store unordered, and then explores a waiter that reads its own write for
    /// ever.
    #[cfg(loom)]
    fn try_hold(&self) -> bool {
        let order = edge(Edge::SpinLock, Ordering::Acquire);
        self.held.compare_exchange(false, true, order, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_contended(&self) {
        let mut backoff = Backoff::new();
        loop {
            // Looking without writing keeps the line shared while the holder works.
            while self.held.load(Ordering::Relaxed) {
                backoff.snooze();
            }
            if self.try_hold() {
                return;
            }
        }
    }
}

impl<T> fmt::Debug for SpinLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpinLock").finish_non_exhaustive()
    }
}

/// Access to the value for as long as the guard lives.
///
/// Threads may share it if they may share the value:
/// ```compile_fail,E0277
/// # use evenkeel::internal::SpinLock;
/// let lock = SpinLock::new(std::cell::Cell::new(0));
/// let guard = lock.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(|| guard.set(1));
/// });
/// ```
pub struct SpinGuard<'a, T> {
    lock: &'a SpinLock<T>,
    /// It is sent and shared as the exclusive borrow is that it stands for.
    marker: PhantomData<&'a mut T>,
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this thread holds the lock, and the borrow ends before it
        // is released.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` rules out another borrow through this guard.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.held.store(false, edge(Edge::SpinUnlock, Ordering::Release));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn two_threads_exclude_each_other() {
        super::super::mutation::check(&[Edge::SpinLock, Edge::SpinUnlock], || {
            let lock = Arc::new(SpinLock::new(0));
            let other = {
                let lock = lock.clone();
                loom::thread::spawn(move || *lock.lock() += 1)
            };
            *lock.lock() += 1;
            other.join().unwrap();
            assert_eq!(*lock.lock(), 2);
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::SpinLock;

    #[test]
    fn increments_from_many_threads_all_count() {
        let lock = SpinLock::new(0_u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 40_000);
    }
}
