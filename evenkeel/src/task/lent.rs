//! Wakers that stand in front of another one for the time of a poll, and carry the number that the
//! poll is for.
//!
//! A *lender* polls a future on behalf of something, as a coroutine does for its body, and lends
//! the future such a waker. The future finds the lender's data behind it, and code that keeps
//! wakers finds the task that polls the lender ([`task_of`](super::waker::task_of)). A clone of it
//! is a clone of the waker behind it.

#![allow(unsafe_code, reason = "a waker's data is an address")]

use crate::raw_task::id::Id;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What a lent waker points to. It may be the beginning of a larger value, for code that knows by
/// the number which value that is.
#[repr(C)]
pub(crate) struct Lent<'a> {
    /// What the poll is for.
    pub(crate) id: Id,
    /// The waker that the lender is polled with.
    pub(crate) outer: &'a Waker,
}

impl<'a> Lent<'a> {
    /// Returns what is behind a waker, if it is a lent one.
    #[inline(always)]
    pub(crate) fn of(waker: &'a Waker) -> Option<&'a Self> {
        if !ptr::eq(waker.vtable(), &raw const VTABLE) {
            return None;
        }
        // SAFETY: a waker with this table is lent, and its data exists for as long.
        Some(unsafe { &*waker.data().cast() })
    }

    /// Makes a waker that stands in front of `outer`: it counts nothing, and must not be dropped.
    ///
    /// # Safety
    /// `data` begins with a `Lent`, and exists for as long as the waker is used.
    #[inline(always)]
    pub(crate) unsafe fn waker(data: *const ()) -> ManuallyDrop<Waker> {
        // SAFETY: the functions of the table keep the contract of `RawWakerVTable`: what they reach
        // is a `Lent`, which is `Sync`; a clone is a waker of another kind, and this one is lent,
        // for as long as its data exists.
        ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) })
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, drop);

/// The waker that stands behind a lent one.
///
/// # Safety
/// `data` is that of a waker with this module's table, which exists for as long as the result is
/// used.
#[inline]
unsafe fn outer<'a>(data: *const ()) -> &'a Waker {
    // SAFETY: the data begins with a `Lent`.
    let lent = unsafe { &*data.cast::<Lent<'a>>() };
    lent.outer
}

/// A clone has to outlive what the waker points to, so it is a clone of the lender's own waker.
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
/// There is nothing to promise; the table wants the type.
unsafe fn drop(_: *const ()) {}
