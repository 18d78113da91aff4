//! Jobs that lie in boxes: nobody waits for one, but a scope for all of its own.

#![allow(unsafe_code, reason = "a box goes through a deque as its address")]

use crate::primitives::atomic::Ordering;
use crate::scheduler::context::{self, Context};
use crate::scheduler::deque::{Deque, Pushed};
use crate::scheduler::job::Job;
use std::ptr::NonNull;

/// A job in a box.
#[repr(C)]
struct Boxed<F> {
    job: Job,
    /// What it belongs to.
    root: *const (),
    closure: F,
}

impl<F: FnOnce(&Context)> Boxed<F> {
    /// # Safety
    /// `job` is the first field of one of these, in a box that is the caller's.
    unsafe fn run(job: NonNull<Job>, context: &Context, victim: usize) {
        // SAFETY: the caller's promise.
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        if victim == context.seat.me() {
            return (this.closure)(context);
        }
        // Stolen, and so the root of all that is in this worker's deque from here on.
        let root = &context.seat.processor().root;
        let before = root.load(Ordering::Relaxed);
        root.store(this.root.cast_mut(), Ordering::Relaxed);
        (this.closure)(context);
        root.store(before, Ordering::Relaxed);
    }
}

/// Puts a closure, which does not panic, into the worker's deque, or runs it if that is full.
///
/// # Safety
/// What the closure borrows is there until it has been run.
pub(super) unsafe fn push<F: FnOnce(&Context) + Send>(
    context: &Context,
    root: *const (),
    closure: F,
) {
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    let boxed = Box::new(Boxed { job: Job::new(Boxed::<F>::run), root, closure });
    // SAFETY: a box is not null.
    let job = unsafe { NonNull::new_unchecked(Box::into_raw(boxed)) };
    if !deque.push(head, job.cast()) && push_slowly(deque, head, job.cast()) == Pushed::Full {
        // SAFETY: nobody has the box.
        let boxed = unsafe { Box::from_raw(job.as_ptr()) };
        (boxed.closure)(context);
    }
}

/// Pushes where somebody has asked for jobs, and answers; or all places are in use.
#[cold]
#[inline(never)]
pub(super) fn push_slowly(deque: &Deque<Job>, head: u32, job: NonNull<Job>) -> Pushed {
    let pushed = deque.push_slowly(head, job);
    if pushed == Pushed::Asked {
        context::with(|context| context.expect("jobs are pushed by workers").answer_thieves());
    }
    pushed
}
