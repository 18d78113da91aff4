//! Spawning: a new task gets its home, its memory and its place in a queue.

use super::sweep::sweep;
use super::{run, wake};
use crate::policy::placement::{self, Source, place};
use crate::primitives::atomic::Ordering;
use crate::primitives::thread;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::Room;
use crate::raw_task::id;
use crate::raw_task::rights::Runnable;
use std::sync::Arc;

/// A worker takes back complete tasks after this many spawns, so that a poll that spawns for ever
/// keeps the memory of as many and no more. An estimate: one load of a line of others among as many
/// spawns; no benchmark sets it.
const SPAWNS: u64 = 256;

/// The most sweeps of a thread that cancels its own late tasks: the next one follows only if a
/// queue was locked. An estimate; no benchmark sets it.
const LATE_SWEEPS: u32 = 1_000;

/// Spawns on the scheduler of the calling worker; calls `elsewhere` if the caller is not a worker,
/// or has entered another runtime. That gives none if there is no runtime: the public function
/// panics then, at its caller.
///
/// The task's parts are an argument, and not captured by both closures, so that they move directly
/// to the task's memory. Taken out of an `Option`, they move by way of the stack, in pieces that
/// are read again in other sizes: 10 of 34 ns of the spawn in `evenkeel-bench run --bench
/// actor_spawn`.
#[inline]
pub(crate) fn here<P, R>(
    parts: P,
    make: impl FnOnce(P, Birth) -> (Runnable, R),
    elsewhere: impl FnOnce(P) -> Option<R>,
) -> Option<R> {
    entered::at_home(|context| match context {
        Some(context) => Some(on_worker(context, |birth| make(parts, birth))),
        None => elsewhere(parts),
    })
}

/// Spawns on `shared`.
pub(crate) fn on<R>(shared: &Arc<Shared>, make: impl FnOnce(Birth) -> (Runnable, R)) -> R {
    entered::with(|context| match context {
        Some(context) if Arc::ptr_eq(context.shared(), shared) => on_worker(context, make),
        _ => from_outside(shared, make),
    })
}

#[inline]
fn on_worker<R>(context: &Context, make: impl FnOnce(Birth) -> (Runnable, R)) -> R {
    let shared = context.shared();
    let me = context.seat.me();
    // The registry has the same number, under the queue's lock, which is a fence while a thief
    // searches.
    let room = room(context.counters().registered() as usize);
    let birth = Birth { home: context.seat.home(), id: context.next_id(), room };
    let (task, handle) = make(birth);
    if shared.phase() >= Phase::Aborting {
        if shared.phase() == Phase::Over {
            // A hook at the end of a worker spawns. Another worker could steal the task, and give
            // it back to a home that has left.
            cancel(task);
            return handle;
        }
        run::abort_queued(&task);
    }
    let spawned = &context.counters().spawned;
    spawned.count_ordered();
    if spawned.get().is_multiple_of(SPAWNS) {
        // A poll that spawns and does not end keeps its worker from the end of the batch.
        run::take_back(context);
    }
    task.set_last(me);
    let ready = context.seat.push_new(task, context.now.get());
    wake::after_push(context, ready);
    // Once more, after the push; the first look has loaded the line.
    if shared.phase() >= Phase::Aborting {
        cancel_if_late(shared);
    }
    handle
}

/// Spawns from a thread that is not a worker of `shared`. The policy chooses the task's home, which
/// registers it.
fn from_outside<R>(shared: &Shared, make: impl FnOnce(Birth) -> (Runnable, R)) -> R {
    let Some((target, birth)) = admit(shared) else { return refused(make) };
    let (task, handle) = make(birth);
    push(shared, target, task);
    handle
}

/// Counts a task from outside, and chooses its worker. `None` if the runtime takes none.
fn admit(shared: &Shared) -> Option<(usize, Birth)> {
    if shared.phase() >= Phase::Aborting {
        // All workers may be stuck, so that none ever takes the task.
        return None;
    }
    let count = shared.enter_outside()?;
    let target = place(Source::Spawned(count as usize), 0, shared.workers);
    let waiting = count.saturating_sub(shared.outside_adopted.load(Ordering::Relaxed));
    let waiting = waiting as usize / shared.workers;
    let registered = shared.processors[target].counters.registered();
    let room = room(registered as usize + waiting);
    Some((target, Birth { home: shared.home(target), id: id::take_one(), room }))
}

/// Sends a task that has been [admitted](admit) to its worker.
fn push(shared: &Shared, target: usize, task: Runnable) {
    task.set_last(target);
    wake::send(shared, target, task);
    if shared.phase() >= Phase::Aborting {
        cancel_if_late(shared);
    }
}

/// Cancels what is in the queues of a runtime that has left workers behind, among it the task that
/// the caller has queued. Its workers may never come to it, and the ender, the thread that has shut
/// the runtime down, is gone. While the ender is there, this does nothing.
///
/// # Why no late task is missed
/// The caller pushes, looks at the phase, and then for the mark, under its lock. The ender sets the
/// phase, sets the mark under that lock, and sweeps once more. If the caller sees the earlier
/// phase, its push comes before the ender's fences: a push from outside has a full fence, and to a
/// push into a worker's own queue the claim of the sweep is one. If the caller misses the mark, it
/// was at the lock before the ender. Either way the ender's last sweep finds the task.
#[cold]
fn cancel_if_late(shared: &Shared) {
    if !shared.ending().is_left_behind {
        return;
    }
    let mut late = Vec::new();
    for _ in 0..LATE_SWEEPS {
        // Another late spawner may hold the caller's queue. It may have emptied it before the
        // caller's push.
        if sweep(shared, |mut tasks| late.append(&mut tasks)) {
            break;
        }
        thread::yield_now();
    }
    for task in late {
        run::cancel_elsewhere(shared, task);
    }
}

/// Makes a task and cancels it at once.
pub(crate) fn refused<R>(make: impl FnOnce(Birth) -> (Runnable, R)) -> R {
    let birth = Birth { home: std::ptr::null(), id: id::take_one(), room: Room::Compact };
    let (task, handle) = make(birth);
    cancel(task);
    handle
}

/// Cancels a task that no processor has.
#[cold]
fn cancel(task: Runnable) {
    run::abort_queued(&task);
    run::run_elsewhere(task);
}

/// Returns the layout of the next task of a processor that has `tasks` tasks.
#[inline(always)]
fn room(tasks: usize) -> Room {
    if placement::is_padded(tasks) { Room::Padded } else { Room::Compact }
}
