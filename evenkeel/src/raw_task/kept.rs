//! What [parties](super::party) keep across their polls, for callers on other threads.
//!
//! # Roles
//! A party *keeps* something, by an address, when its poll ends and it has a note of it. The
//! *keeper* is the thread of the party. A *caller* on another thread cannot come to the thing,
//! perhaps for long, and waits asleep.
//!
//! # Steps
//! 1. *Keep*: at the end of the party's poll the keeper enters the address, with itself, in place
//!    of an earlier keeper that has yet to come to its release.
//! 2. *Wait*: a caller that has found the thing taken leaves its waker at the address, if that is
//!    entered. If not, the thing is taken for the length of a poll, and the caller looks again
//!    after a turn.
//! 3. *Release*: the keeper first lets others to the thing. Then it wakes those that wait, and
//!    removes the address if that is still its own.
//! 4. *Forget*: a thing that ends while it is taken, because what kept it was forgotten, removes
//!    its address, and begins a new *generation* of its part, which is a 64th of all addresses.
//!    Another thing may get the address then, so notes of earlier generations are kept no more. A
//!    caller of what such a note is of looks again after each turn, until the party lets it go.
//!
//! # Why no waiter sleeps for ever
//! All steps for an address take one lock. A caller whose waker is left before a release is woken
//! by it. One that comes after it finds no address, and looks again: the lock orders its look
//! behind the step that has let others to the thing. Or it finds the address of another keeper,
//! which comes to its own release.
//!
//! # Cost
//! While parties keep nothing, which is nearly always, a caller and a release load one counter that
//! no thread writes.

use super::id;
use crate::policy::random::scatter;
use crate::primitives::unwind::wake_all;
use crate::primitives::wakers::{WakerPlace, Wakers};
use std::collections::BTreeMap;
// No thread waits for anything under the lock, so models need not explore it.
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

/// What is kept at an address.
struct Kept {
    /// The number of the keeper's thread.
    keeper: u64,
    waiters: Wakers,
}

/// The addresses that fall to it.
struct Part {
    kept: Mutex<BTreeMap<usize, Kept>>,
    /// The number of addresses. A caller that reads an old one looks again after a turn.
    count: AtomicUsize,
    /// Counts the things that have ended while they were taken.
    generation: AtomicU64,
}

/// The number of parts: what is kept in one keeps callers of few other things. An estimate.
const PARTS: usize = 64;

static ALL: [Part; PARTS] = [const { Part::new() }; PARTS];

impl Part {
    const fn new() -> Self {
        let (count, generation) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { kept: Mutex::new(BTreeMap::new()), count, generation }
    }

    fn of(address: usize) -> &'static Self {
        &ALL[scatter(address as u64) % PARTS]
    }

    fn has_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Kept>> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Wakes those that wait at an address, and removes it if that `is_over` for its keeper.
    #[cold]
    fn end(&self, address: usize, is_over: impl FnOnce(u64) -> bool) {
        let waiters = {
            let mut kept = self.lock();
            let Some(entry) = kept.get_mut(&address) else { return };
            let waiters = entry.waiters.take_all();
            if is_over(entry.keeper) {
                kept.remove(&address);
            }
            self.count.store(kept.len(), Ordering::Relaxed);
            waiters
        };
        wake_all(waiters);
    }
}

/// Returns the present generation, for a note of what is at the address.
#[inline]
pub(super) fn generation(address: usize) -> u64 {
    Part::of(address).generation.load(Ordering::Relaxed)
}

/// Enters an address for this thread, unless the note is of an earlier generation.
#[cold]
pub(super) fn keep(address: usize, noted: u64) {
    let part = Part::of(address);
    let mut kept = part.lock();
    // The end of what lay at the address has changed it under this lock.
    if noted != part.generation.load(Ordering::Relaxed) {
        return;
    }
    let keeper = id::among_threads();
    kept.entry(address).or_insert(Kept { keeper, waiters: Wakers::new() }).keeper = keeper;
    part.count.store(kept.len(), Ordering::Relaxed);
}

/// Follows the step by which this thread, which may keep what is at the address, has let others to
/// it.
#[inline]
pub(crate) fn release(address: usize) {
    let part = Part::of(address);
    if part.has_any() {
        part.end(address, |keeper| keeper == id::among_threads());
    }
}

/// Follows the end of what lies at the address, and is taken: no keeper comes to its release.
#[cold]
pub(crate) fn forget(address: usize) {
    let part = Part::of(address);
    let kept = part.lock();
    part.generation.fetch_add(1, Ordering::Relaxed);
    drop(kept);
    part.end(address, |_| true);
}

/// The waker of a caller at an address. Its drop takes it back.
#[derive(Debug)]
pub(crate) struct Waiter {
    address: usize,
    place: Option<WakerPlace>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut kept = Part::of(self.address).lock();
        let entry = kept.get_mut(&self.address);
        let waker = entry.and_then(|entry| entry.waiters.take(&mut self.place));
        drop(kept);
        // A caller's own, whose drop does anything.
        drop(waker);
    }
}

/// Returns whether something may be kept at the address.
#[inline]
pub(crate) fn may_wait(address: usize) -> bool {
    Part::of(address).has_any()
}

/// Returns whether something is kept at the address.
pub(crate) fn is_kept(address: usize) -> bool {
    let part = Part::of(address);
    part.has_any() && part.lock().contains_key(&address)
}

/// Has `waker` woken at the next release at the address, and leaves it `there`, where the caller's
/// last one is. Returns false if nothing is kept at the address.
#[cold]
pub(crate) fn wait(address: usize, waker: &Waker, there: &mut Option<Waiter>) -> bool {
    // It may be a caller's own, whose clone and drop do anything.
    let waker = waker.clone();
    let last = there.take().filter(|last| last.address == address);
    let mut waiter = last.unwrap_or(Waiter { address, place: None });
    let mut kept = Part::of(address).lock();
    let Some(entry) = kept.get_mut(&address) else {
        drop(kept);
        return false;
    };
    let before = entry.waiters.leave(&mut waiter.place, waker);
    drop(kept);
    *there = Some(waiter);
    drop(before);
    true
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Caller {
        count: Arc<Count>,
        there: Option<Waiter>,
    }

    impl Caller {
        fn new() -> Self {
            Self { count: Arc::new(Count(AtomicUsize::new(0))), there: None }
        }

        fn waits(&mut self, address: usize) -> bool {
            wait(address, &Waker::from(self.count.clone()), &mut self.there)
        }

        fn woken(&self) -> usize {
            self.count.0.load(Ordering::Relaxed)
        }

        fn has_waker(&self) -> bool {
            Arc::strong_count(&self.count) > 1
        }
    }

    #[test]
    fn a_release_wakes_each_waiter_once_and_none_waits_after_it() {
        let (mut one, mut two, mut gone) = (Caller::new(), Caller::new(), Caller::new());
        let place = Box::new(0_u64);
        let address = std::ptr::from_ref(&*place).addr();
        assert!(!one.waits(address));
        keep(address, generation(address));
        keep(address, generation(address));
        for _ in 0..2 {
            assert!(one.waits(address) && two.waits(address) && gone.waits(address));
        }
        gone.there = None;
        assert!(!gone.has_waker(), "its waker went with it");
        release(address);
        assert_eq!([one.woken(), two.woken(), gone.woken()], [1, 1, 0]);
        assert!(!one.waits(address) && !one.has_waker());
        release(address);
    }

    #[test]
    fn the_release_of_an_earlier_keeper_leaves_the_address_to_the_later_one() {
        let mut caller = Caller::new();
        let place = Box::new(0_u64);
        let address = std::ptr::from_ref(&*place).addr();
        keep(address, generation(address));
        thread::spawn(move || keep(address, generation(address))).join().unwrap();
        assert!(caller.waits(address));
        release(address);
        assert_eq!(caller.woken(), 1);
        assert!(caller.waits(address), "the other thread keeps it");
        forget(address);
        assert_eq!(caller.woken(), 2);
        assert!(!caller.waits(address));
    }

    #[test]
    fn a_caller_from_before_a_release_leaves_the_wakers_of_later_ones() {
        let (mut early, mut late) = (Caller::new(), Caller::new());
        let place = Box::new(0_u64);
        let address = std::ptr::from_ref(&*place).addr();
        for caller in [&mut early, &mut late] {
            release(address);
            keep(address, generation(address));
            assert!(caller.waits(address));
        }
        early.there = None;
        release(address);
        assert_eq!([early.woken(), late.woken()], [1, 1]);
    }

    #[test]
    fn a_note_from_before_the_end_of_a_thing_that_was_taken_keeps_nothing() {
        let place = Box::new(0_u64);
        let address = std::ptr::from_ref(&*place).addr();
        let noted = generation(address);
        forget(address);
        keep(address, noted);
        assert!(!Caller::new().waits(address));
    }
}
