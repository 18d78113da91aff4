//! Handles of runtimes.

use super::{block_on, blocking};
use crate::metrics::RuntimeMetrics;
use crate::processor::current;
use crate::processor::shared::{Phase, Shared};
use crate::task::{self, JoinHandle, Name};
use std::future::Future;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A handle of a runtime: it spawns from any thread. Cheap to clone.
///
/// A handle does not keep its runtime from shutting down. Once shutdown has begun, a task that is
/// spawned through a handle from outside is cancelled at once: its future is dropped on the
/// caller's thread, before the method returns.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let handle = runtime.handle();
/// let thread = std::thread::spawn(move || handle.block_on(async { evenkeel::spawn(async { 7 }).await }));
/// assert_eq!(thread.join().unwrap().unwrap(), 7);
/// ```
///
/// After the end of the runtime:
/// ```
/// use evenkeel::{Builder, Shutdown};
/// let runtime = Builder::new().workers(2).build()?;
/// let handle = runtime.handle();
/// assert!(!handle.is_shutting_down());
/// runtime.shutdown(Shutdown::Drain);
/// assert!(handle.is_shutting_down());
/// let refused = handle.spawn(async { 7 });
/// assert!(evenkeel::block_on(refused).unwrap_err().is_cancelled());
/// assert_eq!(handle.metrics().processors.len(), handle.workers());
/// # Ok::<(), evenkeel::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// A panic leaves it whole: no critical section of a runtime runs a caller's code.
impl UnwindSafe for Handle {}
/// A panic leaves it whole through a shared reference too.
impl RefUnwindSafe for Handle {}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Returns the most [reliefs](crate::Builder::reliefs) of the runtime. With none, only workers
    /// poll its tasks.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().reliefs(3).build()?;
    /// assert_eq!(runtime.handle().reliefs(), 3);
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    #[must_use]
    pub fn reliefs(&self) -> usize {
        self.shared.processors.capacity() - self.shared.workers
    }

    /// Returns whether this is a [current-thread](crate::Builder::new_current_thread) runtime,
    /// whose tasks may be polled by one thread after another.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::Builder;
    /// let runtime = Builder::new_current_thread().build()?;
    /// assert!(runtime.handle().is_current_thread());
    /// let runtime = Builder::new().workers(1).build()?;
    /// assert!(!runtime.handle().is_current_thread());
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_current_thread(&self) -> bool {
        self.shared.driving.get().is_some()
    }

    /// Returns the runtime that the caller belongs to.
    ///
    /// # Panics
    /// If it belongs to none; see [`try_current`](Self::try_current).
    ///
    /// # Examples
    /// A library that spawns later keeps the handle of its caller:
    /// ```
    /// use evenkeel::Handle;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let kept = runtime.block_on(async { Handle::current() });
    /// let task = kept.spawn(async { Handle::current() });
    /// assert!(evenkeel::block_on(task).unwrap().ptr_eq(&kept));
    /// ```
    #[track_caller]
    #[must_use]
    pub fn current() -> Self {
        Self::current_for("Handle::current")
    }

    /// Does the same for `function`, which the panic names.
    #[track_caller]
    pub(crate) fn current_for(function: &str) -> Self {
        let Some(current) = Self::try_current() else {
            panic!(
                "{function} is called outside of a runtime: call it in a task, inside Runtime::block_on, or after \
                 Runtime::enter"
            )
        };
        current
    }

    /// Returns the runtime that the caller belongs to, if there is one: that of the running task or
    /// blocking closure, or of the `block_on` that runs on this thread; or the one that the thread
    /// has [entered](Self::enter) since.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::Handle;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// assert!(Handle::try_current().is_none());
    /// assert!(runtime.block_on(async { Handle::try_current() }).is_some());
    /// let closure = runtime.spawn_blocking(|| Handle::try_current().is_some());
    /// assert_eq!(evenkeel::block_on(closure).unwrap(), true);
    /// ```
    #[must_use]
    pub fn try_current() -> Option<Self> {
        current::shared().map(Self::new)
    }

    /// Spawns a task, from any thread.
    ///
    /// One allocation holds task, output and handle. Called by a task of this runtime it costs what
    /// [`evenkeel::spawn`](crate::spawn) costs, and the task stays at the caller's processor until
    /// another processor takes it. From anywhere else the task goes to the inbox of a processor,
    /// the next in turn: a few locked instructions more, and a system call if a worker has to be
    /// woken.
    ///
    /// Once shutdown has begun, the runtime refuses tasks from outside: the future is dropped here,
    /// on the caller's thread, and the handle returns [`JoinError`](crate::JoinError) *cancelled*.
    /// A task of a runtime that is aborted can spawn, and what it spawns is cancelled as well.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let handle = runtime.handle();
    /// let task = std::thread::spawn(move || handle.spawn(async { 6 * 7 })).join().unwrap();
    /// assert_eq!(evenkeel::block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn_on(&self.shared, future, (), Location::caller())
    }

    /// Runs a closure that may block, or that computes for long, on a thread apart from the
    /// workers.
    ///
    /// Threads are started as needed, as many as
    /// [`Builder::blocking_threads`](crate::Builder::blocking_threads) allows, 512 by default, and
    /// exit after ten idle seconds. Closures beyond that wait in a queue. The handle's
    /// `abort` cancels a closure that has not begun, and does nothing to one that has. A cancelled
    /// closure stays in the queue: it keeps what it has captured, and its handle waits, until a
    /// thread is free to drop it. A runtime that is aborted cancels the closures that have not
    /// begun. One that drains takes closures from its own tasks and closures alone. What comes
    /// later is dropped on the caller's thread, and its handle is cancelled.
    ///
    /// When the system refuses to start a thread, the existing threads do the work in turn. If
    /// there is none, the closure runs on the calling thread before this method returns, and blocks
    /// the caller for as long. Inside a task it must not call `block_on` then.
    ///
    /// In a [deterministic](crate::deterministic) run the closure is a task that is polled once.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let handle = runtime.handle().spawn_blocking(|| 3);
    /// assert_eq!(runtime.block_on(handle).unwrap(), 3);
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_named(closure, (), Location::caller())
    }

    /// Does the same for a closure with a name, spawned at `site`.
    pub(crate) fn spawn_blocking_named<F, R, N>(
        &self,
        closure: F,
        name: N,
        site: &'static Location<'static>,
    ) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
        N: Name,
    {
        if self.shared.hooks.deterministic {
            // Another thread would run at a time that the seed does not determine.
            return task::spawn_on(&self.shared, async move { closure() }, name, site);
        }
        blocking::spawn(&self.shared, closure, name, site)
    }

    /// As [`Runtime::block_on`](super::Runtime::block_on).
    ///
    /// # Panics
    /// As [`Runtime::block_on`](super::Runtime::block_on).
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        current::refuse_on_worker("block_on", "the future");
        block_on::run_inside(future, &self.shared)
    }

    /// Returns what the runtime has counted so far.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::of(&self.shared)
    }

    /// Returns whether the runtime has begun to shut down.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.shared.phase() != Phase::Running
    }

    /// Returns whether both are handles of the same runtime.
    ///
    /// # Examples
    /// ```
    /// let (one, other) = (evenkeel::Runtime::new()?, evenkeel::Runtime::new()?);
    /// assert!(one.handle().ptr_eq(&one.handle()));
    /// assert!(!one.handle().ptr_eq(&other.handle()));
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}
