//! The right to abort a task, apart from its handle.

use super::task_ref::Task;
use crate::raw_task::id::Id;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Aborts a task from anywhere. Returned by
/// [`JoinHandle::abort_handle`](super::JoinHandle::abort_handle), by that of
/// [`LocalJoinHandle`](super::LocalJoinHandle), and by the methods of a [`JoinSet`](super::JoinSet)
/// that spawn.
///
/// It can do less than a [`Task`], which can unpark too. It keeps the task's allocation, but not
/// its future, alive. Dropping it does nothing to the task.
///
/// # Examples
/// A limit that another task keeps:
/// ```
/// use evenkeel::time::{Duration, sleep};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let watch = evenkeel::spawn(std::future::pending::<()>());
///     let abort = watch.abort_handle();
///     drop(evenkeel::spawn(async move {
///         sleep(Duration::from_secs(4 * 60 * 60)).await;
///         abort.abort();
///     }));
///     assert!(watch.await.unwrap_err().is_cancelled());
/// });
/// ```
#[derive(Clone, Debug)]
pub struct AbortHandle(Target);

#[derive(Clone, Debug)]
enum Target {
    Task(Task),
    Local(Arc<dyn Abort>),
    /// A task whose handle has returned its output.
    Finished(Id),
}

/// A local task, as any thread sees it.
pub(super) trait Abort: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Has the task's future dropped at the task's next turn.
    fn abort(self: Arc<Self>);

    /// Returns whether the task is complete.
    fn is_finished(&self) -> bool;

    /// Returns the task's number.
    fn id(&self) -> Id;
}

impl AbortHandle {
    pub(super) fn new(task: Task) -> Self {
        Self(Target::Task(task))
    }

    pub(super) fn local(task: Arc<dyn Abort>) -> Self {
        Self(Target::Local(task))
    }

    pub(super) fn finished(id: Id) -> Self {
        Self(Target::Finished(id))
    }

    /// As [`JoinHandle::abort`](super::JoinHandle::abort): the task's future is dropped at the
    /// task's next turn. A complete task is not affected, and nor is a closure of
    /// [`spawn_blocking`](super::spawn_blocking) that has begun.
    pub fn abort(&self) {
        match &self.0 {
            Target::Task(task) => task.abort(),
            Target::Local(task) => task.clone().abort(),
            Target::Finished(_) => {}
        }
    }

    /// Returns whether the task is complete: by its own end, a panic or an abort. A task that a
    /// shutdown has left behind as [stuck](super::JoinError::is_stuck) is not complete before its
    /// poll returns, though its handle is finished; but if this right comes from a handle that had
    /// returned that error, it is finished too.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Target::Task(task) => task.is_complete(),
            Target::Local(task) => task.is_finished(),
            Target::Finished(_) => true,
        }
    }

    /// Returns the task's number.
    #[must_use]
    pub fn id(&self) -> Id {
        match &self.0 {
            Target::Task(task) => task.id(),
            Target::Local(task) => task.id(),
            Target::Finished(id) => *id,
        }
    }
}
