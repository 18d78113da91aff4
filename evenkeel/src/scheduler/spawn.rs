//! How a new task gets its home and goes into a queue.

use super::context::{self, Context};
use super::shared::{Phase, Shared};
use super::{run, wake};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::fence;
use crate::task::header::Runnable;
use crate::task::id::{self, Id};
use std::sync::Arc;

/// Spawns on the scheduler that the calling worker belongs to. None if the caller is no worker.
#[inline]
pub(crate) fn here<R>(make: impl FnOnce(*const (), Id) -> (Runnable, R)) -> Option<R> {
    context::with(|context| Some(on_worker(context?, make)))
}

/// Spawns on `shared`.
pub(crate) fn on<R>(shared: &Arc<Shared>, make: impl FnOnce(*const (), Id) -> (Runnable, R)) -> R {
    context::with(|context| match context {
        Some(context) if Arc::ptr_eq(context.shared(), shared) => on_worker(context, make),
        _ => wake::spawn_outside(shared, |home| make(home, id::take_one())),
    })
}

#[inline]
fn on_worker<R>(context: &Context, make: impl FnOnce(*const (), Id) -> (Runnable, R)) -> R {
    let shared = context.shared();
    let (task, handle) = make(shared.home(context.seat.me()), context.next_id());
    context.counters().spawned.add_ordered(1);
    context.seat.register(&task);
    task.last.store(context.seat.me() as u16, Ordering::Relaxed);
    if shared.phase() >= Phase::Aborting {
        run::abort_queued(&task);
    }
    let ready = context.seat.push(task, context.now.get());
    // No locked instruction stands between this push and the look for sleepers.
    fence::full(Edge::IdlePush);
    wake::after_push(context, ready);
    handle
}
