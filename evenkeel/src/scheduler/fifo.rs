//! Jobs of one worker that are to begin in the order in which they were spawned.
//!
//! A deque gives its owner the youngest job. So the jobs go into a queue beside it, and into the deque goes, as often as there are jobs in the
//! queue, one and the same job that runs the oldest of them, on whichever worker that is. (rayon, RFC 1, "scope scheduling".)

#![allow(unsafe_code, reason = "a deque has the address of a queue")]

use super::closures::{Closure, Closures};
use super::context::Context;
use super::job::{self, Job};
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// A queue of jobs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Fifo {
    /// Runs the oldest.
    oldest: Job,
    /// What they belong to.
    root: u64,
    jobs: Closures,
    /// Deques point to it.
    _pinned: PhantomPinned,
}

impl Fifo {
    pub(crate) fn new(root: u64) -> Self {
        let oldest = Job::new(Self::run);
        Self { oldest, root, jobs: Closures::default(), _pinned: PhantomPinned }
    }

    /// Puts a job into the queue. [`as_job`](Self::as_job) has to go into a deque once for it.
    pub(crate) fn push(&self, job: Closure) {
        self.jobs.push(job);
    }

    /// What goes into a deque: the whole queue's address, not that of its first field alone.
    pub(crate) fn as_job(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    /// Takes the oldest job, on behalf of one that was pushed.
    pub(crate) fn pop(&self) -> Closure {
        self.jobs.pop().expect("there are as many jobs as there are of what runs them")
    }

    /// # Safety
    /// As [`Job`] says of `run`; `job` is the first field of one of these, and came out of a deque.
    unsafe fn run(job: NonNull<Job>, context: &Context, victim: usize) {
        // SAFETY: the queue is there until as many jobs have been run as have been pushed, and this is about to run one. Its job may be the
        // last, so nothing of the queue is used after it has begun.
        let this = unsafe { job.cast::<Self>().as_ref() };
        let (root, closure) = (this.root, this.pop());
        job::run_spawned(context, victim, root, closure);
    }
}
