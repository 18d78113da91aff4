//! Ways to shut a runtime down, and what is left then. [`ending`](super::ending) has the protocol.

use crate::task::TaskInfo;
use std::fmt;
use std::time::Duration;

/// How to shut a runtime down.
///
/// # After a deadline
/// A shutdown with a deadline waits for no poll, call or destructor beyond its grace. Only if the
/// system refuses [threads](Self::DeadlineAndGrace), it waits for destructors. The handle of each
/// task and closure finishes, and its joiner is woken, in whatever runtime or thread it waits. A
/// complete task has its output. A task that waited or was queued is *cancelled*. One that was
/// inside a poll is [*stuck*](crate::JoinError::is_stuck). A stuck task keeps its memory, and its
/// thread, until the poll returns. Then its output or its future is dropped there. Wakers of
/// joiners are called on the thread that shuts the runtime down, or on a reaper's.
///
/// A [broadcast](crate::fork_join::broadcast()) that has begun does wait for a stuck worker: it
/// returns once that poll has returned and the worker has run its part.
///
/// Jobs of [`fork_join::spawn`](crate::fork_join::spawn()) are dropped, as by
/// [`Abort`](Self::Abort). They are no tasks, and in no report. A job that has begun and does not
/// return leaves its worker behind. The jobs that wait for that worker are dropped once it is back:
/// they never begin.
///
/// A thread of the runtime destroys its thread-locals once it has left. One with a destructor that
/// does not return in time is left behind too, and counts among the
/// [`workers_left_behind`](ShutdownReport::workers_left_behind).
///
/// The stuck poll is still inside its runtime, whose [`Runtime`](crate::Runtime) is gone:
///
/// * `spawn`, `Handle::spawn` and `spawn_blocking` give tasks that are cancelled. Their futures are
///   dropped, on the caller's thread or on another. Their handles do not wait for the stuck poll.
/// * Wakers, `unpark` and `abort` have no effect on the other tasks of this runtime, which are
///   complete or about to be. They affect tasks of other runtimes as always.
/// * Timers can be armed, and end with the task's future. `Instant::now` goes on.
/// * Monitors, semaphores and channels can be entered where they are free. A wait makes the poll
///   return `Pending`.
/// * `fork_join::join` and scopes run on this thread, and on workers that are not stuck.
/// * An actor of this runtime has ended, and a message to it is an error.
///
/// If the poll returns `Pending`, its future is dropped, as that of each aborted task is: guards in
/// it are released then, and not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Wait until all tasks, blocking closures and jobs that workers have are complete, however
    /// long it takes.
    Drain,
    /// As [`Shutdown::Drain`] for this long; then abort what is left, with a grace of
    /// [`Shutdown::GRACE`].
    Deadline(Duration),
    /// As [`Shutdown::Deadline`], with another grace: the time after the deadline in which
    /// polls and closures that are under way have to return, and aborted tasks to be dropped. The
    /// call takes no longer than both together, and some milliseconds. What has not returned by
    /// then is left behind and reported as stuck.
    ///
    /// A worker drops the futures of its own aborted tasks. If a stuck worker has not come to them
    /// within 50 ms or half of the grace, separate threads drop them, called the
    /// [`name`](crate::Builder::name) and `reaper`. So the tasks' handles finish, and all that the
    /// tasks own is freed, while the polls are stuck. These threads are inside the runtime, and no
    /// workers. They also drop closures that have not begun. A destructor that blocks keeps one of
    /// them, and no other task: another thread goes on after 5 ms, up to 512 in all. The
    /// destructor's task is reported as stuck, and complete when the destructor returns. The
    /// threads go on to drop what is left when the call returns. A destructor that blocks from then
    /// on, on one of them or on a worker, makes its handle finish as stuck too, after a tenth of a
    /// second; the report has its task among the aborted. Only tasks behind 512 destructors that
    /// block wait for one of these. If the system refuses these threads, the calling thread drops
    /// the futures, and waits for their destructors without a bound.
    ///
    /// A grace of zero waits for nothing: what is inside a poll counts as stuck at once. A task
    /// that waits does not, though a thread that is about to queue it may have to run first.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{Runtime, Shutdown};
    /// use std::time::Duration;
    /// let runtime = Runtime::new().unwrap();
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// let (deadline, grace) = (Duration::from_millis(5), Duration::from_secs(10));
    /// let report = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
    /// assert_eq!((report.aborted.len(), report.stuck.len()), (1, 0));
    /// assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
    /// ```
    DeadlineAndGrace {
        /// How long tasks and closures have to come to their own ends.
        deadline: Duration,
        /// How long they have after that, once they are aborted.
        grace: Duration,
    },
    /// Abort every task at its next turn, cancel the blocking closures that have not begun, and
    /// wait, without a bound, for the polls and closures that are under way.
    ///
    /// Jobs of [`fork_join::spawn`](crate::fork_join::spawn()) that have not begun are dropped, on
    /// the workers, and so is each that is spawned from then on. The joins and scopes of closures
    /// that are under way go on.
    Abort,
}

impl Shutdown {
    /// The grace of [`Shutdown::Deadline`]: a tenth of a second.
    pub const GRACE: Duration = Duration::from_millis(100);

    /// Deadline and grace, if there is a deadline.
    pub(super) fn limits(self) -> Option<(Duration, Duration)> {
        match self {
            Self::Drain | Self::Abort => None,
            Self::Deadline(deadline) => Some((deadline, Self::GRACE)),
            Self::DeadlineAndGrace { deadline, grace } => Some((deadline, grace)),
        }
    }
}

/// What was left when a runtime shut down.
///
/// # Examples
/// ```
/// use evenkeel::{Runtime, Shutdown};
/// let runtime = Runtime::new().unwrap();
/// runtime.spawn(async {}).detach();
/// let report = runtime.shutdown(Shutdown::Drain);
/// assert!(report.is_clean());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that were aborted and blocking closures that were cancelled: their futures are
    /// dropped, or are about to be.
    pub aborted: Vec<TaskInfo>,
    /// Tasks and blocking closures with a poll, call or destructor that did not return in time.
    /// Their threads are left behind, and their handles return a
    /// [stuck](crate::JoinError::is_stuck) error. A task that merely waits behind such a poll is
    /// not among them: it is aborted.
    pub stuck: Vec<TaskInfo>,
    /// Workers that did not leave in time: those of the stuck tasks, and those that wait for the
    /// last task. If all have left, it is the number of threads, those of reliefs and
    /// [spares](crate::fork_join#threads) too, with a destructor of a thread-local that did not
    /// return in time.
    pub workers_left_behind: usize,
    /// Whether one of the runtime's own threads, a worker or one that runs a blocking closure, shut
    /// it down, and so could not wait for the rest. Such a shutdown finds nothing stuck: a handle
    /// waits until its task's poll returns.
    pub detached: bool,
}

impl ShutdownReport {
    /// Returns whether every task and closure came to its own end.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.aborted.is_empty()
            && self.stuck.is_empty()
            && self.workers_left_behind == 0
            && !self.detached
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("every task came to its own end");
        }
        if self.detached {
            writeln!(f, "ended by one of its own tasks, without waiting")?;
        }
        for (word, tasks) in [("aborted", &self.aborted), ("stuck", &self.stuck)] {
            for task in tasks {
                writeln!(f, "{word}: {task}")?;
            }
        }
        if self.workers_left_behind > 0 {
            writeln!(f, "{} workers did not leave in time", self.workers_left_behind)?;
        }
        Ok(())
    }
}
