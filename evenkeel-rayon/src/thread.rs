//! The threads of a pool, from within and before they run.

use crate::Yield;
use evenkeel::{WorkerThread, fork_join};
use std::fmt;

/// A thread of a pool that is about to be built: see
/// [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    worker: WorkerThread,
    name: Option<String>,
}

impl ThreadBuilder {
    pub(crate) fn new(worker: WorkerThread, name: Option<String>) -> Self {
        Self { worker, name }
    }

    /// The thread's number in the pool.
    #[must_use]
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// What the closure of [`thread_name`](crate::ThreadPoolBuilder::thread_name) calls it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The size of its stack, in bytes, if one was asked for.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.worker.stack_size()
    }

    /// Runs the thread's loop on the calling thread, until the pool is dropped and all that was
    /// spawned there is complete.
    ///
    /// # Panics
    /// If the calling thread is part of a pool.
    pub fn run(self) {
        self.worker.run();
    }

    /// Makes the calling thread the pool's.
    pub(crate) fn settle(self) {
        self.worker.settle().expect("the builder has made sure that the thread is in no pool");
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size())
            .finish_non_exhaustive()
    }
}

/// The number of the calling thread in its pool, if it is in one. While a thread is inside a
/// closure of the pool it does not change.
#[must_use]
pub fn current_thread_index() -> Option<usize> {
    fork_join::worker_index()
}

/// Whether the calling thread has jobs that nobody has taken yet, if it is in a pool.
#[must_use]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    fork_join::has_pending_jobs()
}

/// Has the calling thread, if it is in a pool, run some other job: see
/// [`evenkeel::fork_join::yield_now`].
pub fn yield_now() -> Option<Yield> {
    fork_join::yield_now()
}

/// As [`yield_now`], but it runs a job of this thread only.
pub fn yield_local() -> Option<Yield> {
    fork_join::yield_local()
}
