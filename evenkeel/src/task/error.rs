//! Why a task has no output.

use crate::primitives::unwind::contain;
use crate::processor::context;
use crate::processor::current;
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
        Self::Panicked(Box::new(Panicked {
            task: TaskInfo::of(task),
            hook: panic_hook(),
            payload: Some(payload),
        }))
    }

    /// Returns the error that the joiner gets.
    pub(crate) fn into_error(self, id: Id) -> JoinError {
        let payload = match self {
            Self::Cancelled => None,
            Self::Panicked(mut panicked) => panicked.payload.take(),
        };
        JoinError { id, payload: payload.map(Mutex::new) }
    }
}

/// The hook of the runtime that the panic happens on: a worker's own, or that of the thread that
/// runs a closure. If a runtime that is over cancels a task, or if a runtime could start no thread
/// for a closure, this is a foreign thread, and the hook may be another runtime's: a task has no
/// way to its own runtime.
fn panic_hook() -> Option<PanicHook> {
    context::panic_hook().or_else(|| current::shared()?.hooks.task_panic.clone())
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

/// Why joining a task gave no output: it panicked, or it was cancelled.
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
    /// None if the task was cancelled.
    ///
    /// Behind a lock, so that the error is `Sync`, as `?` into a boxed error wants.
    payload: Option<Mutex<Box<dyn Any + Send>>>,
}

impl JoinError {
    /// Returns whether the task was aborted, or its runtime shut down before it was complete.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.payload.is_none()
    }

    /// Returns whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.payload.is_some()
    }

    /// Returns the panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    /// If the task was cancelled; ask [`is_panic`](Self::is_panic) first.
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.payload {
            Some(payload) => payload.into_inner().unwrap_or_else(PoisonError::into_inner),
            None => panic!("task {} was cancelled: there is no panic to take", self.id),
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
        match &self.payload {
            None => write!(f, "task {} was cancelled", self.id),
            Some(payload) => {
                let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
                write!(f, "task {} panicked: {}", self.id, report::message(&**payload))
            }
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl std::error::Error for JoinError {}
