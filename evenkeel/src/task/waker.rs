//! Standard wakers for tasks.
//!
//! A waker's data is the task's address. Cloning and dropping a waker changes the count of
//! references; inside the task's own poll these changes are deferred to the poll's closing
//! compare-and-swap, so that a primitive which keeps a waker per wait, as almost all do, pays no
//! locked instruction for it.

#![allow(unsafe_code, reason = "a waker's data is a task's address")]

use super::lent::Lent;
use crate::detect::Waiting;
use crate::processor::entered;
use crate::raw_task::header::{Header, Live, TaskPtr};
use crate::raw_task::rights::Reference;
use crate::raw_task::state::Signal;
use crate::scheduler::wake;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// Makes a waker that the poll lends to the future: it counts nothing.
///
/// # Safety
/// The task is not freed for as long as the result is used.
#[inline(always)]
pub(crate) unsafe fn borrowed(task: TaskPtr) -> ManuallyDrop<Waker> {
    let raw = RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE);
    // SAFETY: the functions of the table keep the contract of `RawWakerVTable`: they are
    // thread-safe, and each waker but this borrowed one, which is never dropped, is counted.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
}

/// Returns the task that a waker wakes, if it is one of evenkeel's. Behind a [lent](Lent) waker
/// that is the task that polls the lender.
#[inline(always)]
pub(crate) fn task_of(waker: &Waker) -> Option<Live<'_>> {
    if !std::ptr::eq(waker.vtable(), &VTABLE) {
        return task_behind(waker);
    }
    let header: NonNull<Header> = NonNull::new(waker.data().cast_mut())?.cast();
    // SAFETY: the waker is borrowed, and while it exists its task is not freed.
    Some(unsafe { Live::new(TaskPtr::new(header)) })
}

#[cold]
fn task_behind(waker: &Waker) -> Option<Live<'_>> {
    task_of(Lent::of(waker)?.outer)
}

/// Makes the task that a waker wakes go to the back of the ready queue. Under the polled task's own
/// waker that needs no wake. Returns whether it is that one.
#[inline(always)]
pub(super) fn go_again(waker: &Waker) -> bool {
    entered::with(|context| match (context, task_of(waker)) {
        (Some(context), Some(task)) if context.polls(task.ptr()) => {
            context.go_again();
            true
        }
        _ => {
            waker.wake_by_ref();
            false
        }
    })
}

/// Returns the waiter behind a waker, if that is a task or a thread that [`detect`](crate::detect)
/// knows.
pub(crate) fn waiting(waker: &Waker) -> Option<Waiting> {
    task_of(waker).map(Waiting::task).or_else(|| Waiting::thread(waker.data()))
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
    entered::with(|context| {
        context.is_some_and(|context| context.polls(task.ptr())) && task.defer_reference(change)
    })
}

/// Counts one more waker of a task.
#[inline(always)]
pub(crate) fn count_one(task: Live<'_>) {
    if task.state.has_many_references() || !defer(task, 1) {
        task.state.add_reference();
    }
}

/// Takes a waker of a task out of the count.
#[inline(always)]
pub(crate) fn discount(reference: Reference) {
    if defer(reference.live(), -1) {
        reference.into_counted();
    }
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker that is cloned exists, so the task does.
    count_one(unsafe { Live::new(task) });
    RawWaker::new(data, &VTABLE)
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
    // SAFETY: the waker exists, so the task does.
    wake::signal(unsafe { Live::new(task) }, Signal::Wake);
}

/// # Safety
/// As `RawWakerVTable` demands.
unsafe fn drop(data: *const ()) {
    // SAFETY: the data is that of one of our wakers.
    let task = unsafe { task(data) };
    // SAFETY: the waker is counted, and gives its count away.
    discount(unsafe { Reference::from_counted(task) });
}
