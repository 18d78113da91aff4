//! Standard wakers for tasks.
//!
//! A waker's data is the task's address. Cloning and dropping a waker changes the count of references;
//! inside the task's own poll these changes are deferred to the poll's closing compare-and-swap, so that
//! a primitive which keeps a waker per wait, as almost all do, pays no locked instruction for it.

#![allow(unsafe_code, reason = "a waker's data is a task's address")]

use super::header::{Header, Live, Reference, TaskPtr};
use super::state::Signal;
use crate::scheduler::{context, wake};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// A waker that the poll lends to the future: it counts nothing.
///
/// # Safety
/// The task is not freed for as long as the result is used.
#[inline(always)]
pub(crate) unsafe fn borrowed(task: TaskPtr) -> ManuallyDrop<Waker> {
    let raw = RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE);
    // SAFETY: the functions of the table keep the contract of `RawWakerVTable`: they are thread-safe,
    // and each waker but this borrowed one, which is never dropped, is counted.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
}

/// The task that a waker wakes, if it is one of evenkeel's.
#[inline(always)]
pub(crate) fn task_of(waker: &Waker) -> Option<Live<'_>> {
    if !std::ptr::eq(waker.vtable(), &VTABLE) {
        return None;
    }
    let header: NonNull<Header> = NonNull::new(waker.data().cast_mut())?.cast();
    // SAFETY: the waker is borrowed, and while it is there its task is not freed.
    Some(unsafe { Live::new(TaskPtr::new(header)) })
}

/// The address in a waker's data.
///
/// # Safety
/// `data` is that of a waker with this module's table.
#[inline(always)]
unsafe fn task(data: *const ()) -> TaskPtr {
    let header = data.cast_mut().cast::<Header>();
    // SAFETY: the data is the address of a header.
    TaskPtr::new(unsafe { NonNull::new_unchecked(header) })
}

/// Changes the count by the private one of the task's poller, if that is the caller.
#[inline(always)]
fn defer(task: Live<'_>, change: i8) -> bool {
    context::with(|context| {
        context.is_some_and(|context| context.polls(task.ptr())) && task.defer_reference(change)
    })
}

/// Clones the waker of a task of evenkeel: as [`Waker::clone`], without a call through the table.
#[inline(always)]
pub(crate) fn clone_of(task: Live<'_>) -> Waker {
    if !defer(task, 1) {
        task.state.add_reference();
    }
    let raw = RawWaker::new(task.ptr().as_ptr().cast_const().cast(), &VTABLE);
    // SAFETY: as in `borrowed`; this one has been counted.
    unsafe { Waker::from_raw(raw) }
}

/// Wakes and uses the waker up: as [`Waker::wake`], for a task of evenkeel without a call through the table.
#[inline(always)]
pub(crate) fn wake_up(waker: Waker) {
    match task_of(&waker).map(Live::ptr) {
        Some(task) => {
            std::mem::forget(waker);
            // SAFETY: the waker was counted, and has given its count away.
            let reference = unsafe { Reference::from_counted(task) };
            wake::wake_consuming(reference);
        }
        None => waker.wake(),
    }
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker that is cloned is there, so the task is.
    let clone = clone_of(unsafe { Live::new(task) });
    let clone = ManuallyDrop::new(clone);
    RawWaker::new(clone.data(), clone.vtable())
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn wake(data: *const ()) {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker is counted, and gives its count away.
    let reference = unsafe { Reference::from_counted(task) };
    wake::wake_consuming(reference);
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker is there, so the task is.
    wake::signal(unsafe { Live::new(task) }, Signal::Wake);
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn drop(data: *const ()) {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker is there, so the task is.
    if !defer(unsafe { Live::new(task) }, -1) {
        // SAFETY: the waker is counted, and gives its count away.
        std::mem::drop(unsafe { Reference::from_counted(task) });
    }
}
