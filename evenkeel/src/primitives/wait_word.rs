//! The word of a wait: where a waiting future leaves its waker, and reads that its wait has ended.
//! Each waiter of a semaphore, a monitor or the wheel of timers has [one](WaitWord).
//!
//! # Roles
//! The *waiter* is a future. It has the word, and leaves a waker in it. The *ender* is the thread
//! that ends the wait: it grants what the waiter waits for, or fires its timer. A lock guards what
//! is waited for, and the list in which the ender finds the waiter.
//!
//! # States
//! The word is a *mark*, below [`MARKS`], or that of a waker. Each user names its marks. The word
//! is *new* (a mark), then *waiting* (a waker), then *ended* (a mark) or *given up*.
//!
//! # Steps
//! 1. *Wait*: the waiter clones its waker. Under the lock it finds that it has to wait,
//!    [stores](WaitWord::wait) the clone, and joins the list.
//! 2. *End*: under the lock the ender takes the waiter off the list, and writes what the waiter is
//!    to find. Then it takes the waker, and [stores a mark](WaitWord::end) with release ordering.
//!    After that store it does not touch the waiter, which may be gone. It releases the lock, then
//!    wakes.
//! 3. *Look*: a waiter that is polled or dropped [reads the mark](WaitWord::mark) with acquire
//!    ordering. If its wait has ended, it needs no lock. *Waiting* is certain under the lock alone.
//! 4. *Renew*: a waiter that another task polls [replaces](WaitWord::renew) its waker. Under the
//!    lock it looks at the mark once more, then whose waker it has left. If that is another task's,
//!    it releases the lock, clones its waker, and begins again with the clone at hand.
//! 5. *Give up*: a waiter that is dropped takes the lock, and looks at the mark once more. If it
//!    still waits, it takes itself off the list, and its [waker](WaitWord::waker) out of the word.
//!    If its wait has ended, it passes on what it was given.
//!
//! # Why nothing is lost
//! All stores to a waiting word are under the lock, and so are the looks of *renew* and *give up*.
//! (Where a waiter has two locks, as in a [reservation](crate::sync::monitor), both are taken for
//! these; then one of them is enough to replace the waker by another thread.)
//! So the waker that was stored last is taken once, by the ender or by the waiter. A renewal that
//! comes before the end is what the ender finds. One that comes after it finds the mark, and the
//! waiter goes on without a wake.
//!
//! Foreign wakers run a caller's code where they are cloned, dropped or woken. Each step does that
//! without the lock.
//!
//! # Rejected
//! A state beside the waker: a word more in each waiter, and two looks instead of one. A waker that
//! is cloned before each look: a waiter that the same task polls again needs no clone. An exchange
//! of the word instead of the lock: the list needs the lock.

#![allow(unsafe_code, reason = "a word stands for a waker")]

use super::atomic::{AtomicPtr, Edge, Ordering, edge};
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::Waker;

/// A waker in one word.
///
/// # Safety
/// The word is an address, from [`MARKS`] on.
pub(crate) unsafe trait Word: Sized {
    /// Clones a waker.
    fn of(waker: &Waker) -> Self;

    /// Turns the waker into its word.
    fn into_raw(self) -> *mut ();

    /// Makes a waker of its word again.
    ///
    /// # Safety
    /// The word comes from [`into_raw`](Self::into_raw), and is used here once.
    unsafe fn from_raw(word: *mut ()) -> Self;

    /// Returns whether `word`, which may be any word, is that of a waker of the same evenkeel task
    /// as `waker`.
    fn is_of_task(word: *mut (), waker: &Waker) -> bool;

    /// Returns whether it wakes the same task as `waker`.
    fn wakes_as(&self, waker: &Waker) -> bool;

    /// Wakes. Panics of a waker are contained.
    fn wake(self);
}

/// The words below this one are marks.
pub(crate) const MARKS: usize = 8;

/// The word of a wait.
#[derive(Debug)]
pub(crate) struct WaitWord(AtomicPtr<()>);

impl WaitWord {
    #[inline(always)]
    pub(crate) fn new(mark: usize) -> Self {
        Self(AtomicPtr::new(ptr::without_provenance_mut(mark)))
    }

    /// Returns the mark, or the address of the waker while the future waits. The mark of an ended
    /// wait synchronizes with its end.
    #[inline(always)]
    pub(crate) fn mark(&self) -> usize {
        self.0.load(edge(Edge::WaitEnded, Ordering::Acquire)).addr()
    }

    /// Returns whether the future waits. The answer *yes* is certain under the lock.
    #[inline(always)]
    pub(crate) fn is_waiting(&self) -> bool {
        self.mark() >= MARKS
    }

    /// Returns whether the future waits with a waker of the same evenkeel task as `waker`: a
    /// comparison of addresses, without the lock.
    #[inline(always)]
    pub(crate) fn is_of_task<W: Word>(&self, waker: &Waker) -> bool {
        W::is_of_task(self.0.load(Ordering::Relaxed), waker)
    }

    /// Stores a mark for the future itself, which does not wait.
    #[inline(always)]
    pub(crate) fn set(&self, mark: usize) {
        self.0.store(ptr::without_provenance_mut(mark), Ordering::Relaxed);
    }

    /// Stores a waker: from here on the future waits. The caller has the lock.
    #[inline(always)]
    pub(crate) fn wait(&self, waker: impl Word) {
        self.0.store(waker.into_raw(), Ordering::Relaxed);
    }

    /// Returns the word of the waker. The future waits, and the caller has the lock.
    #[inline(always)]
    pub(crate) fn waker(&self) -> *mut () {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the wait, and returns the word of the waker, which is the caller's. The future waits,
    /// and the caller has the lock; once the mark is stored, only the future uses this.
    #[inline(always)]
    pub(crate) fn end(&self, mark: usize) -> *mut () {
        let waker = self.waker();
        let order = edge(Edge::WaitEnd, Ordering::Release);
        self.0.store(ptr::without_provenance_mut(mark), order);
        waker
    }

    /// Calls `f` with the waker.
    ///
    /// # Safety
    /// The future waits with a `W`, and the caller has the lock.
    pub(crate) unsafe fn peek<W: Word, R>(&self, f: impl FnOnce(&W) -> R) -> R {
        // SAFETY: while the future waits, its word is that of a `W`. Only the lock's holder takes
        // it, and here it is given away again.
        f(&ManuallyDrop::new(unsafe { W::from_raw(self.waker()) }))
    }

    /// Stores another waker, and returns the one before.
    ///
    /// # Safety
    /// As [`peek`](Self::peek).
    pub(crate) unsafe fn replace<W: Word>(&self, waker: W) -> W {
        let before = self.waker();
        self.wait(waker);
        // SAFETY: while the future waits, its word is that of a `W`, and this one was replaced.
        unsafe { W::from_raw(before) }
    }

    /// Makes a future wait with `waker`, and returns false; or returns true, if its wait has ended.
    /// Calls `tell` with a waker that is about to replace another one. `with_lock` calls its
    /// argument once, with the lock.
    ///
    /// # Safety
    /// The future has begun to wait with a `W`, and calls this itself.
    pub(crate) unsafe fn renew<W: Word>(
        &self,
        waker: &Waker,
        mut with_lock: impl FnMut(&mut dyn FnMut()),
        tell: impl Fn(&W),
    ) -> bool {
        let mut fresh = None;
        loop {
            let (mut is_over, mut before) = (None, None);
            with_lock(&mut || {
                if !self.is_waiting() {
                    is_over = Some(true);
                    return;
                }
                // SAFETY: the future waits, and this thread has the lock.
                if unsafe { self.peek(|own: &W| own.wakes_as(waker)) } {
                    is_over = Some(false);
                } else if let Some(fresh) = fresh.take() {
                    tell(&fresh);
                    // SAFETY: as above.
                    before = Some(unsafe { self.replace(fresh) });
                    is_over = Some(false);
                }
            });
            drop(before);
            match is_over {
                Some(is_over) => return is_over,
                // Cloning a waker runs a caller's code, which must not run under the lock.
                None => fresh = Some(W::of(waker)),
            }
        }
    }
}
