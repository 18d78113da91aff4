//! Spawning.

use super::cell::{Name, make};
use super::join::JoinHandle;
use super::local_set::{self, LocalJoinHandle, LocalSet};
use crate::Handle;
use crate::processor::current;
use crate::processor::shared::Shared;
use crate::scheduler::spawn;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// Spawns a task on the runtime that the caller belongs to: that of the running task, or of the
/// [`block_on`](crate::Runtime::block_on) that runs on this thread, or the one that the thread has
/// [entered](crate::Runtime::enter).
///
/// The task begins with its next turn, and goes on whether or not its handle is kept. One
/// allocation holds task, output and handle.
///
/// # Panics
/// If the caller belongs to no runtime, as [`Handle::try_current`](crate::Handle::try_current)
/// tells.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), evenkeel::BuildError> {
/// let runtime = evenkeel::Runtime::new()?;
/// let word = runtime.block_on(async { evenkeel::spawn(async { "ahoy" }).await.unwrap() });
/// assert_eq!(word, "ahoy");
/// # Ok(())
/// # }
/// ```
#[track_caller]
#[inline]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_here(future, (), Location::caller())
}

/// Runs a closure that may block on a thread apart from the workers; see
/// [`Handle::spawn_blocking`](crate::Handle::spawn_blocking).
///
/// # Panics
/// If the caller belongs to no runtime.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let read = runtime.block_on(async {
///     evenkeel::spawn_blocking(|| std::fs::read_to_string("/etc/hostname").is_ok()).await
/// });
/// assert!(read.is_ok());
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(closure: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    Handle::current_for("spawn_blocking").spawn_blocking(closure)
}

/// Configures a task before it is spawned, on the workers, as a local one or as a closure that
/// blocks.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let handle = evenkeel::task::Builder::new().name("helmsman").spawn(async {
///         evenkeel::task::current().name().map(str::to_owned)
///     });
///     assert_eq!(handle.await.unwrap().as_deref(), Some("helmsman"));
/// });
/// ```
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it spawns"]
pub struct Builder {
    name: Option<Box<str>>,
}

impl Builder {
    /// Makes a builder of an unnamed task.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task in reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into().into_boxed_str());
        self
    }

    /// Spawns the task, as [`spawn()`] does.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.name {
            Some(name) => spawn_here(future, name, Location::caller()),
            None => spawn_here(future, (), Location::caller()),
        }
    }

    /// Spawns the task on the runtime of `handle`, as [`Handle::spawn`] does. The caller may be
    /// outside of any runtime.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, current};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let name = async { current().name().map(str::to_owned) };
    /// let helmsman = Builder::new().name("helmsman").spawn_on(name, &runtime.handle());
    /// assert_eq!(evenkeel::block_on(helmsman).unwrap().as_deref(), Some("helmsman"));
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.name {
            Some(name) => spawn_on(handle.shared(), future, name, Location::caller()),
            None => handle.spawn(future),
        }
    }

    /// Runs a closure that may block on a thread apart from the workers, as
    /// [`spawn_blocking()`] does. The name is that of the closure in reports, such as
    /// [`ShutdownReport::stuck`](crate::ShutdownReport::stuck), and not the thread's.
    ///
    /// # Panics
    /// If the caller belongs to no runtime; see [`spawn_blocking_on`](Self::spawn_blocking_on).
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_on(closure, &Handle::current_for("spawn_blocking"))
    }

    /// Does the same on the runtime of `handle`. The caller may be outside of any runtime.
    ///
    /// # Examples
    /// What is stuck when a service ends is mostly a closure:
    /// ```
    /// use evenkeel::{Shutdown, task::Builder};
    /// use std::{sync::mpsc, time::Duration};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let (begin, begun) = mpsc::channel();
    /// let (lift, lifted) = mpsc::channel::<()>();
    /// let dives = move || {
    ///     begin.send(()).unwrap();
    ///     lifted.recv().is_err()
    /// };
    /// Builder::new().name("diver").spawn_blocking_on(dives, &runtime.handle()).detach();
    /// begun.recv().unwrap();
    /// let report = runtime.shutdown(Shutdown::Deadline(Duration::from_millis(10)));
    /// assert_eq!(report.stuck[0].name.as_deref(), Some("diver"));
    /// drop(lift);
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, closure: F, handle: &Handle) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        match self.name {
            Some(name) => handle.spawn_blocking_named(closure, name, Location::caller()),
            None => handle.spawn_blocking(closure),
        }
    }

    /// Spawns a local task in the set that the caller is inside of, as
    /// [`spawn_local`](super::spawn_local) does.
    ///
    /// # Panics
    /// If the caller is inside of no set.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, LocalSet, TaskPanic};
    /// use std::rc::Rc;
    /// let (sender, reports) = std::sync::mpsc::channel();
    /// let hook = move |panic: &TaskPanic<'_>| sender.send(panic.task.name.clone()).unwrap();
    /// let runtime = evenkeel::Builder::new().on_task_panic(hook).build().unwrap();
    /// let set = LocalSet::new();
    /// set.block_on(&runtime, async {
    ///     let tea = Rc::new(0);
    ///     drop(Builder::new().name("cook").spawn_local(async move { assert_ne!(*tea, 0) }));
    /// });
    /// runtime.block_on(set);
    /// assert_eq!(reports.recv().unwrap().as_deref(), Some("cook"));
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> LocalJoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        local_set::spawn_here(future, self.name, Location::caller())
    }

    /// Spawns a local task in a set, as [`LocalSet::spawn_local`] does.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, LocalSet};
    /// let set = LocalSet::new();
    /// let cook = Builder::new().name("cook").spawn_local_on(async { "soup" }, &set);
    /// assert_eq!(evenkeel::block_on(set.run_until(cook)).unwrap(), "soup");
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, set: &LocalSet) -> LocalJoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        set.spawn_named(future, self.name, Location::caller())
    }
}

#[inline]
#[track_caller]
fn spawn_here<F, N>(future: F, name: N, site: &'static Location<'static>) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    N: Name,
{
    let spawned = spawn::here(
        (future, name),
        |(future, name), birth| make(future, name, site, birth),
        |(future, name)| Some(spawn_on(&current::shared()?, future, name, site)),
    );
    match spawned {
        Some(handle) => handle,
        None => panic!(
            "spawn is called outside of a runtime: call it in a task or inside Runtime::block_on, \
             or use Runtime::spawn"
        ),
    }
}

/// Spawns a task on the runtime of `shared`, or cancels it at once if the runtime refuses it.
pub(crate) fn spawn_on<F, N>(
    shared: &Arc<Shared>,
    future: F,
    name: N,
    site: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    N: Name,
{
    if shared.refuses_spawns() {
        return spawn::refused(|birth| make(future, name, site, birth));
    }
    spawn::on(shared, |birth| make(future, name, site, birth))
}
