//! Jobs that lie in boxes: nobody waits for one, but a scope for all of its own.

#![allow(unsafe_code, reason = "a box goes through a deque as its address")]

use crate::primitives::atomic::Ordering;
use crate::primitives::unwind;
use crate::scheduler::context::{self, Context};
use crate::scheduler::deque::{Deque, Pushed};
use crate::scheduler::job::{self, Job};
use std::ptr::NonNull;

/// A job in a box.
#[repr(C)]
struct Boxed<F> {
    job: Job,
    /// What it belongs to.
    root: u64,
    closure: F,
}

impl<F: FnOnce()> Boxed<F> {
    /// # Safety
    /// `job` is the first field of one of these, in a box that is the caller's.
    unsafe fn run(job: NonNull<Job>, context: &Context, victim: usize) {
        // SAFETY: the caller's promise.
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        if victim == context.seat.me() {
            return unwind::never(this.closure);
        }
        // Stolen, and so the root of all that is in this worker's deque until that is empty again.
        let processor = context.seat.processor();
        let before = processor.root.load(Ordering::Relaxed);
        processor.root.store(this.root, Ordering::Relaxed);
        let floor = processor.deque.head();
        unwind::never(this.closure);
        job::run_above(context, floor);
        processor.root.store(before, Ordering::Relaxed);
    }
}

/// Puts a closure, which does not panic, into the worker's deque, or runs it if that is full.
///
/// # Safety
/// What the closure borrows is there until it has been run.
pub(super) unsafe fn push<F: FnOnce() + Send>(context: &Context, root: u64, closure: F) {
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    deque.count_boxed(1);
    let boxed = Box::new(Boxed { job: Job::new(Boxed::<F>::run), root, closure });
    // SAFETY: a box is not null.
    let job = unsafe { NonNull::new_unchecked(Box::into_raw(boxed)) };
    if !deque.push(head, job.cast()) && push_slowly(deque, head, job.cast()) == Pushed::Full {
        deque.count_boxed(-1);
        // SAFETY: nobody has the box.
        let boxed = unsafe { Box::from_raw(job.as_ptr()) };
        unwind::never(boxed.closure);
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
