//! Fork-join jobs, as far as the scheduler knows them: what a worker does with one that it has
//! stolen.

#![allow(unsafe_code, reason = "a job is run by what its slot says")]

use crate::deque::fifo::Fifo;
use crate::deque::note::Note;
use crate::deque::slot::{Code, Slot};
use crate::deque::{Deque, Level, Reclaimed, Spilled};
use crate::policy::{forking, locality};
use crate::primitives::atomic::Ordering;
use crate::primitives::spin::Backoff;
use crate::primitives::unwind;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use std::mem;

/// Runs the job of a slot on the worker that has taken it from processor `victim`, or has popped it
/// from its own deque, and reports its end to the waiter. A worker that robs itself is a thief too.
/// Panics are caught inside. The caller has taken the job out of a deque.
pub(crate) type Run = unsafe fn(slot: &Slot, thief: &Context, victim: Option<usize>);

/// Takes the type from a function, for a [`Slot`] to keep.
#[inline(always)]
pub(crate) fn code(run: Run) -> Code {
    // SAFETY: all pointers to functions have one form; it is not called before `typed` has given
    // the type back.
    unsafe { mem::transmute::<Run, Code>(run) }
}

/// Gives the function its type back.
///
/// # Safety
/// It comes from [`code`].
unsafe fn typed(code: Code) -> Run {
    // SAFETY: the caller's promise: it has had this type.
    unsafe { mem::transmute::<Code, Run>(code) }
}

/// Since when a worker has been asked for jobs; zero if it has not.
#[derive(Debug, Default)]
pub(crate) struct Asked(u64);

impl Asked {
    /// Asks, if there is anything to ask for. True if that has been in vain for so long that it is
    /// time to [seize](Deque::seize).
    pub(crate) fn is_in_vain(&mut self, deque: &Deque, now: u64) -> bool {
        if !deque.has_private() {
            self.0 = 0;
        } else if self.0 == 0 || !deque.is_asked() {
            // New, or answered since: the owner is alive.
            deque.ask();
            self.0 = now;
        } else if forking::seize(now.saturating_sub(self.0)) {
            self.0 = 0;
            return true;
        }
        false
    }
}

/// Whether a worker that has been without work for so long may take the oldest job of `victim`, if
/// there is one.
pub(crate) fn may_take(context: &Context, victim: usize, waited: u64) -> bool {
    let shared = context.shared();
    let Some(note) = shared.processor(victim).deque.oldest() else { return true };
    let me = context.seat.me();
    let distance = shared.distance(me, victim);
    locality::may_take(shared.locality, Note::from_bits(note).offer(me), distance, waited)
}

/// A job that has been taken out of a deque: where it lies, and whose deque that was.
#[must_use = "a stolen job has to be run"]
pub(crate) struct Stolen {
    job: Job,
    victim: usize,
}

enum Job {
    /// In the slot with this number.
    Slot(u32),
    /// Out of the overflow.
    Spilled(Spilled),
}

impl Stolen {
    /// Takes the oldest public job of `victim` if `holds` after the look at its deque.
    #[inline]
    pub(crate) fn take(shared: &Shared, victim: usize, holds: impl Fn() -> bool) -> Option<Self> {
        let deque = &shared.processor(victim).deque;
        let job = match deque.steal_while(&holds) {
            Some(index) => Job::Slot(index),
            None => Job::Spilled(deque.steal_spilled(&holds)?),
        };
        if !deque.has_public() {
            // The next one need not ask first.
            deque.ask();
        }
        Some(Self { job, victim })
    }

    /// Whose deque it was in.
    pub(crate) fn victim(&self) -> usize {
        self.victim
    }

    /// Runs it. The caller's deque is empty: it is idle, or waits for a job that was stolen.
    pub(crate) fn run(self, context: &Context) {
        context.counters().jobs_stolen.add(1);
        let deque = &context.seat.processor().deque;
        debug_assert!(
            deque.is_empty(),
            "what a waiter takes from this deque are descendants of the job"
        );
        deque.change_root();
        self.run_here(context);
        deque.change_root();
    }

    /// Runs it on the worker that has taken it out of its own deque.
    pub(crate) fn run_own(self, context: &Context) {
        debug_assert_eq!(self.victim, context.seat.me());
        self.run_here(context);
    }

    fn run_here(self, context: &Context) {
        let index = match self.job {
            Job::Slot(index) => index,
            Job::Spilled(job) => return run_spilled(job, context, Some(self.victim)),
        };
        let slot = context.shared().processor(self.victim).deque.slot(index);
        // SAFETY: the job was taken out of the deque, and is run once.
        unsafe { run(slot, context, Some(self.victim)) };
    }
}

/// Says that whoever has taken a job from `victim` has read all that is in its slot, where nobody
/// waits for a result: its owner may use the slot again. Whoever has popped a job needs not say so.
pub(crate) fn release_slot(slot: &Slot, victim: Option<usize>) {
    if victim.is_some() {
        slot.latch.complete();
    }
}

/// Runs what somebody has spawned, which does not panic, on the worker that has taken it from
/// `victim` or popped it.
#[inline]
pub(crate) fn run_spawned(
    context: &Context,
    victim: Option<usize>,
    root: u64,
    closure: impl FnOnce(),
) {
    if victim.is_none_or(|victim| victim == context.seat.me()) {
        return unwind::never(closure);
    }
    // Stolen, and so the root of all that is in this worker's deque until that is empty again.
    let processor = context.seat.processor();
    let before = processor.root.load(Ordering::Relaxed);
    processor.root.store(root, Ordering::Relaxed);
    let floor = processor.deque.level();
    unwind::never(closure);
    if root != 0 {
        // Jobs of a scope, which others come for by that root. What nobody waits for comes later,
        // so that it keeps no tasks waiting.
        run_above(context, floor);
    }
    processor.root.store(before, Ordering::Relaxed);
}

/// Runs the job of a slot.
///
/// # Safety
/// The caller has taken the job out of the deque of `victim`, or has popped it.
unsafe fn run(slot: &Slot, context: &Context, victim: Option<usize>) {
    // SAFETY: the caller's promise.
    let code = unsafe { slot.run() };
    // SAFETY: slots hold what `code` gives.
    let run = unsafe { typed(code) };
    // SAFETY: the caller's promise.
    unsafe { run(slot, context, victim) }
}

/// Runs a job of an overflow on a worker that has taken it from `victim`, or has popped it.
fn run_spilled(job: Spilled, context: &Context, victim: Option<usize>) {
    let (address, code) = job.into_parts();
    // What runs it reads a slot: here one of this frame, for which nothing waits.
    let slot = Slot::new();
    // SAFETY: the slot is this frame's, and large enough for an address.
    slot.with_body(|place: *mut *mut ()| unsafe { place.write(address) });
    // SAFETY: overflows hold what `code` gives.
    let run = unsafe { typed(code) };
    // SAFETY: the job was taken out of the overflow, and is run once; the slot holds what its
    // maker put in.
    unsafe { run(&slot, context, victim) }
}

/// Runs the oldest job of a [`Fifo`].
///
/// # Safety
/// As [`Run`] says; the slot has the address of a `Fifo`.
pub(crate) unsafe fn run_oldest(slot: &Slot, context: &Context, victim: Option<usize>) {
    // SAFETY: the slot is the caller's.
    let fifo = slot.with_body(|place: *mut *mut Fifo| unsafe { place.read() });
    release_slot(slot, victim);
    // SAFETY: the queue is there until as many jobs have been run as have been pushed, and this is
    // about to run one. Its job may be the last, so nothing of the queue is used after it has begun.
    let fifo = unsafe { &*fifo };
    let (root, closure) = (fifo.root(), fifo.pop());
    run_spawned(context, victim, root, closure);
}

/// Runs the jobs above `floor`, the newest first, until there are none. They are boxed ones, for
/// which no frame waits one by one, since every `join` above has returned.
pub(crate) fn run_above(context: &Context, floor: Level) {
    run_above_while(context, floor, || true);
}

/// The same, as long as `more`, which is asked after each.
pub(crate) fn run_above_while(context: &Context, floor: Level, more: impl Fn() -> bool) {
    let deque = &context.seat.processor().deque;
    while deque.level() > floor {
        if deque.has_spilled() {
            let job = deque.pop_spilled(floor);
            context.forget_scoped(deque.level());
            if let Some(job) = job {
                run_spilled(job, context, None);
            }
        } else {
            run_last(context, deque);
        }
        if !more() {
            return;
        }
    }
}

/// Runs the job in the last place in use, or waits until its thief has read the slot.
fn run_last(context: &Context, deque: &Deque) {
    let place = deque.head().previous();
    // SAFETY: it is below the head.
    let slot = unsafe { place.slot() };
    deque.count_boxed(-1);
    context.forget_scoped(deque.level_below(place));
    if deque.pop(place) || deque.reclaim(place) == Reclaimed::Own {
        // SAFETY: it has just been taken out of the deque.
        return unsafe { run(slot, context, None) };
    }
    let mut backoff = Backoff::new();
    while !slot.latch.is_complete() {
        backoff.snooze();
    }
    deque.retire(place);
}
