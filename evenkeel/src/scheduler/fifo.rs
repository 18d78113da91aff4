//! Jobs of one worker that are to begin in the order in which they were spawned.
//!
//! A deque gives its owner the youngest job. So the jobs go into a queue beside it, and into the
//! deque goes, as often as there are jobs in the queue, one and the same job that runs the oldest
//! of them, on whichever worker that is. (rayon, RFC 1, "scope scheduling".)

#![allow(unsafe_code, reason = "a deque has the address of a queue")]

use super::closures::{Closure, Closures};
use super::context::Context;
use super::job;
use super::slot::Slot;
use std::marker::PhantomPinned;

/// A queue of jobs.
#[derive(Debug)]
pub(crate) struct Fifo {
    /// What they belong to.
    root: u64,
    jobs: Closures,
    /// Slots have its address.
    _pinned: PhantomPinned,
}

impl Fifo {
    pub(crate) fn new(root: u64) -> Self {
        Self { root, jobs: Closures::default(), _pinned: PhantomPinned }
    }

    /// Puts a job into the queue. A slot with the queue's address and [`run`](Self::run) has to go
    /// into a deque for it.
    pub(crate) fn push(&self, job: Closure) {
        self.jobs.push(job);
    }

    /// Takes the oldest job, on behalf of one that was pushed.
    pub(crate) fn pop(&self) -> Closure {
        self.jobs.pop().expect("there are as many jobs as there are of what runs them")
    }

    /// Runs the oldest job.
    ///
    /// # Safety
    /// As [`Run`](super::slot::Run) says; the slot has the address of one of these.
    pub(crate) unsafe fn run(slot: &Slot, context: &Context, victim: Option<usize>) {
        // SAFETY: the slot is the caller's.
        let this = slot.with_body(|place: *mut *mut Self| unsafe { place.read() });
        job::release_slot(slot, victim);
        // SAFETY: the queue is there until as many jobs have been run as have been pushed, and this
        // is about to run one. Its job may be the last, so nothing of the queue is used after it
        // has begun.
        let this = unsafe { &*this };
        let (root, closure) = (this.root, this.pop());
        job::run_spawned(context, victim, root, closure);
    }
}
