//! The ways to hold a task.
//!
//! | type | right | how many |
//! |---|---|---|
//! | [`Runnable`] | to poll it: it is queued, or being polled | at most one |
//! | [`Reference`] | to signal it and to read its header (a `Waker`, a `Task`) | any number, counted |
//! | `JoinHandle` | to take its output | at most one |
//! | [`Held`] | to end the hold of the registry on it, once it is complete | at most one |
//!
//! Until a task is complete, the registry of its home processor holds it by its address. That hold
//! then ends in the poller's last change of the state. A poller that is not at the task's home
//! sends the hold there as a [`Held`].

#![allow(unsafe_code, reason = "a right is an address that may be followed")]

use super::header::{Header, Live, TaskPtr};
use super::state::{End, Pending, Polled, Release};
use std::mem;
use std::ops::Deref;

/// The right to poll a task, which is queued or running.
///
/// A task that has a `Runnable` is not complete, so its registry holds it and its header is there.
/// Dropping a `Runnable` would lose the task: each one ends in a queue, in an inbox, or with the
/// task.
#[derive(Debug)]
#[must_use]
pub(crate) struct Runnable(TaskPtr);

impl Runnable {
    /// The right that a signal has just made.
    ///
    /// # Safety
    /// The task has gone from idle to queued, or is new, and this is the only `Runnable` made of
    /// it.
    #[inline(always)]
    pub(crate) unsafe fn new(task: TaskPtr) -> Self {
        Self(task)
    }

    #[inline(always)]
    pub(crate) fn ptr(&self) -> TaskPtr {
        self.0
    }

    pub(crate) fn live(&self) -> Live<'_> {
        // SAFETY: the right keeps the task from being freed, and the borrow keeps the right.
        unsafe { Live::new(self.0) }
    }

    /// Ends a poll that has returned `Pending`. Returns the right if the task was signalled after
    /// that poll had begun: then the task goes back into a queue.
    #[inline(always)]
    pub(crate) fn end(self, polled: Polled) -> Option<Self> {
        // Once the word says idle, another thread may have the task, so nothing may remain deferred
        // by then.
        let pending = self.pending();
        self.set_pending(Pending::default());
        match self.state.end(polled, pending) {
            End::Idle => None,
            End::Again => {
                self.set_pending(pending);
                Some(self)
            }
        }
    }
}

impl Deref for Runnable {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        // SAFETY: a task with a `Runnable` is registered, so not freed.
        unsafe { self.0.header() }
    }
}

/// A right that can be left in an inbox and taken out by another thread: its address is all of it.
pub(crate) trait Parcel: Sized {
    fn into_ptr(self) -> TaskPtr;

    /// Takes the right up again.
    ///
    /// # Safety
    /// The address comes from `into_ptr` of the same type, and is taken up once.
    unsafe fn from_ptr(task: TaskPtr) -> Self;
}

impl Parcel for Runnable {
    #[inline(always)]
    fn into_ptr(self) -> TaskPtr {
        self.0
    }

    #[inline(always)]
    unsafe fn from_ptr(task: TaskPtr) -> Self {
        Self(task)
    }
}

/// The hold of its home's registry on a task that is complete.
#[derive(Debug)]
#[must_use]
pub(crate) struct Held(TaskPtr);

impl Held {
    /// The hold on a complete task.
    ///
    /// # Safety
    /// The task is complete and still registered, and this is the only `Held` made of it.
    pub(crate) unsafe fn new(task: TaskPtr) -> Self {
        Self(task)
    }

    /// Ends the hold.
    pub(crate) fn release(self) {
        if self.state.unregister() == Release::Last {
            // SAFETY: no other right to the task is left, and without a handle its output is gone.
            unsafe { self.0.free() }
        }
    }
}

impl Deref for Held {
    type Target = Header;

    fn deref(&self) -> &Header {
        // SAFETY: a task is not freed while it is registered.
        unsafe { self.0.header() }
    }
}

impl Parcel for Held {
    fn into_ptr(self) -> TaskPtr {
        self.0
    }

    unsafe fn from_ptr(task: TaskPtr) -> Self {
        Self(task)
    }
}

/// A counted reference.
#[derive(Debug)]
pub(crate) struct Reference(TaskPtr);

impl Reference {
    /// Takes over a reference that has been counted.
    ///
    /// # Safety
    /// The count includes this reference, and no other code counts it out.
    pub(crate) unsafe fn from_counted(task: TaskPtr) -> Self {
        Self(task)
    }

    /// Gives the reference up without counting it out.
    pub(crate) fn into_counted(self) -> TaskPtr {
        let task = self.0;
        mem::forget(self);
        task
    }

    /// Makes one more reference to a task.
    pub(crate) fn of(task: Live<'_>) -> Self {
        task.state.add_reference();
        Self(task.ptr())
    }

    #[inline(always)]
    pub(crate) fn live(&self) -> Live<'_> {
        // SAFETY: the right keeps the task from being freed, and the borrow keeps the right.
        unsafe { Live::new(self.0) }
    }
}

impl Deref for Reference {
    type Target = Header;

    fn deref(&self) -> &Header {
        // SAFETY: the reference is counted, so the task is not freed.
        unsafe { self.0.header() }
    }
}

impl Clone for Reference {
    fn clone(&self) -> Self {
        Self::of(self.live())
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.state.drop_reference() == Release::Last {
            // SAFETY: this was the last reference; without a handle the output is gone.
            unsafe { self.0.free() }
        }
    }
}
