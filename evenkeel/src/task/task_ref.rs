//! A reference to a task.

use crate::processor::entered;
use crate::raw_task::id::Id;
use crate::raw_task::report::TaskInfo;
use crate::raw_task::rights::Reference;
use crate::raw_task::state::Signal;
use crate::scheduler::wake;
use std::fmt;
use std::panic::Location;

/// A reference to a task, by which it can be unparked or aborted, and named in reports. Cheap to
/// clone; it keeps the task's allocation, but not its future, alive.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let handle = evenkeel::spawn(evenkeel::task::park());
///     handle.task().unpark();
///     handle.await.unwrap();
/// });
/// ```
///
/// A list of tasks for an operator, which tells what runs, and ends it:
/// ```
/// use evenkeel::task::{Builder, Task};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let error = runtime.block_on(async {
///     let handle = Builder::new().name("radio").spawn(std::future::pending::<()>());
///     let running: Vec<Task> = vec![handle.task()];
///     for task in &running {
///         println!("{} {:?}, spawned at {}", task.id(), task.name(), task.spawn_site());
///     }
///     assert_eq!(running[0].id(), handle.id());
///     running[0].abort();
///     handle.await.unwrap_err()
/// });
/// assert!(error.is_cancelled());
/// ```
#[derive(Clone)]
pub struct Task(Reference);

impl Task {
    pub(crate) fn new(reference: Reference) -> Self {
        Self(reference)
    }

    /// Leaves the task's token, and wakes the task if it is parked. Tokens do not add up: two
    /// unparks before a [`park`](super::park) are one. What happens before `unpark` happens before
    /// the `park` that takes its token returns.
    ///
    /// Costs one locked instruction when called by a task of the same runtime.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{current, park};
    /// use evenkeel::time::{Duration, timeout};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// let tokens = runtime.spawn(async {
    ///     current().unpark();
    ///     current().unpark();
    ///     park().await;
    ///     // Both unparks have left one token, which is gone.
    ///     timeout(Duration::from_secs(1), park()).await
    /// });
    /// assert!(runtime.block_on(tokens).unwrap().is_err());
    /// ```
    #[inline(always)]
    pub fn unpark(&self) {
        wake::signal(self.0.live(), Signal::Unpark);
    }

    /// As [`JoinHandle::abort`](super::JoinHandle::abort).
    pub fn abort(&self) {
        wake::signal(self.0.live(), Signal::Abort);
    }

    /// Returns whether the task is complete. If so, the caller sees what the task did.
    pub(super) fn is_complete(&self) -> bool {
        self.0.live().state.load_joined().is_complete()
    }

    /// Returns the task's number.
    #[must_use]
    pub fn id(&self) -> Id {
        self.0.live().footer().id
    }

    /// Returns the task's name, if it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.live().name()
    }

    /// Returns where the task was spawned.
    #[must_use]
    pub fn spawn_site(&self) -> &'static Location<'static> {
        self.0.live().footer().site
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task({})", TaskInfo::of(self.0.live()))
    }
}

/// Returns the task that is running.
///
/// # Panics
/// Outside of a task, and so in the future of a [`block_on`](crate::Runtime::block_on) and in a
/// closure that [`spawn_blocking`](super::spawn_blocking) runs on a thread of its own; see
/// [`try_current`].
///
/// # Examples
/// A task gives another one what it needs to wake it:
/// ```
/// use evenkeel::task::{current, park};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let task = runtime.spawn(async {
///     let me = current();
///     evenkeel::spawn(async move { me.unpark() }).detach();
///     park().await;
/// });
/// assert!(runtime.block_on(task).is_ok());
/// ```
#[must_use]
#[track_caller]
pub fn current() -> Task {
    try_current().expect(
        "evenkeel::task::current() is called outside of a task: call it in a future that is spawned, or call \
         try_current",
    )
}

/// Returns the task that is running, if the caller is inside one.
///
/// # Examples
/// Lines of a log that name their task:
/// ```
/// use evenkeel::task::{Builder, try_current};
/// fn line(text: &str) -> String {
///     match try_current() {
///         Some(task) => format!("[{}] {text}", task.name().unwrap_or("a task")),
///         None => text.to_owned(),
///     }
/// }
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     assert_eq!(line("ahoy"), "ahoy");
///     let cook = Builder::new().name("cook").spawn(async { line("ahoy") });
///     assert_eq!(cook.await.unwrap(), "[cook] ahoy");
/// });
/// ```
#[must_use]
pub fn try_current() -> Option<Task> {
    entered::with(|context| Some(Task::new(Reference::of(context?.task()?))))
}
