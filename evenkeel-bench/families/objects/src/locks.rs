//! Objects without homes: each behind some lock, or without one.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use dashmap::DashMap;
use parking_lot::RwLock;
use spin::mutex::SpinMutex;

use super::party::Party;
use super::work::{Cache, Choice, Counters, Done, Held, Kind, PairWork, Work};

/// Objects that threads share, and that tasks enter without homes.
pub(super) trait Shared<K: Kind>: Send + Sync + Sized {
    fn new(kind: K, objects: usize) -> Self;

    /// Makes the next operation of a party; `None` when the run is over.
    fn operate(&self, kind: K, party: &mut Party) -> Option<Done>;

    /// The contents of all objects together.
    fn held(&self, kind: K) -> Held;
}

/// A lock around a value.
pub(super) trait Lock<T>: Send + Sync {
    fn new(value: T) -> Self;
    fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R;
}

/// Reads the lock until it is free, and then tries to take it (test and test-and-set).
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
        // If a holder panicked, the run fails in any case.
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

/// Each object behind a lock of its own, with its spacing around it.
pub(super) struct Locks<P>(Box<[P]>);

impl<P> Locks<P> {
    fn of<K: Kind>(kind: K, objects: usize) -> Self
    where
        P: From<P::Target> + Deref<Target: Lock<K::Value> + Sized>,
    {
        Self((0..objects).map(|number| P::Target::new(kind.make(number)).into()).collect())
    }

    fn sum<K: Kind>(&self, kind: K) -> Held
    where
        P: Deref<Target: Lock<K::Value>>,
    {
        self.0.iter().map(|lock| lock.with(|value| Held::by(kind, value))).sum()
    }
}

impl<W: Work, P> Shared<W> for Locks<P>
where
    P: From<P::Target> + Deref<Target: Lock<W::Value> + Sized> + Send + Sync,
{
    fn new(work: W, objects: usize) -> Self {
        Self::of(work, objects)
    }

    #[inline]
    fn operate(&self, work: W, party: &mut Party) -> Option<Done> {
        let number = party.next(work)?;
        Some(self.0[number].with(|value| work.operate(value, &mut party.hand)))
    }

    fn held(&self, work: W) -> Held {
        self.sum(work)
    }
}

/// Each object behind a lock that admits several readers.
pub(super) struct RwLocks<P>(Box<[P]>);

impl<W: Work, P> Shared<W> for RwLocks<P>
where
    P: From<RwLock<W::Value>> + Deref<Target = RwLock<W::Value>> + Send + Sync,
{
    fn new(work: W, objects: usize) -> Self {
        Self((0..objects).map(|number| RwLock::new(work.make(number)).into()).collect())
    }

    #[inline]
    fn operate(&self, work: W, party: &mut Party) -> Option<Done> {
        let lock = &self.0[party.next(work)?];
        Some(match work.look(&party.hand) {
            Some(look) => look(work, &lock.read(), &mut party.hand),
            None => work.operate(&mut lock.write(), &mut party.hand),
        })
    }

    fn held(&self, work: W) -> Held {
        self.0.iter().map(|lock| Held::by(work, &lock.read())).sum()
    }
}

/// Each object behind a lock of its own, for operations on two objects: a party locks the smaller
/// number first, so parties never wait in a circle.
pub(super) struct PairLocks<P>(Locks<P>);

impl<W: PairWork, P> Shared<W> for PairLocks<P>
where
    P: From<P::Target> + Deref<Target: Lock<W::Value> + Sized> + Send + Sync,
{
    fn new(work: W, objects: usize) -> Self {
        Self(Locks::of(work, objects))
    }

    #[inline]
    fn operate(&self, work: W, party: &mut Party) -> Option<Done> {
        let (first, second) = party.next_pair(work)?;
        let (low, high) = (&self.0.0[first.min(second)], &self.0.0[first.max(second)]);
        Some(low.with(|low| {
            high.with(|high| match first < second {
                true => work.operate(low, high, &mut party.hand),
                false => work.operate(high, low, &mut party.hand),
            })
        }))
    }

    fn held(&self, work: W) -> Held {
        self.0.sum(work)
    }
}

/// A map that has its own shards, in a number of its choice.
pub(super) struct Dashes(DashMap<u64, u64>);

impl Shared<Cache> for Dashes {
    fn new(cache: Cache, _: usize) -> Self {
        Self((0..cache.keys).map(Cache::first).collect())
    }

    #[inline]
    fn operate(&self, cache: Cache, party: &mut Party) -> Option<Done> {
        party.goes_on()?;
        let (key, writes) = cache.next(&mut party.hand);
        let (key, _) = Cache::first(key);
        Some(match writes {
            true => {
                let found = self.0.get_mut(&key).map(|mut value| *value += 1).is_some();
                Done { added: u64::from(found), right: found }
            }
            false => Done { added: 0, right: self.0.contains_key(&key) },
        })
    }

    fn held(&self, _: Cache) -> Held {
        Held { added: self.0.iter().map(|entry| *entry.value()).sum(), balance: 0 }
    }
}

/// Counters that need no lock.
pub(super) struct Atomics(Box<[CachePadded<AtomicU64>]>);

impl<C: Choice> Shared<Counters<C>> for Atomics {
    fn new(_: Counters<C>, objects: usize) -> Self {
        Self((0..objects).map(|_| CachePadded::default()).collect())
    }

    #[inline]
    fn operate(&self, counters: Counters<C>, party: &mut Party) -> Option<Done> {
        self.0[party.next(counters)?].fetch_add(1, Ordering::Relaxed);
        Some(Done { added: 1, right: true })
    }

    fn held(&self, counters: Counters<C>) -> Held {
        let values = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        values.map(|value| Held::by(counters, &value)).sum()
    }
}
