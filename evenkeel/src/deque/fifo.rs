//! Jobs of one worker that are to begin in the order in which they were spawned.
//!
//! A deque gives its owner the youngest job. So the jobs go into a queue beside it, and into the
//! deque goes, as often as there are jobs in the queue, one and the same job that runs the oldest
//! of them, on whichever worker that is. (rayon, RFC 1, "scope scheduling".)

use super::closures::{Closure, Closures};
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

    /// Puts a job into the queue. A slot with the queue's address, and what runs its oldest job,
    /// has to go into a deque for it.
    pub(crate) fn push(&self, job: Closure) {
        self.jobs.push(job);
    }

    /// Takes the oldest job, on behalf of one that was pushed.
    pub(crate) fn pop(&self) -> Closure {
        self.jobs.pop().expect("there are as many jobs as there are of what runs them")
    }

    /// What the jobs belong to.
    pub(crate) fn root(&self) -> u64 {
        self.root
    }
}
