//! A waker in one word, for primitives that have to be small, or in few cache lines.
//!
//! A standard waker is two words, of which a task of evenkeel needs one: its address. A waker of
//! another kind goes into a box, and the lowest bit of the box's address marks it.

#![allow(unsafe_code, reason = "one word stands for either kind of waker")]

use super::waker;
use crate::detect::Waiting;
use crate::primitives::unwind::contain;
use crate::raw_task::header::{Header, TaskPtr};
use crate::raw_task::rights::Reference;
use crate::scheduler::wake;
use crate::timers::Word;
use std::fmt;
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;

/// The mark of a box. Headers and boxed wakers are aligned to a word, so the bit is free.
const BOXED: usize = 1;

/// A counted waker.
pub(crate) struct WordWaker(NonNull<()>);

// SAFETY: it is a waker, which is `Send`.
unsafe impl Send for WordWaker {}

impl WordWaker {
    /// Clones the waker, if it is that of a task of evenkeel. Runs no caller's code and allocates
    /// nothing.
    #[inline(always)]
    pub(crate) fn of_task(waker: &Waker) -> Option<Self> {
        let task = waker::task_of(waker)?;
        waker::count_one(task);
        Some(Self(task.ptr().as_non_null().cast()))
    }

    /// Returns whether `word`, which may belong to any waker, is that of a waker of the same task
    /// of evenkeel as `waker`.
    #[inline(always)]
    pub(crate) fn is_of_task(word: *mut (), waker: &Waker) -> bool {
        waker::task_of(waker).is_some_and(|task| std::ptr::addr_eq(task.ptr().as_ptr(), word))
    }

    /// Clones a waker of any kind.
    #[inline(always)]
    pub(crate) fn of(waker: &Waker) -> Self {
        Self::of_task(waker).unwrap_or_else(|| Self::boxed(waker))
    }

    /// Clones a waker of any kind into a box.
    pub(crate) fn boxed(waker: &Waker) -> Self {
        let address = NonNull::from(Box::leak(Box::new(waker.clone())));
        Self(address.cast::<()>().map_addr(|address| address | BOXED))
    }

    /// Turns the waker into its word.
    #[inline(always)]
    pub(crate) fn into_raw(self) -> *mut () {
        let word = self.0.as_ptr();
        mem::forget(self);
        word
    }

    /// Makes a waker of its word again.
    ///
    /// # Safety
    /// The word comes from `into_raw`, and is used here once.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(word: *mut ()) -> Self {
        // SAFETY: the caller's promise: the word is an address.
        Self(unsafe { NonNull::new_unchecked(word) })
    }

    /// Returns whether the waker behind the word wakes the same as `waker`.
    ///
    /// # Safety
    /// The word comes from `into_raw`, and `from_raw` does not take it meanwhile.
    pub(crate) unsafe fn wakes_as(word: *mut (), waker: &Waker) -> bool {
        // SAFETY: the caller's promise.
        Self::is_of_task(word, waker) || unsafe { Self::peek(word, |own| own.will_wake(waker)) }
    }

    /// Calls `f` with the waker behind the word.
    ///
    /// # Safety
    /// The word comes from `into_raw`, and `from_raw` does not take it meanwhile.
    unsafe fn peek<R>(word: *mut (), f: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the caller's promise; the word is given away again below.
        let own = unsafe { Self::from_raw(word) };
        let result = match own.kind() {
            // SAFETY: the word is counted, so the task is not freed meanwhile.
            Kind::Task(task) => f(&*unsafe { waker::borrowed(task) }),
            // SAFETY: the box belongs to this word, which no other thread takes meanwhile.
            Kind::Boxed(boxed) => f(unsafe { boxed.as_ref() }),
        };
        own.into_raw();
        result
    }

    /// Returns the waiter behind the waker behind the word.
    ///
    /// # Safety
    /// As [`peek`](Self::peek).
    pub(crate) unsafe fn waiting(word: *mut ()) -> Option<Waiting> {
        // SAFETY: the caller's promise.
        unsafe { Self::peek(word, waker::waiting) }
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        if self.0.addr().get() & BOXED == 0 {
            Kind::Task(TaskPtr::new(self.0.cast::<Header>()))
        } else {
            let address = self.0.as_ptr().map_addr(|address| address & !BOXED);
            // SAFETY: without the mark it is the address of a box.
            Kind::Boxed(unsafe { NonNull::new_unchecked(address.cast()) })
        }
    }

    /// Takes the waker out of its word.
    #[inline(always)]
    fn open(self) -> Opened {
        let kind = self.kind();
        mem::forget(self);
        match kind {
            // SAFETY: the word was counted, and has given its count away.
            Kind::Task(task) => Opened::Task(unsafe { Reference::from_counted(task) }),
            // SAFETY: the box was this word's.
            Kind::Boxed(boxed) => Opened::Boxed(unsafe { Box::from_raw(boxed.as_ptr()) }),
        }
    }

    /// Wakes, and uses the waker up. A panic of a foreign waker is caught: the thread that wakes it
    /// has others to wake.
    #[inline(always)]
    pub(crate) fn wake(self) {
        match self.open() {
            Opened::Task(task) => wake::wake_consuming(task),
            Opened::Boxed(waker) => use_up(waker, |waker| waker.wake()),
        }
    }
}

// SAFETY: the word is the address of a header, or of a box with its mark, the lowest bit.
unsafe impl Word for WordWaker {
    #[inline(always)]
    fn into_raw(self) -> *mut () {
        self.into_raw()
    }

    #[inline(always)]
    unsafe fn from_raw(word: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(word) }
    }

    #[inline(always)]
    fn is_of_task(word: *mut (), waker: &Waker) -> bool {
        Self::is_of_task(word, waker)
    }

    unsafe fn wakes_as(word: *mut (), waker: &Waker) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Self::wakes_as(word, waker) }
    }

    #[inline(always)]
    fn wake(self) {
        self.wake();
    }
}

/// What a word stands for.
enum Kind {
    Task(TaskPtr),
    Boxed(NonNull<Waker>),
}

/// As [`Kind`], but owned.
enum Opened {
    Task(Reference),
    Boxed(Box<Waker>),
}

impl Drop for WordWaker {
    fn drop(&mut self) {
        // SAFETY: the word is not used after this.
        let own = unsafe { Self::from_raw(self.0.as_ptr()) };
        match own.open() {
            Opened::Task(task) => waker::discount(task),
            // Nor may its destructor stop halfway a step that has given a node up.
            Opened::Boxed(waker) => use_up(waker, drop),
        }
    }
}

/// Uses a foreign waker for the last time, which runs a caller's code.
#[cold]
fn use_up(waker: Box<Waker>, end: impl FnOnce(Waker)) {
    contain(|| end(*waker));
}

impl fmt::Debug for WordWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordWaker").finish_non_exhaustive()
    }
}
