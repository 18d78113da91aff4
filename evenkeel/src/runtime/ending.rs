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
use super::shutdown::{Shutdown, ShutdownReport};
use crate::primitives::lock;
use crate::processor::shared::{Phase, Shared};
use crate::processor::{Processor, current};
use crate::raw_task::rights::Reference;
use crate::scheduler::{driver, run, sweep};
use crate::task::TaskInfo;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

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

/// Shuts down the runtime of `handle`, to which `threads` belong.
pub(super) fn shutdown(handle: &Handle, threads: &Threads, mode: Shutdown) -> ShutdownReport {
    let shared = handle.shared();
    if shared.is_own_thread() {
        return detach(shared, threads);
    }
    let limits = mode.limits();
    let grace = limits.map(|(_, grace)| grace);
    // A deadline that overflows the clock never comes.
    let deadline = limits.and_then(|(deadline, _)| Instant::now().checked_add(deadline));
    let left = mode != Shutdown::Abort && drain(shared, deadline);
    // All that comes to its own end has the time until the deadline too.
    let end = grace.and_then(|grace| deadline?.max(Instant::now()).checked_add(grace));
    if !left {
        shared.advance(Phase::Aborting);
    }
    let mut report = ShutdownReport::default();
    let reaper = Reaper::new(shared.clone());
    match grace {
        None => report.aborted = blocking::abort(shared),
        Some(_) => reaper.submit(blocking::close(shared)),
    }
    if left || abort(shared, &reaper, grace, end) {
        report.workers_left_behind = join(shared, threads, end);
    } else {
        (report.workers_left_behind, report.stuck) = leave_behind(shared, &reaper, threads, grace);
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

/// Begins to shut the runtime down for one of its own threads, which cannot wait for itself.
fn detach(shared: &Arc<Shared>, threads: &Threads) -> ShutdownReport {
    shared.advance(Phase::Aborting);
    let aborted = blocking::abort(shared);
    lock(threads).clear();
    driver::orphan(shared);
    ShutdownReport { aborted, detached: true, ..ShutdownReport::default() }
}

/// Waits for tasks to come to their own ends, until `deadline`. True if all workers have left.
fn drain(shared: &Arc<Shared>, deadline: Option<Instant>) -> bool {
    shared.advance(Phase::Draining);
    wait_for_workers(shared, deadline)
}

/// Waits for workers to abort their tasks. If there is a grace, takes tasks from workers that do
/// not come to them in their turn, until `end`. True if all workers have left.
fn abort(
    shared: &Arc<Shared>,
    reaper: &Arc<Reaper>,
    grace: Option<Duration>,
    end: Option<Instant>,
) -> bool {
    if grace.is_none() {
        return wait_for_workers(shared, None);
    }
    let before = sweep::batches(shared);
    wait_for_workers(shared, Some(Instant::now() + turn(grace)))
        || sweep_until(shared, reaper, before, end)
}

/// Returns the [turn](TURN) of workers within this grace.
fn turn(grace: Option<Duration>) -> Duration {
    grace.map_or(TURN, |grace| TURN.min(grace / 2))
}

/// Joins the threads, which have left, until `end`. Returns how many take longer.
fn join(shared: &Arc<Shared>, threads: &Threads, end: Option<Instant>) -> usize {
    // The lock is free while they are joined.
    let joined = std::mem::take(&mut *lock(threads));
    // A worker may have left its loop a moment ago.
    let end = end.map(|end| end.max(Instant::now() + LEFT));
    let _asleep = Asleep::inside(shared);
    joined.into_iter().map(|thread| usize::from(!thread.join(end))).sum()
}

/// Leaves workers behind. Returns how many, and the tasks that keep them.
fn leave_behind(
    shared: &Arc<Shared>,
    reaper: &Arc<Reaper>,
    threads: &Threads,
    grace: Option<Duration>,
) -> (usize, Vec<TaskInfo>) {
    let ending = shared.ending();
    let workers = ending.threads - ending.left - ending.helpers;
    drop(ending);
    let stuck = give_up(stuck(shared, reaper, turn(grace).max(PATIENCE)));
    lock(threads).clear();
    driver::orphan(shared);
    (workers, stuck)
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
