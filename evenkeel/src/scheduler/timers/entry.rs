//! A timer's node, which lies in the future that waits for it.

#![allow(unsafe_code, reason = "the wheel points to nodes in futures")]

use crate::primitives::atomic::{AtomicPtr, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::task::word_waker::WordWaker;
use std::ptr;
use std::task::Waker;

/// A timer's node.
#[derive(Debug)]
pub(crate) struct Entry {
    /// How far it has come: [`IDLE`], [`FIRED`] or [`ORPHANED`]; or, while it is armed, its waker.
    word: AtomicPtr<()>,
    /// Where it is in the wheel. The lock's while it is armed.
    links: UnsafeCell<Links>,
}

/// Where a node is in the wheel.
#[derive(Debug)]
pub(super) struct Links {
    /// The ring of its slot.
    pub(super) next: *mut Entry,
    pub(super) prev: *mut Entry,
    /// The first tick that is not before the deadline.
    pub(super) tick: u64,
    /// In nanoseconds of the runtime's clock.
    pub(super) deadline: u64,
    /// The number of its slot.
    pub(super) place: usize,
}

/// How far a timer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// In no wheel.
    Idle,
    /// In the wheel.
    Armed,
    /// Its deadline has passed.
    Fired,
    /// Its runtime has ended before.
    Orphaned,
}

const IDLE: usize = 0;
const FIRED: usize = 2;
const ORPHANED: usize = 4;

impl Entry {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let (next, prev) = (ptr::null_mut(), ptr::null_mut());
        Self {
            word: AtomicPtr::new(word_of(IDLE)),
            links: UnsafeCell::new(Links { next, prev, tick: 0, deadline: 0, place: 0 }),
        }
    }

    /// How far it has come. With *fired* comes what whoever fired it did before.
    #[inline(always)]
    pub(crate) fn progress(&self) -> Progress {
        match self.word.load(edge(Edge::TimerSeen, Ordering::Acquire)).addr() {
            IDLE => Progress::Idle,
            FIRED => Progress::Fired,
            ORPHANED => Progress::Orphaned,
            _ => Progress::Armed,
        }
    }

    /// Whether the timer, if it is armed, wakes the task of evenkeel whose waker this is: a
    /// comparison of addresses, without the lock.
    #[inline(always)]
    pub(crate) fn wakes_task_of(&self, waker: &Waker) -> bool {
        WordWaker::is_of_task(self.word.load(Ordering::Relaxed), waker)
    }

    /// Has the timer, which is in no wheel, begin anew.
    #[inline(always)]
    pub(crate) fn set_idle(&self) {
        self.word.store(word_of(IDLE), Ordering::Relaxed);
    }

    /// Has the timer, which is in no wheel, count as fired.
    #[inline(always)]
    pub(crate) fn set_fired(&self) {
        self.word.store(word_of(FIRED), Ordering::Relaxed);
    }

    /// Leaves a waker: the timer is armed.
    #[inline(always)]
    pub(super) fn leave(&self, waker: WordWaker) {
        self.word.store(waker.into_raw(), Ordering::Relaxed);
    }

    /// Ends the wait and takes the waker. What follows is the future's again.
    ///
    /// # Safety
    /// The timer is armed, and the caller has the lock.
    #[inline(always)]
    pub(super) unsafe fn end(&self, orphaned: bool) -> WordWaker {
        let waker = self.word.load(Ordering::Relaxed);
        let word = word_of(if orphaned { ORPHANED } else { FIRED });
        self.word.store(word, edge(Edge::TimerFire, Ordering::Release));
        // SAFETY: while the timer is armed its word is a waker's, which nobody else has taken.
        unsafe { WordWaker::from_raw(waker) }
    }

    /// Takes the waker of a timer that its own future has taken out of the wheel.
    ///
    /// # Safety
    /// The timer was armed until now, and the caller has the lock.
    #[inline(always)]
    pub(super) unsafe fn take_back(&self) -> WordWaker {
        let waker = self.word.load(Ordering::Relaxed);
        self.set_idle();
        // SAFETY: as above.
        unsafe { WordWaker::from_raw(waker) }
    }

    /// Whether the waker that was left wakes the same as `waker`.
    ///
    /// # Safety
    /// The timer is armed, and the caller has the lock.
    pub(super) unsafe fn has_left(&self, waker: &Waker) -> bool {
        // SAFETY: while the timer is armed, its word is a waker's.
        unsafe { WordWaker::wakes_as(self.word.load(Ordering::Relaxed), waker) }
    }

    /// Leaves another waker and takes the one before.
    ///
    /// # Safety
    /// The timer is armed, and the caller has the lock.
    pub(super) unsafe fn renew(&self, waker: WordWaker) -> WordWaker {
        let before = self.word.load(Ordering::Relaxed);
        self.leave(waker);
        // SAFETY: while the timer is armed its word is a waker's, which has been replaced.
        unsafe { WordWaker::from_raw(before) }
    }

    /// Changes the links.
    ///
    /// # Safety
    /// The caller has the lock of the wheel that the node is in, or the node is in none and the
    /// caller is its future.
    #[inline(always)]
    pub(super) unsafe fn links<R>(&self, f: impl FnOnce(&mut Links) -> R) -> R {
        self.links.with_mut(|links| {
            // SAFETY: the caller's promise.
            f(unsafe { &mut *links })
        })
    }
}

/// A word that is no address.
const fn word_of(progress: usize) -> *mut () {
    ptr::without_provenance_mut(progress)
}
