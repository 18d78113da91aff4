//! Reports about tasks, for people.

use super::header::Live;
use super::id::Id;
use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// The description of a task in a report.
///
/// # Examples
/// ```
/// use evenkeel::task::{Builder, TaskInfo};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     drop(Builder::new().name("lookout").spawn(std::future::pending::<()>()));
/// });
/// let report = runtime.shutdown(evenkeel::Shutdown::Abort);
/// let lookout: &TaskInfo = &report.aborted[0];
/// assert_eq!(lookout.name.as_deref(), Some("lookout"));
/// assert!(lookout.type_name.contains("Pending"));
/// let line = format!("task {} \"lookout\" (spawned at {})", lookout.id, lookout.spawn_site);
/// assert_eq!(lookout.to_string(), line);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The task's number.
    pub id: Id,
    /// The task's name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawn_site: &'static Location<'static>,
    /// The type of its future.
    pub type_name: &'static str,
}

impl TaskInfo {
    pub(crate) fn of(task: Live<'_>) -> Self {
        Self {
            id: task.footer().id,
            name: task.name().map(str::to_owned),
            spawn_site: task.footer().site,
            type_name: (task.vtable.type_name)(),
        }
    }
}

impl fmt::Display for TaskInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " \"{name}\"")?;
        }
        write!(f, " (spawned at {})", self.spawn_site)
    }
}

/// A panic of a task without a joiner: what the hook of
/// [`Builder::on_task_panic`](crate::Builder::on_task_panic) gets, which has an example.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaskPanic<'a> {
    /// The task.
    pub task: &'a TaskInfo,
    /// The payload of the panic.
    pub payload: &'a (dyn Any + Send),
}

impl fmt::Display for TaskPanic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked, and had no joiner: {}", self.task, message(self.payload))
    }
}

/// A poll that lasts, or has lasted, for a millisecond or longer: what the hook of
/// [`Builder::on_stall`](crate::Builder::on_stall) gets, which has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stall {
    /// The task.
    pub task: TaskInfo,
    /// How long the poll has lasted so far, to within the lookout's next look, a few milliseconds.
    pub lasted: Duration,
    /// Whether the poll has returned.
    pub is_over: bool,
    /// Whether the thread waited in the system when it was found, for a lock, a file or a socket,
    /// rather than computed. False where the system does not tell it.
    pub is_blocked: bool,
    /// The number that the system has given to the thread, if it tells it: a debugger finds there
    /// what the poll does.
    pub thread: Option<u32>,
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, lasted, is_over, is_blocked, thread } = self;
        write!(f, "{task} ")?;
        f.write_str(if *is_over { "was" } else { "has been" })?;
        write!(f, " inside one poll for {lasted:.1?}, ")?;
        f.write_str(if *is_blocked { "and blocked its thread" } else { "computing" })?;
        match thread {
            Some(thread) => write!(f, " (thread {thread} of the system)"),
            None => Ok(()),
        }
    }
}

/// A callback for panics of tasks without a joiner.
pub(crate) type PanicHook = Arc<dyn Fn(&TaskPanic<'_>) + Send + Sync>;

/// Returns the text of a panic's payload, if it has one.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(a payload that is not text)")
}
