//! A timer's node, which lies in the future that waits for it.

#![allow(unsafe_code, reason = "the wheel points to nodes in futures")]

use crate::primitives::atomic::{AtomicPtr, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use std::ptr;
use std::task::Waker;

/// A waker in one word, which a timer keeps while it is armed.
///
/// # Safety
/// The word is an address: not null, and not one of the words of a timer that is not armed.
pub(crate) unsafe trait Word: Sized {
    /// Gives up the waker, as its word.
    fn into_raw(self) -> *mut ();

    /// Takes up the waker of a word.
    ///
    /// # Safety
    /// The word comes from [`into_raw`](Self::into_raw), and is taken up once.
    unsafe fn from_raw(word: *mut ()) -> Self;

    /// Returns whether `word`, which may be any word, is that of a waker of the same evenkeel task
    /// as `waker`.
    fn is_of_task(word: *mut (), waker: &Waker) -> bool;

    /// Returns whether the waker of the word wakes the same task as `waker`.
    ///
    /// # Safety
    /// The word comes from [`into_raw`](Self::into_raw), and is not taken up meanwhile.
    unsafe fn wakes_as(word: *mut (), waker: &Waker) -> bool;

    /// Wakes. Panics of a waker are contained.
    fn wake(self);
}

/// A timer's node.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The state: [`IDLE`], [`FIRED`] or [`ORPHANED`]; or, while the timer is armed, its waker.
    word: AtomicPtr<()>,
    /// The node's place in the wheel. Guarded by the wheel's lock while the timer is armed.
    links: UnsafeCell<Links>,
}

/// The place of a node in the wheel.
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
        let (next, prev) = (ptr::null_mut(), ptr::null_mut());
        Self {
            word: AtomicPtr::new(word_of(IDLE)),
            links: UnsafeCell::new(Links { next, prev, tick: 0, deadline: 0, place: 0 }),
        }
    }

    /// Returns the state. A caller that reads *fired* sees everything that the firing thread did
    /// before.
    #[inline(always)]
    pub(crate) fn progress(&self) -> Progress {
        match self.word.load(edge(Edge::TimerSeen, Ordering::Acquire)).addr() {
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
        W::is_of_task(self.word.load(Ordering::Relaxed), waker)
    }

    /// Makes the timer, which is in no wheel, idle again.
    #[inline(always)]
    pub(crate) fn set_idle(&self) {
        self.word.store(word_of(IDLE), Ordering::Relaxed);
    }

    /// Marks the timer, which is in no wheel, as fired.
    #[inline(always)]
    pub(crate) fn set_fired(&self) {
        self.word.store(word_of(FIRED), Ordering::Relaxed);
    }

    /// Stores a waker: the timer is armed.
    #[inline(always)]
    pub(super) fn leave(&self, waker: impl Word) {
        self.word.store(waker.into_raw(), Ordering::Relaxed);
    }

    /// Ends the wait and returns the waker's word. After that only the future uses the node.
    ///
    /// # Safety
    /// The timer is armed, and the caller has the lock.
    #[inline(always)]
    pub(super) unsafe fn end(&self, orphaned: bool) -> *mut () {
        let waker = self.word.load(Ordering::Relaxed);
        let word = word_of(if orphaned { ORPHANED } else { FIRED });
        self.word.store(word, edge(Edge::TimerFire, Ordering::Release));
        waker
    }

    /// Takes the waker of a timer that its own future has taken out of the wheel.
    ///
    /// # Safety
    /// The timer was armed with a `W` until now, and the caller has the lock.
    #[inline(always)]
    pub(super) unsafe fn take_back<W: Word>(&self) -> W {
        let waker = self.word.load(Ordering::Relaxed);
        self.set_idle();
        // SAFETY: while the timer is armed, its word is that of its waker, and only the holder of
        // the lock takes it.
        unsafe { W::from_raw(waker) }
    }

    /// Returns whether the stored waker wakes the same task as `waker`.
    ///
    /// # Safety
    /// The timer is armed with a `W`, and the caller has the lock.
    pub(super) unsafe fn has_left<W: Word>(&self, waker: &Waker) -> bool {
        // SAFETY: while the timer is armed, its word is that of a waker.
        unsafe { W::wakes_as(self.word.load(Ordering::Relaxed), waker) }
    }

    /// Stores another waker and returns the former one.
    ///
    /// # Safety
    /// The timer is armed with a `W`, and the caller has the lock.
    pub(super) unsafe fn renew<W: Word>(&self, waker: W) -> W {
        let before = self.word.load(Ordering::Relaxed);
        self.leave(waker);
        // SAFETY: while the timer is armed, its word is that of a waker, and this one has been
        // replaced.
        unsafe { W::from_raw(before) }
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

/// Returns a word that is no address.
const fn word_of(progress: usize) -> *mut () {
    ptr::without_provenance_mut(progress)
}
