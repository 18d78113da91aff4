//! Wakers that stand in front of another one for the time of a poll, and say for whom.
//!
//! Whoever polls a future on behalf of something, as a coroutine does for its body, lends it such a
//! waker. The future finds what lies behind it, and whoever keeps wakers finds the task that polls
//! it all ([`task_of`](super::waker::task_of)). What is cloned from it is a clone of the waker
//! behind.

#![allow(unsafe_code, reason = "a waker's data is an address")]

use crate::raw_task::id::Id;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What a lent waker points to. It may be the beginning of something larger, for those who know by
/// the number what that is.
#[repr(C)]
pub(crate) struct Lent<'a> {
    /// For whom the poll is.
    pub(crate) id: Id,
    /// What the lender is polled with.
    pub(crate) outer: &'a Waker,
}

impl<'a> Lent<'a> {
    /// What is behind a waker, if it is a lent one.
    #[inline(always)]
    pub(crate) fn of(waker: &'a Waker) -> Option<&'a Self> {
        if !ptr::eq(waker.vtable(), &raw const VTABLE) {
            return None;
        }
        // SAFETY: a waker with this table is lent, and its data is there for as long.
        Some(unsafe { &*waker.data().cast() })
    }

    /// A waker that stands in front of `outer`: it counts nothing, and is not to be dropped.
    ///
    /// # Safety
    /// `data` begins with a `Lent`, and is there for as long as the waker is used.
    #[inline(always)]
    pub(crate) unsafe fn waker(data: *const ()) -> ManuallyDrop<Waker> {
        // SAFETY: the functions of the table keep the contract of `RawWakerVTable`: what they reach
        // is a `Lent`, which is `Sync`; a clone is a waker of somebody else's, and this one is
        // lent, for as long as its data is there.
        ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) })
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, drop);

/// The waker that stands behind a lent one.
///
/// # Safety
/// `data` is that of a waker with this module's table, which is there for as long as the result is
/// used.
#[inline]
unsafe fn outer<'a>(data: *const ()) -> &'a Waker {
    // SAFETY: the data begins with this.
    let lent = unsafe { &*data.cast::<Lent<'a>>() };
    lent.outer
}

/// A clone has to outlive what the waker points to: it is one of the lender's own waker.
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
