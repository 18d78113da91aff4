//! Objects without homes: each behind some lock, or without one.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use spin::mutex::SpinMutex;

use super::work::{Counters, Done, Work};
use suite::kit::random::Random;

/// Objects as threads share them, and tasks that enter them without homes.
pub(super) trait Shared<W: Work>: Send + Sync + Sized {
    fn new(work: W, objects: usize) -> Self;

    /// One operation on one of them.
    fn operate(&self, object: usize, work: W, random: &mut Random) -> Done;

    /// What operations have added to all of them.
    fn total(&self, work: W) -> u64;
}

/// A lock around a value.
pub(super) trait Lock<T>: Send + Sync {
    fn new(value: T) -> Self;
    fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R;
}

/// It looks at the lock until it is free, and then tries to take it (test and test-and-set).
impl<T: Send> Lock<T> for SpinMutex<T> {
    fn new(value: T) -> Self {
        SpinMutex::new(value)
    }

    #[inline]
    fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        operation(&mut self.lock())
    }
}

impl<T: Send> Lock<T> for std::sync::Mutex<T> {
    fn new(value: T) -> Self {
        std::sync::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        // A holder that panicked has failed the run anyway.
        operation(&mut self.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl<T: Send> Lock<T> for parking_lot::Mutex<T> {
    fn new(value: T) -> Self {
        parking_lot::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        operation(&mut self.lock())
    }
}

/// Each object behind a lock of its own, on cache lines of its own.
pub(super) struct Locks<L>(Box<[CachePadded<L>]>);

impl<W: Work, L: Lock<W::Value>> Shared<W> for Locks<L> {
    fn new(work: W, objects: usize) -> Self {
        Self((0..objects).map(|_| CachePadded::new(L::new(work.make()))).collect())
    }

    #[inline]
    fn operate(&self, object: usize, work: W, random: &mut Random) -> Done {
        self.0[object].with(|value| work.operate(value, random))
    }

    fn total(&self, work: W) -> u64 {
        self.0.iter().map(|lock| lock.with(|value| work.total(value))).sum()
    }
}

/// Each object behind a lock that lets those in together that only look.
pub(super) struct RwLocks<T>(Box<[CachePadded<parking_lot::RwLock<T>>]>);

impl<W: Work> Shared<W> for RwLocks<W::Value> {
    fn new(work: W, objects: usize) -> Self {
        let lock = |_| CachePadded::new(parking_lot::RwLock::new(work.make()));
        Self((0..objects).map(lock).collect())
    }

    #[inline]
    fn operate(&self, object: usize, work: W, random: &mut Random) -> Done {
        let lock = &self.0[object];
        match work.look() {
            Some(look) => look(work, &lock.read(), random),
            None => work.operate(&mut lock.write(), random),
        }
    }

    fn total(&self, work: W) -> u64 {
        self.0.iter().map(|lock| work.total(&lock.read())).sum()
    }
}

/// Counters that need no lock.
pub(super) struct Atomics(Box<[CachePadded<AtomicU64>]>);

impl Shared<Counters> for Atomics {
    fn new(_: Counters, objects: usize) -> Self {
        Self((0..objects).map(|_| CachePadded::default()).collect())
    }

    #[inline]
    fn operate(&self, object: usize, _: Counters, _: &mut Random) -> Done {
        self.0[object].fetch_add(1, Ordering::Relaxed);
        Done { added: 1, right: true }
    }

    fn total(&self, _: Counters) -> u64 {
        self.0.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}
