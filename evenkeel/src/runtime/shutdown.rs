//! How a runtime ends.
//!
//! # Protocol
//! Phases go up only: *running*, *draining* (only tasks may spawn), *aborting* (every worker aborts the
//! tasks of its registry, and every new task is born aborted), *over*. A worker that runs out of work while
//! the runtime drains or aborts asks whether all tasks are complete
//! ([`Shared::close_if_complete`]); the one that finds it so declares the runtime over, and all leave. Whoever
//! ends the runtime sets the phase, wakes everybody, and waits for the workers to say that they have left.
//! A worker inside a poll that does not return cannot leave: with a deadline its other tasks are aborted
//! for it, it is left behind, and the task that it polls is named in the report.

use super::handle::Handle;
use super::relief_thread::Threads;
use crate::primitives::lock;
use crate::scheduler::shared::{Phase, Shared};
use crate::scheduler::wake;
use crate::task::TaskInfo;
use crate::task::rights::Reference;
use crate::task::state::Signal;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

/// How to end a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Wait until all tasks and blocking closures are complete, however long it takes.
    Drain,
    /// The same for this long; then abort what is left. What does not end within a further
    /// tenth of a second is left behind and reported as stuck.
    Deadline(Duration),
    /// Abort every task at its next turn, cancel the blocking closures that have not begun, and wait, without
    /// a bound, for the polls and closures that are under way.
    Abort,
}

/// How long, after a deadline, aborted tasks have to reach their next turn.
const GRACE: Duration = Duration::from_millis(100);

/// What was left when a runtime ended.
///
/// # Examples
/// ```
/// use evenkeel::{Runtime, Shutdown};
/// let runtime = Runtime::new().unwrap();
/// runtime.spawn(async {});
/// let report = runtime.shutdown(Shutdown::Drain);
/// assert!(report.is_clean());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that were aborted and blocking closures that were cancelled.
    pub aborted: Vec<TaskInfo>,
    /// Tasks and blocking closures whose poll or call did not return in time. Their threads are left
    /// behind.
    pub stuck: Vec<TaskInfo>,
    /// Workers that did not leave in time: those of the stuck tasks, and those that wait for the last task.
    pub workers_left_behind: usize,
    /// Whether the runtime was ended by one of its own tasks, so that nobody could wait for the rest.
    pub detached: bool,
}

impl ShutdownReport {
    /// Whether everything came to its own end.
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

/// Ends the runtime of `handle`, to which `threads` belong.
pub(super) fn shutdown(handle: &Handle, threads: &Threads, mode: Shutdown) -> ShutdownReport {
    let shared = handle.shared();
    let mut report = ShutdownReport::default();
    let deadline = match mode {
        Shutdown::Deadline(limit) => Instant::now().checked_add(limit),
        Shutdown::Drain | Shutdown::Abort => None,
    };
    if handle.is_own_thread() {
        // A worker cannot wait for itself.
        shared.advance(Phase::Aborting);
        report.aborted = handle.pool().close();
        report.detached = true;
        lock(threads).clear();
        return report;
    }
    let mut left = false;
    if mode != Shutdown::Abort {
        shared.advance(Phase::Draining);
        left = wait_for_workers(shared, deadline);
    }
    let grace = deadline.map(|_| Instant::now() + GRACE);
    if !left {
        shared.advance(Phase::Aborting);
    }
    report.aborted = handle.pool().close();
    if !left {
        left = wait_for_workers(shared, grace.map(|grace| grace - GRACE / 2));
    }
    if !left {
        abort_for_stuck(shared, grace);
        left = wait_for_workers(shared, grace);
    }
    report.aborted.append(&mut shared.ending().aborted);
    if left {
        for thread in std::mem::take(&mut *lock(threads)) {
            // Workers catch the panics of tasks and hooks.
            thread.join().expect("a worker does not panic");
        }
    } else {
        let ending = shared.ending();
        report.workers_left_behind = ending.threads - ending.left;
        drop(ending);
        let stuck = incomplete(shared, Some(Instant::now() + GRACE));
        report.stuck = stuck.iter().map(|task| TaskInfo::of(task.live())).collect();
        let stuck: Vec<_> = report.stuck.iter().map(|task| task.id).collect();
        report.aborted.retain(|task| !stuck.contains(&task.id));
        lock(threads).clear();
    }
    report.stuck.extend(handle.pool().join(grace));
    report
}

/// Waits until all workers have left, and the relief, or until `deadline`. True if they have.
fn wait_for_workers(shared: &Shared, deadline: Option<Instant>) -> bool {
    let mut ending = shared.ending();
    while ending.left < ending.threads {
        ending = match deadline {
            None => shared.ended().wait(ending).unwrap_or_else(|poisoned| poisoned.into_inner()),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return false;
                }
                let waited = shared.ended().wait_timeout(ending, left);
                waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
            }
        };
    }
    true
}

/// Aborts the tasks of workers that do not come to it themselves; the others drop their futures.
fn abort_for_stuck(shared: &Shared, until: Option<Instant>) {
    for task in incomplete(shared, until) {
        wake::signal(task.live(), Signal::Abort);
    }
}

/// The tasks that are not complete, by force: their workers do not answer. A worker that has been preempted
/// inside an operation keeps its queue locked: it is tried again `until` then.
fn incomplete(shared: &Shared, until: Option<Instant>) -> Vec<Reference> {
    let mut tasks = Vec::new();
    for processor in shared.processors.iter() {
        loop {
            if let Some(local) = processor.local.claim(true) {
                let registered = local.registry.iter();
                let incomplete = registered.filter(|task| !task.state.load().is_complete());
                tasks.extend(incomplete.map(Reference::of));
                break;
            }
            if is_past(until) {
                break;
            }
            thread::yield_now();
        }
    }
    tasks
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_none_or(|until| Instant::now() >= until)
}
