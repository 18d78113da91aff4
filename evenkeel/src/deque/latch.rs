//! The latch on which the owner of a stolen job waits. It lies in the job's
//! [`Slot`](super::slot::Slot).
//!
//! # Roles
//! The *owner* of the job, and the *thief* that runs it.
//!
//! # States
//! *Pending*; *taken*, with the thief's number; *asleep*: taken, with an owner that is parked or
//! about to park; *complete*.
//!
//! # Why nothing is lost
//! The thief alone makes the latch *taken* and *complete*. The owner alone makes it *asleep*, from
//! *taken* only, by a compare-and-swap. The thief sets *complete* by a swap, which returns whether
//! the owner sleeps. The swap releases and the owner's look acquires, so the owner sees the result
//! that was written before. After the swap the thief does not touch the job: the owner makes the
//! latch *pending* again, for the next job of the slot.

use crate::primitives::atomic::{AtomicU32, Edge, Ordering, edge};

/// *Taken* is the thief's number plus one.
const PENDING: u32 = 0;
const ASLEEP: u32 = 1 << 30;
const COMPLETE: u32 = 1 << 31;

#[derive(Debug)]
pub(crate) struct Latch(AtomicU32);

impl Latch {
    /// Returns a pending latch.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(PENDING))
    }

    /// Makes the latch pending again. The caller is the owner, which has seen that the job is
    /// complete.
    pub(crate) fn reset(&self) {
        self.0.store(PENDING, Ordering::Relaxed);
    }

    /// Marks the job as taken by `thief`, the caller.
    pub(crate) fn take(&self, thief: usize) {
        // Release ordering: the owner looks at the thief's deque by this number. The thief may be a
        // spare that has just made its processor.
        self.0.store(thief as u32 + 1, edge(Edge::LatchTake, Ordering::Release));
    }

    /// Returns the number of the thief, once it is known.
    pub(crate) fn thief(&self) -> Option<usize> {
        let word = self.0.load(edge(Edge::LatchThief, Ordering::Acquire));
        let taken = word & !(ASLEEP | COMPLETE);
        taken.checked_sub(1).map(|thief| thief as usize)
    }

    /// Marks the job as complete. The caller is the thief. Returns true if it has to unpark the
    /// owner.
    pub(crate) fn complete(&self) -> bool {
        self.0.swap(COMPLETE, edge(Edge::LatchSet, Ordering::AcqRel)) & ASLEEP != 0
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.0.load(edge(Edge::LatchSeen, Ordering::Acquire)) & COMPLETE != 0
    }

    /// Announces that the owner, the caller, is about to park. Returns false if it must not: the
    /// job is complete, or not yet taken.
    pub(crate) fn fall_asleep(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        word & COMPLETE == 0
            && word != PENDING
            && self
                .0
                .compare_exchange(word, word | ASLEEP, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::deque::Home;
    use crate::primitives::cell::UnsafeCell;
    use crate::primitives::mutation::check;
    use loom::sync::Arc;

    struct Frame {
        latch: Latch,
        result: UnsafeCell<u32>,
        descendants: Home,
    }

    // SAFETY: the model checks that one thread at a time reaches the cell.
    #[allow(unsafe_code, reason = "the model shares a cell")]
    unsafe impl Send for Frame {}
    // SAFETY: as above.
    #[allow(unsafe_code, reason = "the model shares a cell")]
    unsafe impl Sync for Frame {}

    fn frame() -> Arc<Frame> {
        Arc::new(Frame {
            latch: Latch::new(),
            result: UnsafeCell::new(0),
            descendants: Home::new(),
        })
    }

    #[test]
    #[allow(unsafe_code, reason = "the model shares a cell")]
    fn the_owner_wakes_and_sees_the_result() {
        check(&[Edge::LatchSet, Edge::LatchSeen], || {
            let frame = frame();
            let owner = loom::thread::current();
            let thief = {
                let frame = frame.clone();
                loom::thread::spawn(move || {
                    frame.latch.take(3);
                    // SAFETY: the job is not complete, so only the thief accesses the result.
                    frame.result.with_mut(|result| unsafe { *result = 7 });
                    if frame.latch.complete() {
                        owner.unpark();
                    }
                })
            };
            while !frame.latch.is_complete() {
                if frame.latch.fall_asleep() {
                    loom::thread::park();
                } else {
                    loom::thread::yield_now();
                }
            }
            // SAFETY: the job is complete, so only the owner accesses the result.
            frame.result.with(|result| assert_eq!(unsafe { *result }, 7));
            thief.join().unwrap();
        });
    }

    /// The thief completes the job and begins another one, so the jobs it then pushes are no
    /// descendants of the former.
    #[test]
    fn a_waiter_steals_descendants_only() {
        check(&[Edge::DequeLook], || {
            let frame = frame();
            let thief = {
                let frame = frame.clone();
                loom::thread::spawn(move || {
                    let deque = &frame.descendants;
                    deque.change_root();
                    frame.latch.take(0);
                    frame.latch.complete();
                    deque.change_root();
                    deque.push(deque.head());
                    deque.publish();
                })
            };
            let stolen = frame.descendants.steal_while(|| !frame.latch.is_complete());
            assert!(stolen.is_none());
            thief.join().unwrap();
        });
    }
}
