//! One poll: from a queue's entry to the task's next place.

#![allow(unsafe_code, reason = "it calls a task's own functions")]

use crate::detect::{self, Polling};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{fence, unwind};
use crate::processor::context::Context;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::berth::After;
use crate::raw_task::header::{Live, TaskPtr, UNREGISTERED};
use crate::raw_task::report::TaskInfo;
use crate::raw_task::rights::{Held, Reference, Runnable};
use crate::raw_task::state::{Begin, Polled, Release};
use std::task::Poll;

/// A processor wakes a sleeping home to take back complete tasks once per this many tasks that it
/// has sent home. So their memory is not kept for long, and a wake-up per task would cost more. A
/// prime, so that each home has its turn where tasks of several come in some order again and again.
/// An estimate that no benchmark sets.
const RETURNS: u64 = 1_021;

/// Polls a task once, or cancels it.
#[inline(always)]
pub(crate) fn run(context: &Context, task: Runnable) {
    match task.state.begin() {
        Begin::Poll(polled) => {
            let ptr = task.ptr();
            task.set_last(context.seat.me());
            context.begin_poll(ptr);
            let polling = Polling::begin(task.live());
            // SAFETY: this thread has the task's `Runnable`, and a task with a `Runnable` has its
            // future.
            let outcome = unsafe { (task.vtable.poll)(ptr) };
            context.end_poll();
            match outcome {
                Poll::Pending => match context.take_after() {
                    After::Wait => {
                        wait(context, task, polled);
                        polling.check(context.shared().hooks.deadlock.as_ref());
                    }
                    After::Again => {
                        context.seat.push(task, context.now.get());
                    }
                    // The public part has the right to poll the task, and may have given it to
                    // another thread already.
                    After::Parked => {}
                    After::Visit => context.visit(task),
                },
                Poll::Ready(()) => {
                    context.take_after();
                    complete(context, task);
                }
            }
        }
        Begin::Cancel => cancel(context, task),
    }
}

/// Keeps a task that waits, or ends its poll.
#[inline(always)]
fn wait(context: &Context, task: Runnable, polled: Polled) {
    let Err(task) = context.seat.keep(task, polled) else { return };
    if let Some(task) = task.end(polled) {
        context.seat.push(task, context.now.get());
    }
}

#[cold]
fn cancel(context: &Context, task: Runnable) {
    if context.shared().phase() >= Phase::Aborting {
        context.shared().note_aborted(TaskInfo::of(task.live()));
    }
    let ptr = task.ptr();
    context.begin_drop(ptr);
    {
        let _polling = Polling::begin(task.live());
        // SAFETY: as in `run`.
        unsafe { (task.vtable.cancel)(ptr) };
    }
    context.end_poll();
    context.take_after();
    complete(context, task);
    context.end_drop();
}

/// Completes a task that has its output in place: takes it out of its registry, or sends it home.
#[inline]
fn complete(context: &Context, task: Runnable) {
    context.count_completed();
    let ptr = task.ptr();
    let at_home = std::ptr::eq(task.home(), context.seat.home());
    let slot = task.slot.load(Ordering::Relaxed);
    if at_home {
        // Before the hold ends: iterating over the registry relies on the tasks in it.
        context.seat.unregister(slot);
    }
    let release = finish(task, at_home);
    if at_home {
        context.counters().completed.count_ordered();
        if release == Release::Last {
            // SAFETY: no other right to the task is left, and without a handle its output is gone.
            unsafe { ptr.free() }
        }
    } else {
        send_home(context, ptr);
    }
}

/// Makes the task complete and wakes its joiner. With `unregister`, ends the scheduler's hold.
fn finish(task: Runnable, unregister: bool) -> Release {
    let ptr = task.ptr();
    let pending = task.pending();
    let mut word = task.state.load();
    let mut dropped = false;
    detect::completed(task.live());
    let release = loop {
        if !word.has_handle() && !dropped {
            // SAFETY: the output is in place, and a task without a handle has no joiner.
            unsafe { (task.vtable.drop_output)(ptr) };
            dropped = true;
            word = task.state.load();
        }
        match task.state.complete(word, pending, unregister && !word.has_joiner()) {
            Ok(release) => break release,
            Err(actual) => word = actual,
        }
    };
    if !word.has_joiner() {
        return release;
    }
    // SAFETY: the scheduler still holds the task.
    let task = unsafe { Live::new(ptr) };
    // SAFETY: a task with a joiner has had a handle.
    let joined = unsafe { task.joined() };
    // SAFETY: the task is complete and `JOINER` was set, so only this thread accesses the slot.
    let joiner = unsafe { joined.take_joiner() };
    if let Some(joiner) = joiner {
        // A foreign waker that panics must not unwind the worker.
        unwind::contain(|| joiner.wake());
    }
    if unregister { task.state.unregister() } else { Release::Shared }
}

/// Gives up the handle of a task whose poll does not return, and wakes its joiner. Returns false,
/// and does nothing, if the task is complete.
#[cold]
pub(crate) fn give_up(task: &Reference) -> bool {
    let Some(word) = task.state.give_up() else { return false };
    if word.has_joiner() {
        // SAFETY: a task with a joiner has had a handle.
        let joined = unsafe { task.live().joined() };
        // SAFETY: this thread has given the handle up and found `JOINER` set, so only it accesses
        // the slot.
        let joiner = unsafe { joined.take_joiner() };
        if let Some(joiner) = joiner {
            // A foreign waker that panics must not unwind the thread that ends the runtime.
            unwind::contain(|| joiner.wake());
        }
    }
    true
}

/// Sends a complete task to its home, the processor that has it in its registry.
#[cold]
fn send_home(context: &Context, task: TaskPtr) {
    let shared = context.shared();
    let returns = &context.counters().returned;
    // First: once it is at home, the runtime may be over.
    returns.count_ordered();
    // SAFETY: this thread has made the task complete, and its home's registry still holds it.
    let home = give_back(shared, unsafe { Held::new(task) });
    fence::after_read_modify_write(Edge::IdlePush);
    if returns.get().is_multiple_of(RETURNS) || shared.phase() > Phase::Running {
        shared.idle.wake(home);
    }
}

/// Leaves a complete task at its home, and returns the home's number.
fn give_back(shared: &Shared, task: Held) -> usize {
    let address = task.home();
    let home = shared
        .processors
        .iter()
        .position(|processor| std::ptr::eq(std::ptr::from_ref(processor).cast(), address))
        .expect("a task's home is a processor of its scheduler");
    shared.processors[home].returned.push(task);
    home
}

/// Takes complete tasks that other processors polled last out of this processor's registry.
pub(crate) fn take_back(context: &Context) {
    for task in context.seat.processor().returned.take() {
        context.seat.unregister(task.slot.load(Ordering::Relaxed));
        context.counters().taken_back.count_ordered();
        task.release();
    }
}

/// Makes this processor the home of a task that has been spawned outside and is in no registry.
#[inline]
pub(crate) fn adopt(context: &Context, task: &Runnable) {
    if task.slot.load(Ordering::Relaxed) == UNREGISTERED {
        task.set_home(context.seat.home());
        context.seat.register(task);
        context.counters().adopted.add(1);
        context.shared().outside_adopted.fetch_add(1, Ordering::Relaxed);
        if context.shared().phase() >= Phase::Aborting {
            abort_queued(task);
        }
    }
}

/// Marks a queued task, so that its next poll cancels it.
pub(crate) fn abort_queued(task: &Runnable) {
    let mut word = task.state.load();
    while let Err(actual) = task.state.signal(word, crate::raw_task::state::Signal::Abort, false) {
        word = actual;
    }
}

/// Polls a task that no processor has, once, on the calling thread; the task is complete after
/// that.
pub(crate) fn run_elsewhere(task: Runnable) {
    let ptr = task.ptr();
    detect::in_closure(task.live(), || {
        let cancelled = match task.state.begin() {
            // SAFETY: this thread has the task's `Runnable`.
            Begin::Poll(_) => unsafe { (task.vtable.poll)(ptr) }.is_pending(),
            Begin::Cancel => true,
        };
        if cancelled {
            // SAFETY: as above; the task is not complete.
            unsafe { (task.vtable.cancel)(ptr) };
        }
    });
    if finish(task, true) == Release::Last {
        // SAFETY: no other right to the task is left, and without a handle its output is gone.
        unsafe { ptr.free() }
    }
}

/// Drops the future of a task of `shared`, or a closure that has not begun, on a thread that is not
/// a worker. The task has been marked as aborted.
///
/// A registered task goes home, complete, and that processor's worker counts it when it takes it
/// back. A task that no processor has counts as complete outside, where its spawn was counted.
#[cold]
pub(crate) fn cancel_elsewhere(shared: &Shared, task: Runnable) {
    let ptr = task.ptr();
    let is_registered = task.slot.load(Ordering::Relaxed) != UNREGISTERED;
    let is_closure = task.home().is_null();
    // SAFETY: this thread has the task's `Runnable`, and a task with a `Runnable` has its future.
    detect::in_closure(task.live(), || unsafe { (task.vtable.cancel)(ptr) });
    let release = finish(task, !is_registered);
    if is_registered {
        shared.reaped.fetch_add(1, Ordering::Release);
        // SAFETY: this thread has made the task complete, and its home's registry still holds it.
        let home = give_back(shared, unsafe { Held::new(ptr) });
        fence::after_read_modify_write(Edge::IdlePush);
        shared.idle.wake(home);
        return;
    }
    if release == Release::Last {
        // SAFETY: no other right to the task is left, and without a handle its output is gone.
        unsafe { ptr.free() }
    }
    shared.note_completed_outside();
    if is_closure {
        shared.go_outside();
    } else {
        shared.outside_adopted.fetch_add(1, Ordering::Relaxed);
    }
}
