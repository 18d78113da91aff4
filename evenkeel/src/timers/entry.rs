//! A timer's node, which lies in the future that waits for it.

#![allow(unsafe_code, reason = "the wheel points to nodes in futures")]

use crate::primitives::cell::UnsafeCell;
use crate::primitives::list::{Link, Linked};
use crate::primitives::wait_word::{WaitWord, Word};
use std::task::Waker;

/// A timer's node.
pub(crate) struct Entry {
    /// Its [`Progress`].
    pub(super) word: WaitWord,
    link: Link<Self>,
    /// The node's place in the wheel. Guarded by the wheel's lock while the timer is armed.
    place: UnsafeCell<Place>,
}

/// The place of a node in the wheel.
pub(super) struct Place {
    /// The first tick that is not before the deadline.
    pub(super) tick: u64,
    /// In nanoseconds of the runtime's clock.
    pub(super) deadline: u64,
    /// The number of its slot.
    pub(super) slot: usize,
}

// SAFETY: it is the node's only link.
unsafe impl Linked for Entry {
    #[inline(always)]
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

/// The state of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// In no wheel.
    Idle,
    /// In the wheel.
    Armed,
    /// Its deadline has passed.
    Fired,
    /// Its runtime has ended before the deadline.
    Orphaned,
}

const IDLE: usize = 0;
const FIRED: usize = 2;
const ORPHANED: usize = 4;

impl Entry {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let place = UnsafeCell::new(Place { tick: 0, deadline: 0, slot: 0 });
        Self { word: WaitWord::new(IDLE), link: Link::new(), place }
    }

    /// Returns the state. A caller that reads *fired* sees everything that the firing thread did
    /// before.
    #[inline(always)]
    pub(crate) fn progress(&self) -> Progress {
        match self.word.mark() {
            IDLE => Progress::Idle,
            FIRED => Progress::Fired,
            ORPHANED => Progress::Orphaned,
            _ => Progress::Armed,
        }
    }

    /// Returns whether the timer, if it is armed, wakes the same evenkeel task as `waker`: a
    /// comparison of addresses, without the lock.
    #[inline(always)]
    pub(crate) fn wakes_task_of<W: Word>(&self, waker: &Waker) -> bool {
        self.word.is_of_task::<W>(waker)
    }

    /// Makes the timer, which is in no wheel, idle again.
    #[inline(always)]
    pub(crate) fn set_idle(&self) {
        self.word.set(IDLE);
    }

    /// Marks the timer, which is in no wheel, as fired.
    #[inline(always)]
    pub(crate) fn set_fired(&self) {
        self.word.set(FIRED);
    }

    /// Ends the wait and returns the waker's word, which is the caller's. The timer is armed, and
    /// the caller has the lock. After that only the future uses the node.
    #[inline(always)]
    pub(super) fn end(&self, orphaned: bool) -> *mut () {
        self.word.end(if orphaned { ORPHANED } else { FIRED })
    }

    /// Reads or changes the place.
    ///
    /// # Safety
    /// The caller has the lock of the wheel that the node is in, or the node is in none and the
    /// caller is its future.
    #[inline(always)]
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut Place) -> R) -> R {
        self.place.with_mut(|place| {
            // SAFETY: the caller's promise.
            f(unsafe { &mut *place })
        })
    }
}
