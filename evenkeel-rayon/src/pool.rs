//! Pools.

use crate::{BroadcastContext, Scope, ScopeFifo, Yield};
use evenkeel::{Handle, Runtime, fork_join};
use std::error::Error;
use std::fmt;

/// A pool of threads: an [`evenkeel::Runtime`].
///
/// A dropped pool takes no more work, and its threads exit when all spawned jobs are complete; the
/// drop does not wait.
///
/// # Examples
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.join(|| 1, || 2), (1, 2));
/// ```
pub struct ThreadPool {
    /// `None` only during the drop.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl ThreadPool {
    pub(crate) fn of(runtime: Runtime) -> Self {
        Self { handle: runtime.handle(), runtime: Some(runtime) }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns whether the calling thread belongs to this pool.
    fn is_here(&self) -> bool {
        fork_join::is_worker_of(&self.handle)
    }

    /// The same as [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    ///
    /// # Errors
    /// The same.
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[allow(deprecated, reason = "both are")]
    pub fn new(configuration: crate::Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.into_builder().build().map_err(Box::from)
    }

    /// Runs `op` on a thread of this pool, and waits for it: forks of `op` are forked in this pool.
    /// On one of the pool's own threads it runs at once. Meanwhile a thread of another pool runs
    /// calls and jobs from outside of its own pool, so `op` may install on that pool in turn.
    ///
    /// # Panics
    /// If `op` panics: with that panic.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.handle.install(op)
    }

    /// Does the same as [`broadcast`](crate::broadcast), in this pool.
    ///
    /// # Panics
    /// The same.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.handle.broadcast(op)
    }

    /// Returns how many threads the pool has.
    #[must_use]
    pub fn current_num_threads(&self) -> usize {
        self.handle.workers()
    }

    /// Returns the number of the calling thread, if it belongs to this pool.
    #[must_use]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.is_here().then(fork_join::worker_index).flatten()
    }

    /// Returns whether the calling thread has jobs that no thread has taken yet, if it belongs to
    /// this pool.
    #[must_use]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.is_here().then(fork_join::has_pending_jobs).flatten()
    }

    /// Does the same as [`join`](crate::join()), in this pool.
    ///
    /// # Panics
    /// The same.
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| fork_join::join(oper_a, oper_b))
    }

    /// Does the same as [`scope`](crate::scope()), in this pool.
    ///
    /// # Panics
    /// The same.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| fork_join::scope(op))
    }

    /// Does the same as [`scope_fifo`](crate::scope_fifo), in this pool.
    ///
    /// # Panics
    /// The same.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| fork_join::scope_fifo(op))
    }

    /// Does the same as [`in_place_scope`](crate::in_place_scope), with jobs that run in this pool.
    ///
    /// # Panics
    /// The same.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.handle.in_place_scope(op)
    }

    /// Does the same as [`in_place_scope_fifo`](crate::in_place_scope_fifo), with jobs that run in
    /// this pool.
    ///
    /// # Panics
    /// The same.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.handle.in_place_scope_fifo(op)
    }

    /// Does the same as [`spawn`](crate::spawn()), in this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.handle.spawn_job(op);
    }

    /// Does the same as [`spawn_fifo`](crate::spawn_fifo), in this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.handle.spawn_job_fifo(op);
    }

    /// Does the same as [`spawn_broadcast`](crate::spawn_broadcast), in this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.handle.spawn_broadcast(op);
    }

    /// Does the same as [`yield_now`](crate::yield_now), if the calling thread belongs to this
    /// pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.is_here().then(fork_join::yield_now).flatten()
    }

    /// Does the same as [`yield_local`](crate::yield_local), if the calling thread belongs to this
    /// pool.
    pub fn yield_local(&self) -> Option<Yield> {
        self.is_here().then(fork_join::yield_local).flatten()
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.detach();
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}
