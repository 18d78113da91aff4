//! A waker in one word, for primitives whose size and lines count.
//!
//! A standard waker is two words, of which a task of evenkeel needs one: its address. A waker of
//! another kind goes into a box, whose address is marked by its lowest bit.

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
    /// A clone of the waker, if it is that of a task of evenkeel. Runs no caller's code and
    /// allocates nothing.
    #[inline(always)]
    pub(crate) fn of_task(waker: &Waker) -> Option<Self> {
        let task = waker::task_of(waker)?;
        waker::count_one(task);
        Some(Self(task.ptr().as_non_null().cast()))
    }

    /// Whether `word`, which may be of anything, is that of a waker of the same task of evenkeel as
    /// `waker`.
    #[inline(always)]
    pub(crate) fn is_of_task(word: *mut (), waker: &Waker) -> bool {
        waker::task_of(waker).is_some_and(|task| std::ptr::addr_eq(task.ptr().as_ptr(), word))
    }

    /// A clone of a waker, of whatever kind.
    #[inline(always)]
    pub(crate) fn of(waker: &Waker) -> Self {
        Self::of_task(waker).unwrap_or_else(|| Self::boxed(waker))
    }

    /// A clone of a waker of any kind, in a box.
    pub(crate) fn boxed(waker: &Waker) -> Self {
        let address = NonNull::from(Box::leak(Box::new(waker.clone())));
        Self(address.cast::<()>().map_addr(|address| address | BOXED))
    }

    /// Gives the word away.
    #[inline(always)]
    pub(crate) fn into_raw(self) -> *mut () {
        let word = self.0.as_ptr();
        mem::forget(self);
        word
    }

    /// Takes the word up again.
    ///
    /// # Safety
    /// It comes from `into_raw`, and is taken up once.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(word: *mut ()) -> Self {
        // SAFETY: the caller's promise: the word is an address.
        Self(unsafe { NonNull::new_unchecked(word) })
    }

    /// Whether the waker behind the word wakes the same as `waker`.
    ///
    /// # Safety
    /// The word comes from `into_raw`, and is not taken up meanwhile.
    pub(crate) unsafe fn wakes_as(word: *mut (), waker: &Waker) -> bool {
        // SAFETY: the caller's promise.
        Self::is_of_task(word, waker) || unsafe { Self::peek(word, |own| own.will_wake(waker)) }
    }

    /// Calls `f` with the waker behind the word.
    ///
    /// # Safety
    /// The word comes from `into_raw`, and is not taken up meanwhile.
    unsafe fn peek<R>(word: *mut (), f: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the caller's promise; the word is given away again below.
        let own = unsafe { Self::from_raw(word) };
        let result = match own.kind() {
            // SAFETY: the word is counted, so the task is not freed meanwhile.
            Kind::Task(task) => f(&*unsafe { waker::borrowed(task) }),
            // SAFETY: the box is this word's, which nobody else takes up meanwhile.
            Kind::Boxed(boxed) => f(unsafe { boxed.as_ref() }),
        };
        own.into_raw();
        result
    }

    /// Who waits with the waker behind the word.
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

    /// Takes what the word stands for out of it.
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

    /// Wakes, and uses the waker up. What a foreign waker panics with is caught: whoever wakes it
    /// has others to see to.
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

/// The same, as the owner's.
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
            // Nor may its destructor end a step halfway that has given a node up.
            Opened::Boxed(waker) => use_up(waker, drop),
        }
    }
}

/// Does the last thing with a waker that is a caller's code.
#[cold]
fn use_up(waker: Box<Waker>, end: impl FnOnce(Waker)) {
    contain(|| end(*waker));
}

impl fmt::Debug for WordWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordWaker").finish_non_exhaustive()
    }
}
