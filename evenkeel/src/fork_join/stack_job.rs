//! A half of a `join`, on the stack of its owner.

#![allow(unsafe_code, reason = "a thief reaches the job in its owner's frame")]

use super::latch::Latch;
use crate::primitives::cell::UnsafeCell;
use crate::scheduler::context::Context;
use crate::scheduler::deque::Deque;
use crate::scheduler::job::Job;
use std::marker::PhantomPinned;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

/// A job whose closure and result lie in the frame of its owner, which does not leave it before the job is back or
/// complete.
#[repr(C)]
pub(super) struct StackJob<F, R> {
    job: Job,
    pub(super) latch: Latch,
    /// Its place in the deque: for the way back after a panic, which keeps nothing else.
    pub(super) index: u32,
    body: UnsafeCell<Body<F, R>>,
    /// Deques point to it.
    _pinned: PhantomPinned,
}

/// Where a half runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The deque of the worker, and its head.
    pub(super) deque: &'a Deque<Job>,
    pub(super) head: u32,
    /// Whether that is another worker than the one that has forked, or was entered for the fork.
    pub(super) migrated: bool,
}

union Body<F, R> {
    closure: ManuallyDrop<F>,
    result: ManuallyDrop<thread::Result<R>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(Place<'_>) -> R,
{
    #[inline(always)]
    pub(super) fn new(closure: F, index: u32) -> Self {
        Self {
            job: Job::new(Self::run_stolen),
            latch: Latch::new(),
            index,
            body: UnsafeCell::new(Body { closure: ManuallyDrop::new(closure) }),
            _pinned: PhantomPinned,
        }
    }

    /// What goes into a deque. It is the whole job's address, not that of its first field alone.
    #[inline(always)]
    pub(super) fn as_job(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    /// Takes the closure.
    ///
    /// # Safety
    /// The caller has the job, and takes the closure once.
    #[inline(always)]
    unsafe fn take_closure(&self) -> F {
        self.body.with_mut(|body| {
            // SAFETY: whoever has the job is alone with it.
            let body = unsafe { &mut *body };
            // SAFETY: the closure is there until it is taken, which happens once.
            ManuallyDrop::into_inner(unsafe { std::ptr::read(&raw const body.closure) })
        })
    }

    /// Runs the job on its owner.
    ///
    /// # Safety
    /// The caller is the owner and has popped the job.
    #[inline(always)]
    pub(super) unsafe fn run(&self, place: Place<'_>) -> R {
        // SAFETY: the caller's promise.
        let closure = unsafe { self.take_closure() };
        closure(place)
    }

    /// The result of a thief.
    ///
    /// # Safety
    /// The job is complete, and the caller, its owner, takes the result once.
    pub(super) unsafe fn take_result(&self) -> thread::Result<R> {
        self.body.with_mut(|body| {
            // SAFETY: the job is complete, so the thief does not touch it any more.
            let body = unsafe { &mut *body };
            // SAFETY: a complete job has its result, which is taken once.
            ManuallyDrop::into_inner(unsafe { std::ptr::read(&raw const body.result) })
        })
    }

    /// Runs the job on a thief.
    ///
    /// # Safety
    /// As [`Job`] says of `run`; `job` is the first field of one of these.
    unsafe fn run_stolen(job: NonNull<Job>, thief: &Context, victim: usize) {
        // SAFETY: the owner does not leave the job's frame before it is complete.
        let this = unsafe { job.cast::<Self>().as_ref() };
        this.latch.take(thief.seat.me());
        // SAFETY: the thief has taken the job out of a deque.
        let closure = unsafe { this.take_closure() };
        let deque = &thief.seat.processor().deque;
        let place = Place { deque, head: deque.head(), migrated: true };
        let result = catch_unwind(AssertUnwindSafe(|| closure(place)));
        this.body.with_mut(|body| {
            // SAFETY: the job is not complete, so its body is the thief's.
            let body = unsafe { &mut *body };
            body.result = ManuallyDrop::new(result);
        });
        if this.latch.complete() {
            thief.shared().idle.unpark(victim);
        }
    }
}
