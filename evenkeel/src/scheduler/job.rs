//! Fork-join jobs in the scheduler: how a worker takes and runs one.

#![allow(unsafe_code, reason = "the function in a job's slot runs the job")]

use crate::deque::fifo::Fifo;
use crate::deque::note::Note;
use crate::deque::slot::{Code, Slot};
use crate::deque::{Deque, Level, Reclaimed, Spilled};
use crate::policy::forking;
use crate::policy::locality::{self, Sight};
use crate::primitives::atomic::Ordering;
use crate::primitives::spin::Backoff;
use crate::primitives::unwind;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use std::mem;

/// Runs the job of a slot on the worker that has taken it from processor `victim`, or has popped it
/// from its own deque, and reports its end to the waiter. A worker that steals from its own deque
/// is a thief too. The function catches panics. The caller has taken the job out of a deque.
pub(crate) type Run = unsafe fn(slot: &Slot, thief: &Context, victim: Option<usize>);

/// Erases the type of a function, for a [`Slot`] to keep.
#[inline(always)]
pub(crate) fn code(run: Run) -> Code {
    // SAFETY: all pointers to functions have one form, and no code calls it before `typed` has
    // restored the type.
    unsafe { mem::transmute::<Run, Code>(run) }
}

/// Restores the type of a function.
///
/// # Safety
/// The value comes from [`code`].
unsafe fn typed(code: Code) -> Run {
    // SAFETY: the caller's promise: it had this type before.
    unsafe { mem::transmute::<Code, Run>(code) }
}

/// What a thief knows of the jobs of a worker.
#[derive(Debug, Default)]
pub(crate) struct Victim {
    pub(crate) asked: Asked,
    /// Its oldest job, as the thief has seen it.
    pub(crate) sight: Sight,
}

/// Since when a thief has asked a worker for jobs; zero if it has not.
#[derive(Debug, Default)]
pub(crate) struct Asked(pub(crate) u64);

impl Asked {
    /// Asks, if there is anything to ask for. Returns true if the thief has asked in vain for so
    /// long that it is time to [seize](Deque::seize).
    pub(crate) fn is_in_vain(&mut self, deque: &Deque, now: u64) -> bool {
        if !deque.has_private() {
            self.0 = 0;
        } else if self.0 == 0 || !deque.is_asked() {
            // A new request, or answered since: the owner pushes jobs.
            deque.ask();
            self.0 = now;
        } else if forking::seize(now.saturating_sub(self.0)) {
            self.0 = 0;
            return true;
        }
        false
    }
}

/// Returns whether a worker that has seen the oldest job of `victim` for `seen` may take it, if
/// there is one.
pub(crate) fn may_take(context: &Context, victim: usize, seen: u64) -> bool {
    let job = context.shared().processor(victim).deque.oldest();
    Seen { job, length: seen }.may_take(context, victim)
}

/// The oldest job of a victim, as a thief has seen it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Its note; none if there is no job.
    job: Option<u32>,
    /// For how long.
    length: u64,
}

impl Seen {
    /// Looks at the oldest job of `victim`. A thief that is `free` takes it however short the
    /// sight.
    pub(crate) fn of(
        context: &Context,
        victim: usize,
        sight: &mut Sight,
        now: u64,
        free: bool,
    ) -> Self {
        let job = context.shared().processor(victim).deque.oldest();
        let length = sight.see(job, now);
        Self { job, length: if free { u64::MAX } else { length } }
    }

    /// Returns whether the thief may take the job. True if there is none.
    pub(crate) fn may_take(self, context: &Context, victim: usize) -> bool {
        let Some(note) = self.job else { return true };
        let (shared, me) = (context.shared(), context.seat.me());
        let (offer, distance) = (Note::from_bits(note).offer(me), shared.distance(me, victim));
        locality::may_take(shared.locality, offer, distance, self.length)
    }

    /// Returns whether the thief may take it once it has seen it for longer.
    pub(crate) fn may_ever_take(self, context: &Context, victim: usize) -> bool {
        Self { length: u64::MAX, ..self }.may_take(context, victim)
    }

    /// Looks again, within the steal: another job may lie there by now, which the thief has not
    /// seen before.
    pub(crate) fn may_still_take(self, context: &Context, victim: usize) -> bool {
        let job = context.shared().processor(victim).deque.oldest();
        let is_known = job == self.job || self.length == u64::MAX;
        Self { job, length: if is_known { self.length } else { 0 } }.may_take(context, victim)
    }
}

/// A job that was taken out of a deque: where it lies, and the number of the deque's processor.
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
    /// Takes the oldest public job of `victim` if `holds` returns true after the look at its deque.
    #[inline]
    pub(crate) fn take(shared: &Shared, victim: usize, holds: impl Fn() -> bool) -> Option<Self> {
        let deque = &shared.processor(victim).deque;
        let job = match deque.steal_while(&holds) {
            Some(index) => Job::Slot(index),
            None => Job::Spilled(deque.steal_spilled(&holds)?),
        };
        if !deque.has_public() {
            // The next thief need not ask first.
            deque.ask();
        }
        Some(Self { job, victim })
    }

    /// Returns the number of the processor that had the job in its deque.
    pub(crate) fn victim(&self) -> usize {
        self.victim
    }

    /// Runs the job. The caller's deque is empty: the caller is idle, or waits for a job that was
    /// stolen.
    pub(crate) fn run(self, context: &Context) {
        context.counters().jobs_stolen.add(1);
        let deque = &context.seat.processor().deque;
        debug_assert!(
            deque.is_empty(),
            "what a waiter takes from this deque are descendants of the job"
        );
        deque.change_root();
        // The first job that it forks is its largest, and public at once: another thief need not
        // ask for it, nor seize it from inside a long leaf.
        deque.ask();
        self.run_here(context);
        deque.change_root();
    }

    /// Runs the job on the worker that has taken it out of its own deque.
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
        // SAFETY: this worker has taken the job out of the deque, and runs it once.
        unsafe { run(slot, context, Some(self.victim)) };
    }
}

/// Completes the slot of a job without a waiter, once the thief has read all of it: the owner may
/// use the slot again. An owner that has popped the job (`victim` is `None`) need not do so.
pub(crate) fn release_slot(slot: &Slot, victim: Option<usize>) {
    if victim.is_some() {
        slot.latch.complete();
    }
}

/// Runs a spawned closure, which does not panic, on the worker that has taken its job from `victim`
/// or popped it.
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
    // The job is stolen, so its root is that of all jobs in this worker's deque until the deque is
    // empty again.
    let processor = context.seat.processor();
    let before = processor.root.load(Ordering::Relaxed);
    processor.root.store(root, Ordering::Relaxed);
    let floor = processor.deque.level();
    unwind::never(closure);
    if root != 0 {
        // These are jobs of a scope, which waiters of that root may take. Detached jobs run later,
        // so that they keep no tasks waiting.
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
    // SAFETY: slots hold results of `code`.
    let run = unsafe { typed(code) };
    // SAFETY: the caller's promise.
    unsafe { run(slot, context, victim) }
}

/// Runs a job of an overflow on a worker that has taken it from `victim`, or has popped it.
fn run_spilled(job: Spilled, context: &Context, victim: Option<usize>) {
    let (address, code) = job.into_parts();
    // The function reads a slot: here one in this frame, on which no owner waits.
    let slot = Slot::new();
    // SAFETY: the slot is in this frame, and large enough for an address.
    slot.with_body(|place: *mut *mut ()| unsafe { place.write(address) });
    // SAFETY: overflows hold results of `code`.
    let run = unsafe { typed(code) };
    // SAFETY: this worker has taken the job out of the overflow, and runs it once; the slot holds
    // the address that the job was made with.
    unsafe { run(&slot, context, victim) }
}

/// Runs the oldest job of a [`Fifo`].
///
/// # Safety
/// As for [`Run`]; the slot has the address of a `Fifo`.
pub(crate) unsafe fn run_oldest(slot: &Slot, context: &Context, victim: Option<usize>) {
    // SAFETY: the caller has the slot.
    let fifo = slot.with_body(|place: *mut *mut Fifo| unsafe { place.read() });
    release_slot(slot, victim);
    // SAFETY: the queue is there until as many jobs have run as were pushed, and this is about to
    // run one. Its job may be the last, so this uses nothing of the queue after the job has begun.
    let fifo = unsafe { &*fifo };
    let (root, closure) = (fifo.root(), fifo.pop());
    run_spawned(context, victim, root, closure);
}

/// Runs the jobs above `floor`, the newest first, until there are none. They are boxed: no frame
/// waits for a single one of them, because every `join` above has returned.
pub(crate) fn run_above(context: &Context, floor: Level) {
    run_above_while(context, floor, || true);
}

/// Does the same, as long as `more` returns true after each job.
pub(crate) fn run_above_while(context: &Context, floor: Level, more: impl Fn() -> bool) {
    let deque = &context.seat.processor().deque;
    while deque.level() > floor {
        if deque.has_spilled() {
            let job = deque.pop_spilled(floor);
            context.forks.forget_scoped(deque.level());
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
    // SAFETY: the place is below the head.
    let slot = unsafe { place.slot() };
    deque.count_boxed(-1);
    context.forks.forget_scoped(deque.level_below(place));
    if deque.pop(place) || deque.reclaim(place) == Reclaimed::Own {
        if deque.is_asked() && deque.has_private() {
            // There may be no push for long.
            context.answer_thieves();
        }
        // SAFETY: this worker has just taken it out of the deque.
        return unsafe { run(slot, context, None) };
    }
    let mut backoff = Backoff::new();
    while !slot.latch.is_complete() {
        backoff.snooze();
    }
    deque.retire(place);
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::locality::HOLD;
    use crate::processor::entered;
    use crate::topology::Distance;

    /// Calls `look` with the worker's own deque, as a thief would.
    fn with_deque<R>(look: impl FnOnce(&Deque) -> R) -> R {
        entered::with_worker(|context| look(&context.unwrap().seat.processor().deque))
    }

    #[test]
    fn an_owner_that_drains_a_scope_answers_a_thief() {
        let runtime = crate::Builder::new().workers(1).build().unwrap();
        let are_public = std::sync::Mutex::new(Vec::new());
        runtime.install(|| {
            crate::fork_join::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|_| {
                        are_public.lock().unwrap().push(with_deque(Deque::has_public));
                        with_deque(Deque::ask);
                    });
                }
            });
        });
        // The first of them makes the request.
        assert_eq!(are_public.into_inner().unwrap()[1..], [true, true, false]);
    }

    #[test]
    fn a_thief_leaves_another_ones_part_until_it_has_seen_that_very_job_for_a_while() {
        let runtime = crate::Builder::new().workers(1).build().unwrap();
        // The worker looks at its own deque as a thief would. Another worker has run these parts.
        let note = |number| Note::new(Distance::SharedLlc, Some(5), number).bits();
        let look = |sight: &mut Sight, now, free| {
            entered::with_worker(|context| Seen::of(context.unwrap(), 0, sight, now, free))
        };
        let may = |ask: fn(Seen, &Context, usize) -> bool, seen| {
            entered::with_worker(|context| ask(seen, context.unwrap(), 0))
        };
        // The job of the first fork lies in the lowest place.
        let leave = |number: Option<u32>| {
            entered::with_worker(|context| {
                let deque = &context.unwrap().seat.processor().deque;
                deque.leave_note(deque.floor(), number.map_or(0, note));
            });
        };
        let check = || {
            leave(Some(1));
            let first = || {
                let mut sight = Sight::default();
                let seen = look(&mut sight, 1_000, false);
                assert!(!may(Seen::may_take, seen) && may(Seen::may_ever_take, seen));
                assert!(
                    may(Seen::may_take, look(&mut sight, 1_000, true)),
                    "its restraint is over"
                );
                let seen = look(&mut sight, 1_000 + HOLD, false);
                assert!(may(Seen::may_take, seen) && may(Seen::may_still_take, seen));
                leave(Some(2));
                assert!(!may(Seen::may_still_take, seen), "another job lies there by now");
                assert!(!may(Seen::may_take, look(&mut sight, 1_000 + 9 * HOLD, false)));
                assert!(may(Seen::may_take, look(&mut sight, 1_000 + 10 * HOLD, false)));
            };
            crate::fork_join::join(first, || leave(None));
        };
        runtime.install(check);
    }
}
