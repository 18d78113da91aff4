//! What [parties](super::party) keep across their polls, for callers on other threads.
//!
//! # Roles
//! A party *keeps* something, by an address, when its poll ends and it has a note of it. The
//! *keeper's thread* is that of the party. A *caller* on another thread cannot come to it, perhaps
//! for long, and waits asleep.
//!
//! # Steps
//! 1. *Keep*: at the end of the party's poll its thread enters the address.
//! 2. *Wait*: a caller that has found the thing taken leaves its waker at the address, if that is
//!    entered. If not, the thing is taken for the length of a poll, and the caller looks again
//!    after a turn.
//! 3. *Release*: the thread first lets others to the thing, and then removes the address, and wakes
//!    those that wait.
//!
//! # Why no waiter sleeps for ever
//! Both sides take one lock. A caller whose waker is left before the removal is woken by it. One
//! that comes after it finds no address, and looks again: the lock orders its look behind the step
//! that has let others to the thing.
//!
//! # Cost
//! While parties keep nothing, which is nearly always, a caller and a release load one counter that
//! no thread writes.

use crate::primitives::unwind::contain;
use std::collections::BTreeMap;
// No thread waits for anything under the lock, so models need not explore it.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

type Kept = BTreeMap<usize, Vec<Waker>>;

static KEPT: Mutex<Kept> = Mutex::new(BTreeMap::new());

/// The number of addresses. A caller that reads an old one looks again after a turn.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn lock() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Enters an address, if it is not there.
#[cold]
pub(super) fn keep(address: usize) {
    let mut kept = lock();
    kept.entry(address).or_default();
    COUNT.store(kept.len(), Ordering::Relaxed);
}

/// Removes an address, if it is there, and wakes the callers. What is at the address is free by
/// now, or will never be.
#[inline]
pub(crate) fn release(address: usize) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        release_entered(address);
    }
}

#[cold]
fn release_entered(address: usize) {
    let waiters = {
        let mut kept = lock();
        let waiters = kept.remove(&address);
        COUNT.store(kept.len(), Ordering::Relaxed);
        waiters
    };
    for waker in waiters.into_iter().flatten() {
        // One that panics does not keep the others asleep.
        let _ = contain(|| waker.wake());
    }
}

/// Has `waker` woken when the address is removed. Returns false if it is not there.
#[inline]
pub(crate) fn wait(address: usize, waker: &Waker) -> bool {
    COUNT.load(Ordering::Relaxed) > 0 && wait_for_entered(address, waker)
}

#[cold]
fn wait_for_entered(address: usize, waker: &Waker) -> bool {
    // It may be a caller's own, whose clone and drop do anything.
    let mut waker = Some(waker.clone());
    let mut kept = lock();
    let Some(waiters) = kept.get_mut(&address) else { return false };
    let is_there = |last: &Waker| waker.as_ref().is_some_and(|own| last.will_wake(own));
    if !waiters.iter().any(is_there) {
        waiters.extend(waker.take());
    }
    drop(kept);
    true
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_release_wakes_each_waiter_once_and_none_waits_after_it() {
        let [a, b] = [(); 2].map(|()| Arc::new(Count(AtomicUsize::new(0))));
        let place = 0_u64;
        let address = std::ptr::from_ref(&place).addr();
        assert!(!wait(address, &Waker::from(a.clone())));
        keep(address);
        keep(address);
        for _ in 0..2 {
            assert!(wait(address, &Waker::from(a.clone())));
            assert!(wait(address, &Waker::from(b.clone())));
        }
        release(address);
        assert_eq!([&a, &b].map(|count| count.0.load(Ordering::Relaxed)), [1, 1]);
        assert!(!wait(address, &Waker::from(a.clone())));
        release(address);
        assert_eq!(Arc::strong_count(&a), 1, "no waker is left");
    }
}
