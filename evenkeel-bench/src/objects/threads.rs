//! The modes without tasks: a pinned thread per core, which enters objects by some lock, or without one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crossbeam_utils::CachePadded;
use spin::mutex::SpinMutex;

use super::party::{Choice, Party, Tally};
use super::run::Finished;
use super::score::Score;
use super::work::{Counters, Done, Work};
use crate::affinity;
use crate::runtime::Lost;
use crate::workload::Fault;
use crate::workload::random::Random;

/// Objects as threads share them.
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
        // Whoever panicked has failed the run anyway.
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

/// Runs as many threads, each on a core of its own as long as there are so many.
pub(super) fn run<W: Work, S: Shared<W>>(
    work: W,
    workers: usize,
    objects: usize,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let cores = affinity::cores();
    let shared = S::new(work, objects);
    let go = |number: usize| -> Tally {
        affinity::settle_on(cores[number % cores.len()]);
        let mut party = Party::new(score, Choice::Random, seed, number);
        while let Some(object) = party.next() {
            let done = shared.operate(object, work, &mut party.random);
            party.count(done);
        }
        party.into_tally()
    };
    let go = &go;
    let (performance, tallies) = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|number| scope.spawn(move || go(number))).collect();
        let performance = score.conduct(|| 0);
        let tallies: Result<Vec<Tally>, Fault> =
            threads.into_iter().map(|thread| thread.join().map_err(|_| panicked())).collect();
        (performance, tallies)
    });
    Ok(Finished { performance, tallies: tallies?, total: shared.total(work), homes: None })
}

fn panicked() -> Fault {
    Fault::Lost(Lost("a thread panicked".to_owned()))
}
