//! Jobs of one worker that begin in the order in which they were spawned.
//!
//! A deque gives its owner the youngest job. So the jobs go into a queue beside it. For each of
//! them a stand-in goes into the deque, which runs the oldest job of the queue on the worker that
//! takes the stand-in. (rayon, RFC 1, "scope scheduling".)

use super::closures::{Closure, Closures};
use std::marker::PhantomPinned;

/// A queue of jobs.
#[derive(Debug)]
pub(crate) struct Fifo {
    /// The root that the jobs belong to.
    root: u64,
    jobs: Closures,
    /// Slots have the address of this queue.
    _pinned: PhantomPinned,
}

impl Fifo {
    pub(crate) fn new(root: u64) -> Self {
        Self { root, jobs: Closures::default(), _pinned: PhantomPinned }
    }

    /// Puts a job into the queue. The caller then pushes a stand-in into a deque: a slot with the
    /// queue's address and the function that runs its oldest job.
    pub(crate) fn push(&self, job: Closure) {
        self.jobs.push(job);
    }

    /// Takes the oldest job, on behalf of a stand-in.
    pub(crate) fn pop(&self) -> Closure {
        self.jobs.pop().expect("there are as many jobs as there are of what runs them")
    }

    /// Returns the root that the jobs belong to.
    pub(crate) fn root(&self) -> u64 {
        self.root
    }
}
