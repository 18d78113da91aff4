//! A waker in one word, for primitives that have to be small, or in few cache lines.
//!
//! A standard waker is two words, of which a task of evenkeel needs one: its address. A waker of
//! another kind goes into a box, and the lowest bit of the box's address says so.

#![allow(unsafe_code, reason = "one word stands for either kind of waker")]

use super::waker;
use crate::detect::Waiting;
use crate::primitives::unwind::contain;
use crate::primitives::wait_word::Word;
use crate::raw_task::header::{Header, TaskPtr};
use crate::raw_task::rights::Reference;
use crate::scheduler::wake;
use std::fmt;
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;

/// The bit of a box. Headers and boxed wakers are aligned to a word, so it is free.
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

    /// Calls `f` with the waker behind the word.
    pub(crate) fn peek<R>(&self, f: impl FnOnce(&Waker) -> R) -> R {
        match self.kind() {
            // SAFETY: the word is counted, so the task is not freed meanwhile.
            Kind::Task(task) => f(&*unsafe { waker::borrowed(task) }),
            // SAFETY: the box belongs to this word.
            Kind::Boxed(boxed) => f(unsafe { boxed.as_ref() }),
        }
    }

    /// Returns the waiter behind the waker behind the word.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        self.peek(waker::waiting)
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        if self.0.addr().get() & BOXED == 0 {
            Kind::Task(TaskPtr::new(self.0.cast::<Header>()))
        } else {
            let address = self.0.as_ptr().map_addr(|address| address & !BOXED);
            // SAFETY: without the bit it is the address of a box.
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

// SAFETY: the word is the address of a header, or of a box with the lowest bit. Both are aligned to
// a word, and not null.
unsafe impl Word for WordWaker {
    #[inline(always)]
    fn of(waker: &Waker) -> Self {
        Self::of(waker)
    }

    #[inline(always)]
    fn into_raw(self) -> *mut () {
        let word = self.0.as_ptr();
        mem::forget(self);
        word
    }

    #[inline(always)]
    unsafe fn from_raw(word: *mut ()) -> Self {
        // SAFETY: the caller's promise: the word is an address.
        Self(unsafe { NonNull::new_unchecked(word) })
    }

    #[inline(always)]
    fn is_of_task(word: *mut (), waker: &Waker) -> bool {
        waker::task_of(waker).is_some_and(|task| std::ptr::addr_eq(task.ptr().as_ptr(), word))
    }

    fn wakes_as(&self, waker: &Waker) -> bool {
        Self::is_of_task(self.0.as_ptr(), waker) || self.peek(|own| own.will_wake(waker))
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
