//! Runtimes: built, entered and shut down.

mod block_on;
mod blocking;
mod builder;
#[cfg(shuttle)]
pub(crate) mod checked;
mod current_thread;
mod ending;
mod enter;
mod error;
mod handle;
mod hooks;
mod late_thread;
mod own_thread;
mod reaper;
mod shutdown;
#[cfg(not(any(loom, shuttle)))]
mod single;
mod stalls;
mod worker_thread;

pub use block_on::block_on;
pub use builder::Builder;
pub use enter::EnterGuard;
pub use error::BuildError;
pub use handle::Handle;
pub use shutdown::{Shutdown, ShutdownReport};
pub use worker_thread::{AlreadyWorker, WorkerThread};

use crate::metrics::RuntimeMetrics;
use crate::processor::shared::Phase;
use crate::scheduler::driver;
use crate::task::JoinHandle;
use late_thread::Threads;
use std::future::Future;

/// A runtime: processors, the workers that run them, and a pool of threads for closures that block.
///
/// Dropping it is [`shutdown`](Self::shutdown) with [`Shutdown::Abort`]: it blocks the calling
/// thread, without a bound, until the polls and closures that are under way have returned.
/// If one of its own tasks or closures drops it, shutdown begins at once, and the drop does not
/// wait: the workers leave when the polls that are under way return.
///
/// A blocking closure may wait for a socket or a timer, by `Handle::block_on`. Both work until all
/// closures have returned, so the drop waits as long as such a closure does, for ever if its peer
/// is silent. A limit ends that: a [`timeout`](crate::time::timeout()) in the closure, or
/// [`Shutdown::Deadline`].
///
/// [`Builder::new_current_thread`] makes runtimes without worker threads.
///
/// # Examples
/// Tasks, a closure that blocks, and a computation on all workers:
/// ```
/// use evenkeel::{Runtime, Shutdown, fork_join::join};
/// let runtime = Runtime::new()?;
/// let task = runtime.spawn(async { 1 });
/// let lines = runtime.spawn_blocking(|| std::io::read_to_string("a\nb".as_bytes()));
/// let (port, starboard) = runtime.install(|| join(|| 2, || 3));
/// let sum = runtime.block_on(async { task.await.unwrap() + port + starboard });
/// assert_eq!(sum, 6);
/// assert_eq!(evenkeel::block_on(lines).unwrap().unwrap(), "a\nb");
///
/// // A handle outlives the runtime, and still has what was counted.
/// let handle = runtime.handle();
/// assert!(runtime.metrics().spawned_outside >= 2);
/// assert!(runtime.shutdown(Shutdown::Drain).is_clean());
/// assert_eq!(handle.metrics().sum(|processor| processor.polls), 1);
/// # Ok::<(), evenkeel::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    /// The threads of its workers, unless the caller has provided them, and those of the reliefs
    /// and the lookout.
    threads: Threads,
    /// Whether `shutdown` or `detach` has been called.
    is_ended: bool,
}

impl Runtime {
    /// Makes a runtime with the defaults of [`Builder`].
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Builder::new().build()
    }

    /// Makes a running runtime. Its workers are about to get their threads.
    fn new_running(handle: Handle) -> Self {
        Self { handle, threads: Threads::default(), is_ended: false }
    }

    /// Runs a future to its end on this thread, inside the runtime: what it spawns runs on the
    /// workers. In a [current-thread](Builder::new_current_thread) runtime this thread polls the
    /// tasks too, while no other thread does.
    ///
    /// # Panics
    /// If the caller is a task, of this or another runtime: it would stop a worker. The same if it
    /// is the future of a `block_on` of a current-thread runtime. Also with the panic of the
    /// future.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let total = runtime.block_on(async {
    ///     let handles: Vec<_> = (0..10).map(|i| evenkeel::spawn(async move { i })).collect();
    ///     let mut total = 0;
    ///     for handle in handles {
    ///         total += handle.await.unwrap();
    ///     }
    ///     total
    /// });
    /// assert_eq!(total, 45);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Spawns a task from any thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let handle = runtime.spawn(async { 1 });
    /// assert_eq!(evenkeel::block_on(handle).unwrap(), 1);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// As [`Handle::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(closure)
    }

    /// Returns a handle, which spawns but does not keep the runtime from shutting down. A guard of
    /// [`Handle::enter`] borrows it, so `runtime.handle().enter()` does not compile: call
    /// [`enter`](Self::enter) of the runtime.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns what the runtime has counted so far.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Shuts the runtime down as `mode` says, and reports what was left.
    ///
    /// It blocks the calling thread until the workers have left, and the destructors of their
    /// thread-locals and the blocking closures have returned. In a task of another runtime it would
    /// stop that runtime's worker meanwhile: call it in a closure of
    /// [`spawn_blocking`](crate::spawn_blocking) there. [`Shutdown::Drain`] waits without a bound
    /// for every task and closure, and [`Shutdown::Abort`] for the polls and closures that are
    /// under way: a poll that never returns keeps it waiting for ever. Only [`Shutdown::Deadline`]
    /// and [`Shutdown::DeadlineAndGrace`] leave such a poll behind; its handle then returns a
    /// [stuck](crate::JoinError::is_stuck) error.
    ///
    /// Called by a task or a blocking closure of this runtime it does not wait, and the report is
    /// [`detached`](ShutdownReport::detached): whatever the mode, the other tasks are aborted.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{Runtime, Shutdown};
    /// let runtime = Runtime::new().unwrap();
    /// let handle = runtime.spawn(std::future::pending::<()>());
    /// let report = runtime.shutdown(Shutdown::Abort);
    /// assert_eq!(report.aborted.len(), 1);
    /// assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    /// ```
    pub fn shutdown(mut self, mode: Shutdown) -> ShutdownReport {
        self.is_ended = true;
        ending::shutdown(&self.handle, &self.threads, mode)
    }

    /// Begins to shut the runtime down as [`Shutdown::Drain`] does, and does not wait: the runtime
    /// takes no more tasks from outside, and its workers leave when all tasks, closures and jobs
    /// are complete. A [current-thread](Builder::new_current_thread) runtime that no thread drives
    /// gets a thread for that; if the system refuses it, the caller drives, and does wait. Where a
    /// closure of the runtime's [`spawn_blocking`](Self::spawn_blocking) is the caller, its thread
    /// drives once no closure has come to it for ten seconds; at once after the closure, if it is
    /// the thread that has called `spawn_blocking`.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let task = runtime.spawn(async { evenkeel::yield_now().await });
    /// runtime.detach();
    /// assert!(evenkeel::block_on(task).is_ok());
    /// ```
    pub fn detach(mut self) {
        self.is_ended = true;
        self.handle.shared().advance(Phase::Draining);
        driver::orphan(self.handle.shared());
    }
}

impl Runtime {
    /// Begins to shut down a runtime that could not be built as a whole, and does not wait for
    /// workers that may never run.
    fn abandon(mut self) {
        self.is_ended = true;
        self.handle.shared().advance(Phase::Aborting);
        blocking::abort(self.handle.shared());
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.is_ended {
            ending::shutdown(&self.handle, &self.threads, Shutdown::Abort);
        }
    }
}
