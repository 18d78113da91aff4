//! Broadcasts: a closure for each worker of a runtime, which no other worker may run while that
//! worker can.
//!
//! # Roles
//! A *sender*, any thread, leaves a *part* with each processor. The processor's *worker* runs it,
//! once: between two batches of tasks; when it is out of work; or while it waits for a job, a scope
//! or another runtime. A worker inside a closure that neither ends nor waits keeps a sender that
//! waits waiting.
//!
//! # Why no part is lost
//! The sender counts each part as it counts a task from outside, so the runtime is not over before
//! the part has run. It leaves the part, and then wakes the worker if that sleeps, or else unparks
//! its thread. So the sender needs no fence between the part and its look whether the worker
//! sleeps: a worker whose announcement it misses comes out of its next park at once, sees all that
//! came before the unpark, and looks again. A worker without a thread gets one later. That thread
//! takes its seat under the lock under which the sender has looked for a thread. A worker that
//! waits parks for bounded times, and is unparked likewise. The sender leaves all parts of one
//! broadcast under one lock, so every worker gets the parts of two broadcasts in the same order. So
//! bodies that wait for each other, as at a barrier, find each other.
//!
//! # Workers that are gone
//! A worker is *gone* if it was dropped before it had a thread, or if its thread had settled and
//! has ended. The thread that finds this marks the worker as gone, under the lock under which
//! senders leave parts. It moves the worker's parts to the worker's *heir*, the next worker that is
//! not gone, and wakes the heir, as a sender does. Senders leave later parts with the heir. So each
//! part is with a worker that is there, which runs it like its own. But parts that wait for each
//! other wait for ever if one worker has two of them, and where all workers are gone nothing runs
//! at all.
//!
//! # Rejected
//! Handing parts on as errands: a worker that waits for a scope runs no errands, and the only one
//! left would wait for ever. Parts as tasks that stay at their processor: a worker that waits polls
//! no tasks, and two workers that wait for each other's parts would do so for ever.

use super::guest;
use crate::deque::closures::Closure;
use crate::primitives::lock;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::topology::Distance;

/// Returns the worker that runs the parts of `worker`: itself, or its heir if it is `gone`. If all
/// are gone, returns `worker`, and the parts do not run.
fn heir(gone: &[bool], worker: usize) -> usize {
    let mut successors = (worker..gone.len()).chain(0..worker);
    successors.find(|&successor| !gone[successor]).unwrap_or(worker)
}

/// Leaves each worker its part. Returns false, and leaves none, if the runtime is over, or if it
/// has begun to shut down and the caller is none of its threads.
pub(crate) fn send(shared: &Shared, mut part: impl FnMut(usize) -> Closure) -> bool {
    if shared.refuses_spawns() {
        return false;
    }
    let gone = lock(&shared.gone);
    if !shared.enter_jobs(shared.workers) {
        return false;
    }
    for index in 0..shared.workers {
        shared.processors[heir(&gone, index)].parts.push(part(index));
    }
    drop(gone);
    (0..shared.workers).for_each(|worker| alert(shared, worker));
    true
}

/// Makes a worker look for its parts, whether it sleeps or waits.
fn alert(shared: &Shared, worker: usize) {
    if !shared.idle.wake(worker) {
        shared.idle.unpark(worker);
    }
}

/// Marks `worker` as gone: its heir runs its parts.
pub(crate) fn bequeath(shared: &Shared, worker: usize) {
    let mut gone = lock(&shared.gone);
    gone[worker] = true;
    let heir = heir(&gone, worker);
    if heir == worker {
        return;
    }
    while let Some(part) = shared.processors[worker].parts.pop() {
        shared.processors[heir].parts.push(part);
    }
    drop(gone);
    alert(shared, heir);
}

/// Runs the parts of this worker, between two batches. The jobs that they leave in its deque,
/// except those of scopes, run at the ends of the next batches.
#[cold]
pub(crate) fn run_all(context: &Context) {
    while let Some(part) = context.seat.processor().parts.pop() {
        context.seat.processor().deque.change_root();
        part();
        context.shared().note_completed_outside();
    }
}

/// Runs the oldest part of this worker, which waits. Returns false if there is none.
pub(crate) fn run_one(context: &Context) -> bool {
    let Some(part) = context.seat.processor().parts.pop() else { return false };
    guest::host(context, Distance::Same, part);
    context.shared().note_completed_outside();
    true
}
