//! Where the owner of a job that was stolen waits for it. It lies in the job's
//! [`Slot`](super::slot::Slot).
//!
//! # Roles
//! The *owner* of the job, and the *thief* who runs it.
//!
//! # States
//! *Pending*; *taken*, with the thief's number; *asleep*, the same with an owner that is parked or
//! about to be; *complete*.
//!
//! # Why nothing is lost
//! The thief alone makes it *taken* and *complete*, and the owner alone *asleep*, from *taken*
//! only, by a compare-and-swap. *Complete* is set by a swap that tells whether the owner sleeps;
//! the owner sees the result that was written before it, for the swap releases and its own look
//! acquires. After the swap the thief does not touch the job: the owner makes the latch *pending*
//! again, for the next job of the slot.

use crate::primitives::atomic::{AtomicU32, Edge, Ordering, edge};

/// Taken is the thief's number and one.
const PENDING: u32 = 0;
const ASLEEP: u32 = 1 << 30;
const COMPLETE: u32 = 1 << 31;

#[derive(Debug)]
pub(crate) struct Latch(AtomicU32);

impl Latch {
    /// A pending one.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(PENDING))
    }

    /// The owner, who has seen that the job is complete, makes it pending again.
    pub(crate) fn reset(&self) {
        self.0.store(PENDING, Ordering::Relaxed);
    }

    /// The thief says that it has the job.
    pub(crate) fn take(&self, thief: usize) {
        // Released, because the owner looks at the thief's deque by this number.
        self.0.store(thief as u32 + 1, Ordering::Release);
    }

    /// Who has the job, once that is known.
    pub(crate) fn thief(&self) -> Option<usize> {
        let word = self.0.load(Ordering::Acquire);
        let taken = word & !(ASLEEP | COMPLETE);
        taken.checked_sub(1).map(|thief| thief as usize)
    }

    /// The thief says that the job is complete. True if its owner has to be unparked.
    pub(crate) fn complete(&self) -> bool {
        self.0.swap(COMPLETE, edge(Edge::LatchSet, Ordering::AcqRel)) & ASLEEP != 0
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.0.load(edge(Edge::LatchSeen, Ordering::Acquire)) & COMPLETE != 0
    }

    /// The owner says that it is about to park. False if it need not: the job is complete, or not
    /// even taken.
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

    // SAFETY: what the model checks is that one thread at a time reaches the cell.
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
                    // SAFETY: the job is not complete, so the result is the thief's.
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
            // SAFETY: the job is complete, so the result is the owner's.
            frame.result.with(|result| assert_eq!(unsafe { *result }, 7));
            thief.join().unwrap();
        });
    }

    /// The thief completes the job and begins another, whose jobs are no descendants.
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
