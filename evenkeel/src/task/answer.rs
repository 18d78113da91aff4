//! A channel for one value: an answer, or word of an actor's end.
//!
//! # Roles
//! The *sender* sends, or is dropped without having sent. The *receiver* is a future that waits for
//! either, or is closed or dropped, which may happen at any moment, also during a send.
//!
//! # States
//! Both share a *place*: a word, and room for the value. The word is *empty* at first, or that of
//! the receiver's waker while the receiver waits. It is *full* when the sender has sent, and *gone*
//! when the sender was dropped. It is *deaf* when the receiver has gone first. The last three are
//! final for the one that has not gone yet.
//!
//! # Steps
//! 1. *Wait* (receiver): look at the word. If the sender is done, take the value and free the
//!    place. Otherwise exchange the word for that of a counted waker. If the exchange fails, the
//!    sender is done meanwhile: look again.
//! 2. *Send* (sender): write the value, then swap the word for *full*, or for *gone* if there is no
//!    value. If the word was a waker's, wake. If it was *deaf*, take the value back and free the
//!    place. Otherwise the place is the receiver's: the sender does not touch it after its swap.
//! 3. *Close* (receiver): swap the word for *deaf*. If it was *full* or *gone*, take the value, if
//!    there is one, and free the place. If it was the waker's, drop that.
//!
//! # Why nothing is lost
//! The sender swaps the word once, and the receiver swaps it once, unless it has seen that the
//! sender is done. If the sender's swap comes first, the receiver finds *full* or *gone*, and the
//! place is its own. If the receiver's comes first, the sender finds *deaf*, and the place is the
//! sender's. So one of the two frees the place, and takes the value if there is one.
//!
//! A waker is in the word alone. The sender's swap takes it out, or the receiver's next exchange or
//! swap does, so it is used up once. An exchange that comes before the sender's swap is what that
//! swap finds. One that comes after it fails. So no wake is lost.
//!
//! The sender's swap releases the value, which the receiver's look, or its swap, acquires. The
//! receiver's exchange releases what is behind the waker's word, and the sender's swap acquires it.
//! The receiver's swap releases all its uses of the place, and the sender's swap acquires them
//! before the place is freed.
//!
//! # Rejected
//! A lock around the value and a waker, and a count of the two: seven locked instructions for an
//! answer in place of two, an allocation of 72 bytes in place of 24, and calls of the waker by
//! pointer.
//!
//! The address of the receiver's last waker beside the place, to know a waker again that is not a
//! task's. Such a waker is boxed at each poll that is pending. Few are of that kind, and sets of
//! futures poll again only those that were woken.
//!
//! A standard waker beside the word: the sender would take it out of the place after its change of
//! the word, and a receiver that is dropped in between frees the place. The crate `oneshot` had
//! that error up to its version 0.2.1 (<https://github.com/faern/oneshot/issues/87>).

#![allow(unsafe_code, reason = "one of two sides frees what they share")]

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use super::budget;
use super::word_waker::WordWaker;
use crate::primitives::atomic::{AtomicPtr, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::wait_word::{MARKS, Word};
use std::fmt;
use std::future::Future;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker, ready};

/// Neither side is done, and the receiver does not wait.
const EMPTY: usize = 0;
/// The value is in its place.
const FULL: usize = 1;
/// The sender has gone without a value.
const GONE: usize = 2;
/// The receiver has gone.
const DEAF: usize = 3;
const _: () = assert!(DEAF < MARKS, "the marks of a place are no wakers");

/// What both share.
struct Place<T> {
    /// A mark, or the word of the receiver's waker.
    word: AtomicPtr<()>,
    /// Written by the sender before the word says that it is full.
    value: UnsafeCell<MaybeUninit<T>>,
    /// With it loom finds a place that is not freed.
    #[cfg(loom)]
    _tracked: loom::alloc::Track<()>,
}

const fn mark(mark: usize) -> *mut () {
    ptr::without_provenance_mut(mark)
}

impl<T> Place<T> {
    /// Takes the value out.
    ///
    /// # Safety
    /// The value has been written, and is taken once. The other side is done with it.
    unsafe fn take(&self) -> T {
        self.value.with_mut(|value| {
            // SAFETY: no other thread uses the value, by the caller's promise.
            let value = unsafe { &*value };
            // SAFETY: it has been written, and is read once.
            unsafe { value.assume_init_read() }
        })
    }
}

/// Frees a place, without its value.
///
/// # Safety
/// Neither side uses it any more.
unsafe fn free<T>(place: NonNull<Place<T>>) {
    // SAFETY: it comes from a box, and is freed once.
    drop(unsafe { Box::from_raw(place.as_ptr()) });
}

/// Drops the waker of a receiver.
///
/// # Safety
/// The word was taken out of a place.
unsafe fn drop_waker(word: *mut ()) {
    if word.addr() >= MARKS {
        // SAFETY: a word that is no mark is a waker's, and was taken out.
        drop(unsafe { WordWaker::from_raw(word) });
    }
}

/// Sends one value.
pub struct Sender<T>(NonNull<Place<T>>);

/// Waits for one value; there is none if the sender is dropped.
pub struct Receiver<T> {
    /// None once it has returned its outcome, or is closed.
    place: Option<NonNull<Place<T>>>,
    /// Whether it has left a waker, or yielded.
    waits: bool,
}

// SAFETY: a value goes from one thread to another, and wakers are `Send`. The protocol says which
// side uses the place.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: a shared sender looks at the word alone, which is atomic.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: as for the sender.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: a shared receiver does nothing.
unsafe impl<T: Send> Sync for Receiver<T> {}

/// The sender was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Returns a sender and its receiver.
#[must_use]
#[inline]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let value = UnsafeCell::new(MaybeUninit::uninit());
    let place = Place {
        word: AtomicPtr::new(mark(EMPTY)),
        value,
        #[cfg(loom)]
        _tracked: loom::alloc::Track::new(()),
    };
    let place = NonNull::from(Box::leak(Box::new(place)));
    (Sender(place), Receiver { place: Some(place), waits: false })
}

impl<T> Sender<T> {
    /// Sends the value.
    ///
    /// # Errors
    /// Returns the value if the receiver is gone.
    #[inline]
    pub fn send(self, value: T) -> Result<(), T> {
        let place = self.0;
        mem::forget(self);
        // SAFETY: the place is there until both sides are done, and this side is not.
        let shared = unsafe { place.as_ref() };
        shared.value.with_mut(|room| {
            // SAFETY: until its swap, the sender alone uses the room.
            let room = unsafe { &mut *room };
            room.write(value);
        });
        // SAFETY: the place is the sender's, which does no more than this.
        if unsafe { end(place, FULL) } {
            return Ok(());
        }
        // SAFETY: the receiver has gone, so the value that was just written is the sender's.
        let value = unsafe { shared.take() };
        // SAFETY: the receiver has gone, and so has the value.
        unsafe { free(place) };
        Err(value)
    }

    /// Returns whether the receiver is gone.
    #[must_use]
    #[inline]
    pub fn is_closed(&self) -> bool {
        // SAFETY: the place is there until both sides are done, and this side is not.
        let place = unsafe { self.0.as_ref() };
        place.word.load(Ordering::Acquire).addr() == DEAF
    }
}

/// Swaps the sender's mark into the word, and wakes the receiver. Returns false if the receiver is
/// gone: then the place is the caller's. Otherwise it is the receiver's.
///
/// # Safety
/// The caller is the sender, and uses the place only if this returns false.
#[inline]
unsafe fn end<T>(place: NonNull<Place<T>>, with: usize) -> bool {
    // SAFETY: the place is there until both sides are done, and this side is not.
    let word = unsafe { &place.as_ref().word };
    let before = word.swap(mark(with), edge(Edge::AnswerSend, Ordering::AcqRel));
    match before.addr() {
        EMPTY => true,
        DEAF => false,
        _ => {
            // SAFETY: a word that is no mark is the receiver's waker, and this swap took it out.
            unsafe { WordWaker::from_raw(before) }.wake();
            true
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // SAFETY: this is the sender's last step.
        if !unsafe { end(self.0, GONE) } {
            // SAFETY: the receiver has gone, and there is no value.
            unsafe { free(self.0) };
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Gone>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(place) = this.place else { return Poll::Ready(Err(Gone)) };
        // SAFETY: the place is there until both sides are done, and this side is not.
        let shared = unsafe { place.as_ref() };
        let mut word = shared.look();
        if word.addr() != FULL && word.addr() != GONE {
            if shared.wait(word, context.waker()) {
                this.waits = true;
                return Poll::Pending;
            }
            word = shared.look();
        }
        if !this.waits {
            // From here on it is as one that has waited, which needs no unit.
            this.waits = true;
            ready!(budget::poll_unit(context.waker()));
        }
        this.place = None;
        // SAFETY: the sender is done, so the place is the receiver's, which forgets it here.
        Poll::Ready(unsafe { outcome(place, word.addr()) }.ok_or(Gone))
    }
}

impl<T> Place<T> {
    /// Looks at the word for the receiver.
    #[inline(always)]
    fn look(&self) -> *mut () {
        self.word.load(edge(Edge::AnswerLook, Ordering::Acquire))
    }

    /// Leaves a waker for the receiver, which has seen `word`. Returns false if the sender is done.
    #[inline]
    fn wait(&self, word: *mut (), waker: &Waker) -> bool {
        if word.addr() >= MARKS && WordWaker::is_of_task(word, waker) {
            return true;
        }
        let fresh = WordWaker::of(waker).into_raw();
        // Release ordering: the sender follows the word. No acquire: the word before is the
        // receiver's own, and one that fails looks again.
        let order = edge(Edge::AnswerWait, Ordering::Release);
        let done = self.word.compare_exchange(word, fresh, order, Ordering::Relaxed);
        // SAFETY: of the two words the one that is not in the place was taken out, or never in it.
        unsafe { drop_waker(if done.is_ok() { word } else { fresh }) };
        done.is_ok()
    }
}

/// Returns the value, if there is one, and frees the place.
///
/// # Safety
/// The sender has made `word` the place's word, and the receiver uses the place no more.
#[inline]
unsafe fn outcome<T>(place: NonNull<Place<T>>, word: usize) -> Option<T> {
    // SAFETY: the place is there until it is freed below.
    let shared = unsafe { place.as_ref() };
    // SAFETY: a full place has a value, which the sender has left to the receiver.
    let value = (word == FULL).then(|| unsafe { shared.take() });
    // SAFETY: the sender is done, and this is the receiver's last step.
    unsafe { free(place) };
    value
}

impl<T> Receiver<T> {
    /// Stops waiting, as a drop does: the sender then has its value back. Returns the value if it
    /// was sent before, since its sender takes it for received.
    pub fn close(&mut self) -> Option<T> {
        let place = self.place.take()?;
        // SAFETY: the place is there until both sides are done, and this side is not.
        let word = unsafe { &place.as_ref().word };
        let before = word.swap(mark(DEAF), edge(Edge::AnswerClose, Ordering::AcqRel));
        match before.addr() {
            // SAFETY: the sender is done, so the place is the receiver's.
            end @ (FULL | GONE) => unsafe { outcome(place, end) },
            _ => {
                // SAFETY: the swap took it out.
                unsafe { drop_waker(before) };
                None
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        // Most have returned their outcome.
        if self.place.is_some() {
            drop(self.close());
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
