//! Broadcasts: a closure for each worker of a runtime, which no other worker may run.
//!
//! # Roles
//! A *sender*, any thread, leaves a *part* with each processor. Its *worker* runs it, once: between two batches of tasks;
//! when it is out of work; or while it waits for a job, a scope or another runtime. A worker inside
//! a closure that neither ends nor waits keeps the sender waiting, if that waits.
//!
//! # Why no part is lost
//! The sender counts each part as it counts a task from outside, so the runtime is not over before it has been run. It leaves the part,
//! makes a full fence and then looks whether the worker sleeps: with the sleeper's announcement and its last look that is the
//! pattern of [`idle`](super::idle). A worker that waits parks in between for a bounded time, and the sender unparks it. All parts of one
//! broadcast are left under one lock, so every worker gets those of two broadcasts in the same order: bodies that wait for each
//! other, as at a barrier, find each other.
//!
//! # Rejected
//! Parts as tasks that stay at their processor: a worker that waits polls no tasks, and two workers that wait for each
//! other's parts would do so for ever.

use super::closures::Closure;
use super::context::Context;
use super::guest;
use super::shared::Shared;
use crate::primitives::atomic::Edge;
use crate::primitives::{fence, lock};
use crate::topology::Distance;

/// Leaves each worker its part. False, and nothing is left, if the runtime is over.
pub(crate) fn send(shared: &Shared, mut part: impl FnMut(usize) -> Closure) -> bool {
    let ordered = lock(&shared.broadcasting);
    if !shared.enter_jobs(shared.workers) {
        return false;
    }
    for (index, processor) in shared.processors[..shared.workers].iter().enumerate() {
        processor.parts.push(part(index));
    }
    drop(ordered);
    fence::full(Edge::IdlePush);
    for worker in 0..shared.workers {
        if !shared.idle.wake(worker) {
            shared.idle.unpark(worker);
        }
    }
    true
}

/// Runs the parts of this worker, between two batches; what they leave in its deque, but for jobs of scopes, comes at the ends of the next.
#[cold]
pub(crate) fn run_all(context: &Context) {
    while let Some(part) = context.seat.processor().parts.pop() {
        context.seat.processor().deque.change_root();
        part();
        context.shared().note_completed_outside();
    }
}

/// Runs the oldest part of this worker, which waits. False if there is none.
pub(crate) fn run_one(context: &Context) -> bool {
    let Some(part) = context.seat.processor().parts.pop() else { return false };
    guest::host(context, Distance::Same, part);
    context.shared().note_completed_outside();
    true
}
