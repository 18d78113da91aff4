//! The threads of a pool, before they run and from within.

use crate::Yield;
use evenkeel::{WorkerThread, fork_join};
use std::fmt;

/// A thread of a pool that is being built: see
/// [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    worker: WorkerThread,
    name: Option<String>,
}

impl ThreadBuilder {
    pub(crate) fn new(worker: WorkerThread, name: Option<String>) -> Self {
        Self { worker, name }
    }

    /// Returns the thread's number in the pool.
    #[must_use]
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// Returns the thread's name, from the closure of
    /// [`thread_name`](crate::ThreadPoolBuilder::thread_name).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the requested size of its stack, in bytes, if there is one.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.worker.stack_size()
    }

    /// Runs the thread's loop on the calling thread, until the pool is dropped and all its spawned
    /// jobs are complete.
    ///
    /// # Panics
    /// If the calling thread is part of a pool.
    pub fn run(self) {
        self.worker.run();
    }

    /// Makes the calling thread this thread of the pool.
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

/// Returns the number of the calling thread in its pool, if it is in one. It does not change while
/// the thread is inside a closure of the pool.
#[must_use]
pub fn current_thread_index() -> Option<usize> {
    fork_join::worker_index()
}

/// Returns whether the calling thread has jobs that no thread has taken yet, if it is in a pool.
#[must_use]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    fork_join::has_pending_jobs()
}

/// Runs another job on the calling thread, if it is in a pool: see
/// [`evenkeel::fork_join::yield_now`].
pub fn yield_now() -> Option<Yield> {
    fork_join::yield_now()
}

/// Does the same as [`yield_now`], but runs only a job of this thread.
pub fn yield_local() -> Option<Yield> {
    fork_join::yield_local()
}
