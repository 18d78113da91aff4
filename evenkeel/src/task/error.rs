//! Why a task has no output.

use crate::primitives::unwind::contain;
use crate::processor::current;
use crate::processor::entered;
use crate::raw_task::header::Live;
use crate::raw_task::id::Id;
use crate::raw_task::report::{self, PanicHook, TaskInfo, TaskPanic};
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What takes the place of an output: one word, so that small outputs stay small.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The task was aborted, or its runtime shut down.
    Cancelled,
    /// The task panicked.
    Panicked(Box<Panicked>),
}

/// A panic that has not been reported: its drop reports it to the runtime's hook.
pub(crate) struct Panicked {
    task: TaskInfo,
    hook: Option<PanicHook>,
    payload: Option<Box<dyn Any + Send>>,
}

impl Failure {
    pub(crate) fn panic(task: Live<'_>, payload: Box<dyn Any + Send>) -> Self {
        Self::panic_of(TaskInfo::of(task), payload)
    }

    /// The same for a task that is described already.
    pub(super) fn panic_of(task: TaskInfo, payload: Box<dyn Any + Send>) -> Self {
        Self::Panicked(Box::new(Panicked { task, hook: panic_hook(), payload: Some(payload) }))
    }

    /// Returns the error that the joiner gets.
    pub(crate) fn into_error(self, id: Id) -> JoinError {
        let payload = match self {
            Self::Cancelled => None,
            Self::Panicked(mut panicked) => panicked.payload.take(),
        };
        let cause =
            payload.map_or(Cause::Cancelled, |payload| Cause::Panicked(Mutex::new(payload)));
        JoinError { id, cause }
    }
}

/// The hook of the runtime that the panic happens on: a worker's own, or that of the thread that
/// runs a closure. If a runtime that is over cancels a task, or if a runtime could start no thread
/// for a closure, this is a foreign thread, and the hook may be another runtime's: a task has no
/// way to its own runtime.
fn panic_hook() -> Option<PanicHook> {
    entered::panic_hook().or_else(|| current::shared()?.hooks.task_panic.clone())
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panicked").field("task", &self.task).finish_non_exhaustive()
    }
}

impl Drop for Panicked {
    fn drop(&mut self) {
        let Some(payload) = self.payload.take() else { return };
        let panic = TaskPanic { task: &self.task, payload: &*payload };
        // The payload is dropped after this, and not while the hook's panic unwinds: its destructor
        // may panic too.
        contain(|| match &self.hook {
            Some(hook) => hook(&panic),
            None => eprintln!("evenkeel: {panic}"),
        });
    }
}

/// Why joining a task gave no output: it panicked, it was cancelled, or it is stuck.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let error = runtime.block_on(async {
///     evenkeel::spawn(async { panic!("no more tea") }).await.unwrap_err()
/// });
/// assert!(error.is_panic());
/// assert!(error.to_string().contains("no more tea"));
/// ```
///
/// A caller that panics with its task:
/// ```
/// use std::panic::{catch_unwind, resume_unwind};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let task = runtime.spawn(async { panic!("no more tea") });
/// let joined = runtime.block_on(task);
/// let passed_on = catch_unwind(|| match joined {
///     Err(error) if error.is_cancelled() => println!("task {} was cancelled", error.id()),
///     Err(error) => resume_unwind(error.into_panic()),
///     Ok(()) => {}
/// });
/// assert_eq!(passed_on.unwrap_err().downcast_ref(), Some(&"no more tea"));
/// ```
pub struct JoinError {
    id: Id,
    cause: Cause,
}

/// The kinds of [`JoinError`].
enum Cause {
    Cancelled,
    /// The payload is behind a lock, so that the error is `Sync`, as `?` into a boxed error wants.
    Panicked(Mutex<Box<dyn Any + Send>>),
    Stuck,
}

impl JoinError {
    /// The error of a handle that was given up.
    pub(crate) fn stuck(id: Id) -> Self {
        Self { id, cause: Cause::Stuck }
    }

    /// Returns whether the task was aborted, or its runtime shut down before it was complete.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Cause::Cancelled)
    }

    /// Returns whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panicked(_))
    }

    /// Returns whether the task or closure was inside a poll, a call or a destructor that did not
    /// return, when a shutdown with a [deadline](crate::Shutdown::Deadline) came to its end.
    ///
    /// The error is final. The poll goes on, on a thread that was left behind, and the task's
    /// memory stays until it returns. If it returns an output, the output is dropped on that
    /// thread. If it panics, the panic goes to [`on_task_panic`](crate::Builder::on_task_panic). If
    /// it is pending, the future is dropped.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{Builder, Shutdown};
    /// use std::{sync::mpsc, time::Duration};
    /// let runtime = Builder::new().workers(1).build().unwrap();
    /// let (lift, lifted) = mpsc::channel::<()>();
    /// let (tell, told) = mpsc::channel();
    /// let diver = runtime.spawn(async move {
    ///     tell.send(()).unwrap();
    ///     lifted.recv().is_ok() // It blocks its worker.
    /// });
    /// told.recv().unwrap();
    /// let report = runtime.shutdown(Shutdown::Deadline(Duration::from_millis(10)));
    /// assert_eq!(report.stuck[0].id, diver.id());
    /// let error = evenkeel::block_on(diver).unwrap_err();
    /// assert!(error.is_stuck() && !error.is_cancelled() && !error.is_panic());
    /// drop(lift);
    /// ```
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        matches!(self.cause, Cause::Stuck)
    }

    /// Returns the panic's payload, for [`std::panic::resume_unwind`], or the error itself if the
    /// task did not panic.
    ///
    /// # Errors
    /// This error, if the task was cancelled or is stuck.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let cook = runtime.spawn(async { panic!("no more tea") });
    /// let error = runtime.block_on(cook).map(|()| "tea").unwrap_err();
    /// let payload = error.try_into_panic().unwrap();
    /// assert_eq!(payload.downcast_ref(), Some(&"no more tea"));
    ///
    /// let watch = runtime.spawn(std::future::pending::<()>());
    /// watch.abort();
    /// let error = runtime.block_on(watch).unwrap_err();
    /// assert!(error.try_into_panic().unwrap_err().is_cancelled());
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self.cause {
            Cause::Panicked(payload) => {
                Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            cause => Err(Self { cause, ..self }),
        }
    }

    /// Returns the panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    /// If the task did not panic; ask [`is_panic`](Self::is_panic) first, or call
    /// [`try_into_panic`](Self::try_into_panic).
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(Self { id, cause }) => {
                let what = if let Cause::Stuck = cause { "is stuck" } else { "was cancelled" };
                panic!("task {id} {what}, so there is no panic to take: ask is_panic first")
            }
        }
    }

    /// Returns the number of the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Cancelled => write!(f, "task {} was cancelled", self.id),
            Cause::Panicked(payload) => {
                let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
                write!(f, "task {} panicked: {}", self.id, report::message(&**payload))
            }
            Cause::Stuck => write!(
                f,
                "task {} is stuck: its runtime ended while the task was inside a poll that did not \
                 return; find what blocks there, or shut down with a longer grace",
                self.id
            ),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl std::error::Error for JoinError {}

/// An error of the kind [`Other`](std::io::ErrorKind::Other), so that `?` joins a task in a
/// function that returns [`std::io::Result`].
///
/// # Examples
/// ```
/// async fn name() -> std::io::Result<String> {
///     evenkeel::spawn_blocking(|| std::fs::read_to_string("/no/such/file")).await?
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let error = runtime.block_on(name()).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
///
/// let stopped = runtime.spawn(std::future::pending::<()>());
/// stopped.abort();
/// let error = std::io::Error::from(runtime.block_on(stopped).unwrap_err());
/// assert!(error.get_ref().is_some_and(|inside| inside.is::<evenkeel::JoinError>()));
/// ```
impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        Self::other(error)
    }
}
