//! Jobs that lie in boxes: nobody waits for one, but a scope for all of its own.

#![allow(unsafe_code, reason = "a box goes through a deque as its address")]

use crate::primitives::unwind;
use crate::scheduler::closures::erase;
use crate::scheduler::context::{self, Context};
use crate::scheduler::deque::{Deque, Pushed};
use crate::scheduler::fifo::Fifo;
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
        job::run_spawned(context, victim, this.root, this.closure);
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

/// Puts a job into a queue, and what runs the oldest of that into the worker's deque; or runs the oldest if the deque is full.
///
/// # Safety
/// What the job borrows is there until it has been run, and the queue until all its jobs have been.
pub(super) unsafe fn push_fifo(context: &Context, queue: &Fifo, job: impl FnOnce() + Send) {
    let deque = &context.seat.processor().deque;
    // SAFETY: the caller's promise.
    queue.push(unsafe { erase(job) });
    let head = deque.head();
    deque.count_boxed(1);
    if !deque.push(head, queue.as_job()) && push_slowly(deque, head, queue.as_job()) == Pushed::Full
    {
        deque.count_boxed(-1);
        unwind::never(queue.pop());
    }
}

/// Pushes where somebody has asked for jobs, and answers; or all places are in use.
#[cold]
#[inline(never)]
pub(super) fn push_slowly(deque: &Deque<Job>, head: u32, job: NonNull<Job>) -> Pushed {
    let pushed = deque.push_slowly(head, job);
    if pushed == Pushed::Asked {
        context::with_worker(|context| {
            context.expect("jobs are pushed by workers").answer_thieves()
        });
    }
    pushed
}
