//! Wakes: a wake makes a task ready and puts it where it will run.

#![allow(
    unsafe_code,
    reason = "it makes the right to a task that it has woken, and follows the task's home"
)]

use super::handover;
use crate::policy::placement::{Source, place};
use crate::policy::{Look, forking, waking};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{clock, fence};
use crate::processor::Processor;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::runtimes;
use crate::processor::seat::Signalled;
use crate::processor::shared::Shared;
use crate::queue::keep::{self, Rung};
use crate::raw_task::header::{Header, Live};
use crate::raw_task::rights::{Reference, Runnable};
use crate::raw_task::state::{Release, Signal, Word};

/// Signals a task.
#[inline(always)]
pub(crate) fn signal(task: Live<'_>, signal: Signal) {
    // The signal uses up no reference, so the caller's is left and it is not the last.
    let _ = dispatch(task, signal, false);
}

#[inline(always)]
fn dispatch(task: Live<'_>, signal: Signal, consume: bool) -> Release {
    // SAFETY: only this call uses the context.
    let release = match unsafe { entered::current() } {
        Some(context) if context.seat.owns(&task) => local(context, task, signal, consume),
        _ => outside(task, signal, consume),
    };
    if signal == Signal::Abort {
        unpark(task);
    }
    release
}

/// Queues a task that was marked as aborted, if the right to poll it lies in its berth.
#[cold]
fn unpark(task: Live<'_>) {
    // SAFETY: the task is not freed meanwhile.
    if unsafe { (task.vtable.unpark)(task.ptr()) } {
        // SAFETY: the right lay in the task's berth, and only this thread has taken it.
        queue(unsafe { Runnable::new(task.ptr()) });
    }
}

/// Puts a task, the right to which was taken from its berth, where a wake would have put it. Not
/// inlined: there would be a copy at each place that sends a message.
#[inline(never)]
pub(crate) fn queue(task: Runnable) {
    // SAFETY: only this call uses the context.
    match unsafe { entered::current() } {
        Some(context) if context.seat.owns(&task) => {
            let ready = context.seat.push_resumed(task, context.now.get());
            context.counters().wakes_local.add(1);
            after_push(context, ready);
        }
        _ => queue_outside(task),
    }
}

/// Wakes a task and uses the reference up, in one step. Inlined, which saves 2 of the 23 ns of
/// `evenkeel-bench run --bench churn`.
#[inline(always)]
pub(crate) fn wake_consuming(reference: Reference) {
    let release = dispatch(reference.live(), Signal::Wake, true);
    // The signal has counted the reference out.
    let task = reference.into_counted();
    if release == Release::Last {
        // SAFETY: the reference was the last; without a handle the output is gone.
        unsafe { task.free() }
    }
}

#[inline(always)]
fn local(context: &Context, task: Live<'_>, signal: Signal, consume: bool) -> Release {
    let word = task.state.load();
    if !word.is_idle() && signal == Signal::Wake && wake_itself(context, task, word, consume) {
        return Release::Shared;
    }
    if !word.is_idle()
        && let Some(ready) = context.seat.wake_kept(task, signal, consume, context.now.get())
    {
        context.counters().wakes_local.add(1);
        context.count_kept_woken();
        after_push(context, ready);
        return Release::Shared;
    }
    let kept = Kept::of(task);
    match context.seat.signal(task, signal, consume, context.now.get()) {
        Signalled::Already(release) => {
            if let Some(kept) = kept {
                kept.ring(context.shared(), Some(context.seat.me()));
            }
            release
        }
        Signalled::Queued(ready) => {
            context.counters().wakes_local.add(1);
            after_push(context, ready);
            Release::Shared
        }
    }
}

/// Has a task that is polled here, and wakes itself, go to the back of the queue after its poll: by
/// a note of this worker, and no locked instruction. Returns false, and does nothing, if another
/// task is polled, or one that may leave its right to be polled to others.
#[inline(always)]
fn wake_itself(context: &Context, task: Live<'_>, word: Word, consume: bool) -> bool {
    let wakes =
        context.polls(task.ptr()) && !word.has_public() && (!consume || task.defer_reference(-1));
    if wakes {
        context.go_again();
    }
    wakes
}

/// Follows a push into the worker's own queue and its fence: answers a request, and wakes a
/// sleeper.
#[inline(always)]
pub(crate) fn after_push(context: &Context, ready: usize) {
    if context.is_asked() {
        handover::answer(context, true);
    }
    if context.shared().idle.is_pusher_to_look() {
        after_push_beside_sleepers(context, ready);
    }
}

#[cold]
fn after_push_beside_sleepers(context: &Context, ready: usize) {
    let idle = &context.shared().idle;
    let counts = idle.counts();
    if counts.all_away {
        return context.shared().call_relief();
    }
    if counts.is_unwatched {
        return context.shared().watch();
    }
    let own = context.seat.processor().look_at_backlog(ready, context.now.get());
    if waking::after_push(&own, counts.sleeping, counts.searching) {
        context.shared().wake_one();
    } else {
        context.shared().arm();
    }
}

#[cold]
fn outside(task: Live<'_>, signal: Signal, consume: bool) -> Release {
    let mut word = task.state.load();
    let kept = Kept::of(task);
    let home = task.home().addr();
    loop {
        let was_idle = word.is_idle();
        match task.state.signal(word, signal, consume) {
            Ok(_) if was_idle => break,
            Ok(release) => {
                if let Some(kept) = kept
                    && let Some(shared) = runtimes::with_processor(home)
                {
                    kept.ring(&shared, None);
                }
                return release;
            }
            Err(actual) => word = actual,
        }
    }
    // SAFETY: the signal took the task from idle to queued, so this is its only `Runnable`.
    queue_outside(unsafe { Runnable::new(task.ptr()) });
    Release::Shared
}

/// What a signaller knows of a task that may be [kept](keep), before its signal: after it the task
/// may be gone.
#[derive(Clone, Copy)]
struct Kept {
    keeper: usize,
    place: usize,
}

impl Kept {
    #[inline(always)]
    fn of(task: Live<'_>) -> Option<Self> {
        task.keeper().map(|keeper| Self { keeper, place: keep::place_of(&task) })
    }

    /// Tells the processor that may keep the task. The signal found it not idle. The `signaller` is
    /// a worker or a relief of the runtime, or another thread.
    #[cold]
    fn ring(self, shared: &Shared, signaller: Option<usize>) {
        if self.keeper < shared.workers {
            let signaller = signaller.filter(|&signaller| signaller < shared.workers);
            shared.processors[self.keeper].bell.ring(Rung { place: Some(self.place), signaller });
            follow(shared, self.keeper);
        }
    }
}

/// Sends a ready task to the processor that the policy chooses.
fn queue_outside(task: Runnable) {
    let home: *const Processor = task.home().cast();
    // SAFETY: an idle task's home is a processor of a scheduler that lives until the task is
    // complete, and the task cannot become complete before it is sent.
    let home = unsafe { &*home };
    let shared = home.shared.upgrade().expect("a scheduler outlives its tasks");
    let last = task.last();
    let source = if last < shared.workers {
        Source::Outside
    } else {
        // A relief polled it last: no worker's cache has its data.
        Source::Spawned(task.ptr().as_ptr().addr() / size_of::<Header>())
    };
    send(&shared, place(source, last, shared.workers), task);
}

/// Sends a ready task to processor `target`, or directly to the relief on duty if that comes
/// sooner.
pub(crate) fn send(shared: &Shared, target: usize, task: Runnable) {
    let idle = &shared.idle;
    if idle.is_up() && forking::relieve(shared.is_away(target), idle.counts().sleeping) {
        // The relief takes from its own inbox without a heavy fence. Because a call follows, the
        // sender need not look at anything else. The number is read before the row: a relief that
        // has been made since is in no earlier reading of that.
        let duty = idle.duty();
        shared.processors[duty].inbox.push(task);
        shared.call_relief();
    } else {
        leave(shared, target, task);
    }
}

/// Leaves a ready task in the inbox of processor `target`, and wakes a sleeper or calls the relief
/// if necessary.
pub(crate) fn leave(shared: &Shared, target: usize, task: Runnable) {
    shared.processors[target].inbox.push(task);
    follow(shared, target);
}

/// Follows what a worker takes for a task in the inbox of processor `target`, up to a
/// read-modify-write.
pub(super) fn follow(shared: &Shared, target: usize) {
    fence::after_read_modify_write(Edge::IdlePush);
    let counts = shared.idle.counts();
    let away = shared.is_away(target);
    if counts.all_away || forking::relieve(away, counts.sleeping) {
        return shared.call_relief();
    }
    if counts.is_unwatched {
        return shared.watch();
    }
    if counts.sleeping == 0 {
        return;
    }
    if away {
        // The target does not come to it, so even a lone, small task is worth a wake. A searcher
        // that is there may be stuck, and then the watch finds the task.
        if !shared.wake_one() {
            shared.arm();
        }
        return;
    }
    let published = &shared.processors[target].published;
    let ready = published.ready.len() + 1;
    if !shared.idle.wake(target) {
        let now = clock::now();
        // Nothing is known of tasks that come from elsewhere.
        let look = shared.processors[target].look_at_backlog(ready, now);
        let look = Look { mean_work: u64::MAX, ..look };
        let lasts = now.saturating_sub(published.batch.load(Ordering::Relaxed));
        if waking::after_send(&look, lasts, counts.sleeping, counts.searching) {
            shared.wake_one();
        } else {
            shared.arm();
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::Locality;
    use crate::policy::timing::RESOLUTION;
    use crate::processor::neighbours::Neighbours;
    use crate::processor::seat::Seat;
    use crate::processor::shared::Hooks;
    use crate::raw_task::blocks::{Birth, Room};
    use crate::raw_task::id;
    use crate::scheduler::run;
    use crate::task;
    use crate::task::word_waker::WordWaker;
    use crate::timers::Rules;
    use crate::topology::Topology;
    use std::panic::Location;
    use std::ptr;

    /// Leaves a lone task to processor 0, whose batch has begun at that time, while processor 1
    /// sleeps. Returns whether that is woken.
    fn wakes_beside_batch_since(began: u64) -> bool {
        let (shared, _seats) = Seat::all(
            Neighbours::all(&Topology::flat(2), &[0, 1]),
            Locality::default(),
            Hooks::default(),
            0,
            Rules::new::<WordWaker>(RESOLUTION),
        );
        shared.idle.sit(1);
        shared.idle.announce(1);
        shared.processors[0].published.batch.store(began, Ordering::Relaxed);
        let birth = Birth { home: ptr::null(), id: id::take_one(), room: Room::Compact };
        let (task, _handle) = task::make(async {}, (), Location::caller(), birth);
        leave(&shared, 0, task);
        let is_woken = !shared.idle.is_asleep(1);
        shared.processors[0].inbox.take().for_each(run::run_elsewhere);
        is_woken
    }

    #[test]
    fn a_lone_task_behind_a_long_poll_wakes_a_sleeper() {
        let now = clock::now();
        assert!(!wakes_beside_batch_since(u64::MAX), "a batch that has just begun");
        while clock::now().saturating_sub(now) < waking::WAITED {
            std::hint::spin_loop();
        }
        assert!(wakes_beside_batch_since(now));
    }
}
