//! The units that operations of primitives take from the slice of their poll.
//!
//! [`Slice`](crate::processor::slice::Slice) counts. Here a primitive takes a unit, or has its task
//! yield: a primitive that yields has taken nothing else yet.

use super::waker;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::slice;
use std::mem;
use std::task::{Poll, Waker};

/// Takes a unit of the slice of this poll. Returns false if the slice is over: the caller
/// [yields](yield_to), unless it has to wait.
#[inline(always)]
pub(crate) fn take_unit() -> bool {
    slice::take() || look_here()
}

/// Returns whether the next operation of this poll goes on: the slice is not over, or no operation
/// is refused here.
#[inline]
pub(crate) fn has_slice() -> bool {
    slice::has_units() || renew_here() || slice::is_in_step()
}

/// Takes a unit if there is one without a look.
#[inline]
pub(crate) fn take_if_any() {
    slice::take();
}

/// Takes a unit, or yields.
#[inline(always)]
pub(crate) fn poll_unit(waker: &Waker) -> Poll<()> {
    if take_unit() { Poll::Ready(()) } else { yield_to(waker) }
}

/// Grants units, if the slice of this poll is not over. Returns whether it does.
#[cold]
fn renew_here() -> bool {
    with_slice(slice::Slice::renew)
}

/// Returns whether an operation goes on that has found no unit.
#[cold]
fn look_here() -> bool {
    with_slice(slice::Slice::look)
}

/// Calls `f` with the slice of this thread, and the poll that it makes.
#[inline]
pub(crate) fn with_slice<R>(f: impl FnOnce(&slice::Slice, slice::Poll) -> R) -> R {
    entered::with(|context| match context {
        Some(context) => f(&context.slice, poll_of(context)),
        None => slice::outside(f),
    })
}

/// The poll that this worker makes.
fn poll_of(context: &Context) -> slice::Poll {
    // The future of a deterministic run counts as a task, though it has no header.
    if context.shared().hooks.deterministic {
        return slice::Poll::Seeded;
    }
    match context.task_address() {
        // The future for which a driver drives counts as a task, at no address.
        0 if context.polls_main() => slice::Poll::Task { address: 0, batch: context.now.get() },
        0 => slice::Poll::None,
        address => slice::Poll::Task { address, batch: context.now.get() },
    }
}

/// Returns how much of its slice the present poll has left, in nanoseconds; `None` outside of a
/// poll, and `u64::MAX` if its operations are exempt.
pub(crate) fn left() -> Option<u64> {
    with_slice(slice::Slice::remaining)
}

/// Makes the task that `waker` wakes go on at its next turn: the caller returns `Pending`.
#[cold]
pub(crate) fn yield_to<R>(waker: &Waker) -> Poll<R> {
    waker::go_again(waker);
    Poll::Pending
}

/// The unit of one operation of a future.
///
/// An operation yields at most once. At the next poll it goes on, whatever is left by then: parts
/// of a task that come before it and use up each slice do not keep it waiting.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    /// Whether the operation may go on without a unit.
    is_owed: bool,
}

impl Unit {
    /// The unit of an operation that has not begun.
    pub(crate) const NEW: Self = Self { is_owed: false };

    /// Takes the unit, or yields.
    #[inline(always)]
    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<()> {
        if self.take() { Poll::Ready(()) } else { self.yield_to(waker) }
    }

    /// Takes the unit. Returns false if the slice of this poll is over: the caller
    /// [yields](Self::yield_to), unless it has to wait.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> bool {
        mem::take(&mut self.is_owed) || take_unit()
    }

    /// Makes the task that `waker` wakes go on at its next turn: the caller returns `Pending`.
    #[cold]
    pub(crate) fn yield_to<R>(&mut self, waker: &Waker) -> Poll<R> {
        self.is_owed = true;
        waker::go_again(waker);
        Poll::Pending
    }

    /// Returns whether the operation goes on without a unit: it has yielded, or has waited.
    pub(crate) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Lets the operation end without a unit, because it has waited.
    #[inline(always)]
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }
}
