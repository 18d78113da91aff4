//! How a runtime shuts down.
//!
//! # Protocol
//! Phases go up only: *running*, *draining* (only tasks may spawn), *aborting* (every worker aborts
//! the tasks of its registry, and every new task is born aborted), *over*. A worker that runs out
//! of work while the runtime drains or aborts asks whether all tasks are complete
//! ([`Shared::close_if_complete`]). The worker that finds it so declares the runtime over, and all
//! workers leave. The *ender*, the thread that shuts the runtime down, sets the phase, wakes all
//! workers, and waits for them to say that they have left. A worker inside a poll that does not
//! return cannot leave. With a deadline, the ender first gives aborted tasks a [turn](TURN) at
//! their workers. Then it [sweeps](crate::scheduler::sweep): it takes the tasks that stuck workers
//! cannot come to, and [reapers](super::reaper) drop their futures. What is left when the grace is
//! over is inside a poll, a call or a destructor: it is named as stuck, its thread is left behind,
//! and the ender [gives its handle up](crate::raw_task::state), so that the joiner goes on. Threads
//! that have left are [joined](super::own_thread), unless their thread-locals take longer.
//!
//! # Why no handle waits for a stuck poll
//! When the ender returns, each task is in one of these places. It is complete. A reaper has it, or
//! will: its handle finishes as *cancelled*, or as *stuck* if its destructor blocks. It is inside a
//! poll or call: the ender has given its handle up, or has found that none is there. Or it comes
//! into a queue later, from a thread that was held up or from a stuck poll: that thread
//! [cancels](crate::scheduler::spawn) it.
//!
//! The ender finds the tasks inside polls as those that were not complete, are in no queue and with
//! no reaper, and still are not complete. It collects them before it says that it leaves workers
//! behind. So no thread that cancels its own late tasks has one of them in hand. A thread that
//! [moves](crate::scheduler::sweep#what-a-thread-has-in-hand) tasks may: the ender sweeps until
//! each is at a place that is named above. A task whose future a worker has begun to drop as the
//! grace ends goes to the reapers' watch, as those that reapers drop.

use super::block_on::Deaf;
use super::blocking;
use super::handle::Handle;
use super::late_thread::Threads;
use super::reaper::{PATIENCE, Reaper};
use crate::primitives::lock;
use crate::processor::shared::{Phase, Shared};
use crate::processor::{Processor, current};
use crate::raw_task::rights::Reference;
use crate::scheduler::{driver, run, sweep};
use crate::task::TaskInfo;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

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
    /// Wait until all tasks and blocking closures are complete, however long it takes.
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
    fn limits(self) -> Option<(Duration, Duration)> {
        match self {
            Self::Drain | Self::Abort => None,
            Self::Deadline(deadline) => Some((deadline, Self::GRACE)),
            Self::DeadlineAndGrace { deadline, grace } => Some((deadline, grace)),
        }
    }
}

/// How long workers have, after a deadline, to come to their aborted tasks themselves; half of the
/// grace at most. An estimate: a worker that takes longer is inside a long poll, or a destructor
/// that does not return; no benchmark sets it.
const TURN: Duration = Duration::from_millis(50);

/// The ender's pause between its first two sweeps, and the longest one: pauses double. Estimates;
/// no benchmark sets them.
const SWEEPS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));

/// How long, at most, the ender retries a queue after the system has preempted its owner inside an
/// operation, or sweeps for a task that a preempted thread has in hand. An estimate; no benchmark
/// sets it.
const LOCKED: Duration = Duration::from_millis(100);

/// How long, at least, the ender waits for the ends of threads that have left. An estimate; no
/// benchmark sets it.
const LEFT: Duration = Duration::from_millis(10);

/// What was left when a runtime shut down.
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

/// Shuts down the runtime of `handle`, to which `threads` belong.
pub(super) fn shutdown(handle: &Handle, threads: &Threads, mode: Shutdown) -> ShutdownReport {
    let shared = handle.shared();
    let mut report = ShutdownReport::default();
    if shared.is_own_thread() {
        // A worker cannot wait for itself.
        shared.advance(Phase::Aborting);
        report.aborted = blocking::abort(shared);
        report.detached = true;
        lock(threads).clear();
        driver::orphan(shared);
        return report;
    }
    let limits = mode.limits();
    // A deadline that overflows the clock never comes.
    let deadline = limits.and_then(|(deadline, _)| Instant::now().checked_add(deadline));
    let mut left = false;
    if mode != Shutdown::Abort {
        shared.advance(Phase::Draining);
        left = wait_for_workers(shared, deadline);
    }
    // All that comes to its own end has the time until the deadline too.
    let end = limits.and_then(|(_, grace)| deadline?.max(Instant::now()).checked_add(grace));
    if !left {
        shared.advance(Phase::Aborting);
    }
    let reaper = Reaper::new(shared.clone());
    match limits {
        None => report.aborted = blocking::abort(shared),
        Some(_) => reaper.submit(blocking::close(shared)),
    }
    if !left {
        left = match limits {
            None => wait_for_workers(shared, None),
            Some((_, grace)) => {
                let before = sweep::batches(shared);
                wait_for_workers(shared, Some(Instant::now() + TURN.min(grace / 2)))
                    || sweep_until(shared, &reaper, before, end)
            }
        };
    }
    if left {
        // The lock is free while they are joined.
        let joined = std::mem::take(&mut *lock(threads));
        // A worker may have left its loop a moment ago.
        let end = end.map(|end| end.max(Instant::now() + LEFT));
        let _asleep = Asleep::inside(shared);
        for thread in joined {
            report.workers_left_behind += usize::from(!thread.join(end));
        }
    } else {
        let ending = shared.ending();
        report.workers_left_behind = ending.threads - ending.left - ending.helpers;
        drop(ending);
        let turn = limits.map_or(TURN, |(_, grace)| TURN.min(grace / 2)).max(PATIENCE);
        report.stuck = give_up(stuck(shared, &reaper, turn));
        lock(threads).clear();
        driver::orphan(shared);
    }
    let closures = {
        let _asleep = Asleep::inside(shared);
        shared.blocking.wait_for_threads(end)
    };
    report.stuck.extend(give_up(closures));
    report.aborted.append(&mut shared.ending().aborted);
    let stuck: HashSet<_> = report.stuck.iter().map(|task| task.id).collect();
    report.aborted.retain(|task| !stuck.contains(&task.id));
    report
}

/// Takes tasks from workers that do not come to them themselves, and has the `reaper` drop their
/// futures, until all workers have left or until `end`. True if they have left. A worker does come
/// to its tasks if it has begun another batch than `before`.
fn sweep_until(
    shared: &Arc<Shared>,
    reaper: &Arc<Reaper>,
    mut before: Vec<u64>,
    end: Option<Instant>,
) -> bool {
    let (mut pause, longest) = SWEEPS;
    loop {
        let batches = sweep::batches(shared);
        let stands_still = |number: usize| batches.get(number) == before.get(number);
        sweep::sweep_those(shared, stands_still, |tasks| reaper.submit(tasks));
        before = batches;
        let next = Instant::now() + pause;
        if wait_for_workers(shared, Some(end.map_or(next, |end| end.min(next)))) {
            return true;
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return false;
        }
        pause = (pause * 2).min(longest);
    }
}

/// The tasks inside a poll or a destructor: those that were not complete, that no sweep has found
/// in a queue, and that no thread has in hand for a queue. Each may have become complete meanwhile.
/// Those that a worker has begun to drop within `turn` are aborted, and the reapers' watch has
/// them.
fn stuck(shared: &Shared, reaper: &Arc<Reaper>, turn: Duration) -> Vec<Reference> {
    let address = |task: &Reference| task.live().ptr().as_ptr().addr();
    let until = Instant::now() + LOCKED;
    let processors = shared.processors.iter();
    let mut tasks: Vec<_> = processors.flat_map(|processor| incomplete(processor, until)).collect();
    sweep_whole(shared, reaper, until);
    // From here on a thread that queues a task looks, and cancels it. The next sweep finds what was
    // queued before that look.
    shared.ending().is_left_behind = true;
    let inside = loop {
        sweep_whole(shared, reaper, until);
        // A task that is with the reapers no longer is complete: this comes before that look.
        let reaped = reaper.unfinished();
        tasks.retain(|task| {
            !task.state.load().is_complete() && !reaped.contains(&task.live().footer().id)
        });
        let inside = sweep::inside(shared);
        let is_inside = |task| inside.contains_key(&address(task));
        if tasks.iter().all(is_inside) || Instant::now() >= until {
            break inside;
        }
        thread::yield_now();
    };
    let is_dropped = |task: &Reference| {
        let lasts = inside.get(&address(task)).copied().flatten();
        lasts.is_some_and(|lasts| u128::from(lasts) < turn.as_nanos())
    };
    let (dropped, mut stuck) = tasks.into_iter().partition::<Vec<_>, _>(is_dropped);
    let mut ending = shared.ending();
    for task in dropped.iter().map(|task| TaskInfo::of(task.live())) {
        // One that was aborted before the runtime was is not noted yet.
        if ending.aborted.iter().all(|noted| noted.id != task.id) {
            ending.aborted.push(task);
        }
    }
    drop(ending);
    stuck.extend(reaper.leave(dropped));
    stuck
}

/// While this lives, the clock of the runtime does not count the ender as awake, if the ender is in
/// `block_on` there. It waits: a clock that stands has to move on, for tasks that wait for timers.
struct Asleep<'a> {
    counted: Option<&'a Shared>,
    _deaf: Deaf,
}

impl<'a> Asleep<'a> {
    fn inside(shared: &'a Arc<Shared>) -> Self {
        let _deaf = Deaf::to(shared);
        let counted = current::is_counted(shared).then(|| &**shared);
        if let Some(shared) = counted {
            shared.go_outside();
        }
        Self { counted, _deaf }
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.counted {
            shared.clock.come();
        }
    }
}

/// Sweeps until no processor was locked, or until `until`.
fn sweep_whole(shared: &Shared, reaper: &Arc<Reaper>, until: Instant) {
    while !sweep::sweep(shared, |tasks| reaper.submit(tasks)) && Instant::now() < until {
        thread::yield_now();
    }
}

/// Gives up the handles of these tasks, but for those that are complete, and wakes their joiners.
/// Returns the tasks that are not complete.
fn give_up(tasks: Vec<Reference>) -> Vec<TaskInfo> {
    let stuck = tasks.iter().filter(|task| run::give_up(task));
    stuck.map(|task| TaskInfo::of(task.live())).collect()
}

/// Waits until all workers, reliefs and the lookout have left, or until `deadline`. True if they
/// have left. If the runtime has no worker threads, and no thread drives it, this one does
/// meanwhile.
fn wait_for_workers(shared: &Arc<Shared>, deadline: Option<Instant>) -> bool {
    let have_left = || {
        let ending = shared.ending();
        ending.left == ending.threads
    };
    let _asleep = Asleep::inside(shared);
    let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if let Some(left) = driver::wait(shared, &have_left, limit) {
        return left;
    }
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

/// The tasks of a processor that are not complete. An owner that was preempted inside an operation
/// keeps its queue locked: the caller retries until `until`.
fn incomplete(processor: &Processor, until: Instant) -> Vec<Reference> {
    loop {
        if let Some(incomplete) = sweep::incomplete(processor) {
            return incomplete;
        }
        if Instant::now() >= until {
            return Vec::new();
        }
        thread::yield_now();
    }
}
