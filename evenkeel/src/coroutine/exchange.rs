//! What passes between a body and whoever resumes it, for the time of one step, and how a body finds it.

#![allow(unsafe_code, reason = "an exchange is found through a waker's data")]

use super::id::Id;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

/// The two values of one step, on the stack of the resumer.
#[repr(C)]
pub(super) struct Exchange<'a, I, O> {
    /// First, where those who don't know `I` and `O` look for it.
    header: Header<'a>,
    /// Where the resumer has it: a value that is moved once less is read from where it was just written.
    input: &'a Cell<Option<I>>,
    output: Cell<Option<O>>,
}

/// What an exchange of any type begins with.
struct Header<'a> {
    id: Id,
    /// What the resumer is polled with.
    outer: &'a Waker,
}

impl<'a> Header<'a> {
    /// That of the exchange behind a waker, if there is one.
    #[inline(always)]
    fn of(waker: &'a Waker) -> Option<&'a Self> {
        if !ptr::eq(waker.vtable(), &raw const VTABLE) {
            return None;
        }
        // SAFETY: a waker with this table is lent, and its data is an exchange that is there for as long.
        Some(unsafe { &*waker.data().cast() })
    }
}

/// Where the exchange of a coroutine is.
pub(super) enum Place<'a> {
    /// Behind this very waker: the coroutine's own body polls.
    Near(&'a Waker),
    /// Behind this waker or one behind that.
    Far(&'a Waker),
    /// Nowhere: this is no poll of a coroutine's body.
    Nowhere,
}

impl<'a> Place<'a> {
    /// Looks behind the waker of a poll, once: the coroutine that polls is mostly the one that is looked for.
    #[inline(always)]
    pub(super) fn of(waker: &'a Waker, id: Id) -> Self {
        match Header::of(waker) {
            Some(header) if header.id == id => Self::Near(waker),
            Some(header) => Self::Far(header.outer),
            None => Self::Nowhere,
        }
    }
}

/// The waker with the exchange of this number, among `waker` and those behind it: the coroutine's body resumes another
/// one asynchronously, and that polls, and so on inwards.
#[cold]
#[inline(never)]
pub(super) fn farther(mut waker: &Waker, id: Id) -> Option<&Waker> {
    loop {
        match Place::of(waker, id) {
            Place::Near(found) => return Some(found),
            Place::Far(outer) => waker = outer,
            Place::Nowhere => return None,
        }
    }
}

impl<'a, I, O> Exchange<'a, I, O> {
    #[inline(always)]
    pub(super) fn new(id: Id, outer: &'a Waker, input: &'a mut Option<I>) -> Self {
        Self { header: Header { id, outer }, input: Cell::from_mut(input), output: Cell::new(None) }
    }

    /// Calls `poll` with a context through which this exchange is found.
    #[inline(always)]
    pub(super) fn with_context<T>(&self, poll: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let raw = RawWaker::new(ptr::from_ref(self).cast(), &VTABLE);
        // SAFETY: the functions of the table keep the contract of `RawWakerVTable`: what they reach is the header,
        // which is `Sync`; a clone is a waker of somebody else's, and this one is lent, for as long as the exchange is.
        let waker = ManuallyDrop::new(unsafe { Waker::from_raw(raw) });
        poll(&mut Context::from_waker(&waker))
    }

    /// The exchange behind this waker.
    ///
    /// # Safety
    /// It is that of a coroutine whose types are `I` and `O`.
    #[inline(always)]
    pub(super) unsafe fn of(waker: &'a Waker) -> &'a Self {
        // SAFETY: the waker is lent, and its data is an exchange that is there for as long; the caller knows its types.
        unsafe { &*waker.data().cast() }
    }

    #[inline(always)]
    pub(super) fn take_input(&self) -> Option<I> {
        self.input.take()
    }

    #[inline(always)]
    pub(super) fn offer(&self, output: O) {
        self.output.set(Some(output));
    }

    #[inline(always)]
    pub(super) fn into_output(self) -> Option<O> {
        self.output.into_inner()
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, drop);

/// The waker that stands behind a lent one.
///
/// # Safety
/// `data` is that of a waker with this module's table, which is there for as long as the result is used.
#[inline]
unsafe fn outer<'a>(data: *const ()) -> &'a Waker {
    // SAFETY: it is the address of an exchange, which begins with its header.
    let header = unsafe { &*data.cast::<Header<'a>>() };
    header.outer
}

/// A clone has to outlive the exchange: it is one of the resumer's own waker.
///
/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the data is that of one of our wakers.
    let outer = unsafe { outer(data) };
    let clone = ManuallyDrop::new(outer.clone());
    RawWaker::new(clone.data(), clone.vtable())
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the data is that of one of our wakers.
    unsafe { outer(data) }.wake_by_ref();
}

/// A lent waker counts nothing.
///
/// # Safety
/// None is needed; the table wants the type.
unsafe fn drop(_: *const ()) {}
