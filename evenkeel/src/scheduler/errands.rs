//! Errands: closures that come from outside, for any worker of a runtime.
//!
//! # Roles
//! A *sender*, any thread, leaves an errand. A *worker* takes the oldest: between two batches of
//! tasks, or when it is out of work. It takes one after another for about a batch, as long as it
//! has no task and no job. A worker that waits for another runtime is *enlisted*: it takes errands
//! too, because a worker of that other runtime may wait for one. A worker that waits for its own
//! runtime takes none; where all workers do so, a [spare](super::spare) takes it.
//!
//! # Why no errand is lost
//! The sender counts the errand as it counts a task from outside, so the runtime is not over before
//! the errand has run. The sender leaves the errand, makes a full fence, and wakes a sleeper unless
//! there is a searcher; then it arms the watch, as a caller's waker may block the searcher. With
//! the sleeper's announcement and last look, and the searcher's end of search, that is the pattern
//! of [`idle`](crate::idle). If no worker sleeps and the [lookout](super::lookout) rests, the
//! sender asks it, as a pusher of a task does: it calls a spare once all workers are stuck. An
//! enlisted worker parks for a bounded time, and enlists itself before it looks. A sender that
//! finds it in the list, under the lock of the list, unparks it.
//!
//! # Rejected
//! A task for each errand, in the inbox of a processor: one more allocation and task state, and a
//! processor that is fixed when the errand comes. That very processor would have to be woken, even
//! while another one searches. From outside, a short parallel loop took two to three times as long.

use super::guest;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{fence, lock};
use crate::processor::context::Context;
use crate::processor::errands::Errand;
use crate::processor::shared::Shared;
use crate::topology::Distance;

/// Leaves an errand; drops it if the runtime is over.
pub(crate) fn send(shared: &Shared, errand: Errand) {
    if !shared.enter_jobs(1) {
        return drop(errand);
    }
    let errands = &shared.errands;
    errands.queue.push(errand);
    fence::full(Edge::IdlePush);
    let counts = shared.idle.counts();
    if counts.searching == 0 {
        if counts.sleeping == 0 {
            shared.offer_to_spare();
        } else if !shared.wake_one() {
            shared.arm();
        }
    } else if counts.sleeping > 0 {
        // A caller's waker may block the searcher: then the watch finds the errand.
        shared.arm();
    }
    // All workers may be stuck in polls, or about to be.
    shared.watch_if_unwatched();
    if errands.listed.load(Ordering::Relaxed) > 0 {
        for &worker in &*lock(&errands.list) {
            shared.unpark(worker);
        }
    }
}

/// Runs the oldest errand. Returns false if there is none. The caller is a worker between two
/// batches, or a spare; it next runs the jobs that the errand leaves in its deque.
#[cold]
pub(crate) fn run_next(context: &Context) -> bool {
    let Some(errand) = context.shared().errands.queue.pop() else { return false };
    run(context, errand);
    true
}

/// Runs an errand that the caller, as of [`run_next`], has taken.
pub(super) fn run(context: &Context, errand: Errand) {
    context.seat.processor().deque.change_root();
    errand();
    context.shared().note_completed_outside();
}

/// Runs the oldest errand on a worker that waits or yields. Returns false if there is none.
pub(crate) fn run_one(context: &Context) -> bool {
    let Some(errand) = context.shared().errands.queue.pop() else { return false };
    guest::host(context, Distance::Same, errand);
    context.shared().note_completed_outside();
    true
}
