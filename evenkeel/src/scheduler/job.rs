//! Fork-join jobs, as far as the scheduler knows them: what a worker does with one that it has stolen.

#![allow(unsafe_code, reason = "a job is run through its address")]

use super::context::Context;
use super::deque::{Deque, Reclaimed};
use super::note::Note;
use super::shared::Shared;
use crate::policy::{forking, locality};
use crate::primitives::atomic::Ordering;
use crate::primitives::unwind;
use std::ptr::NonNull;

/// What every job begins with. It lies on the stack of the worker that has forked it, or in a box.
#[derive(Debug)]
pub(crate) struct Job {
    /// Runs the job on the worker that has stolen it from processor `victim`, and reports its end to whoever waits.
    /// Panics are caught inside. The caller has taken the job out of a deque.
    run: unsafe fn(job: NonNull<Job>, thief: &Context, victim: usize),
}

impl Job {
    pub(crate) const fn new(run: unsafe fn(NonNull<Job>, &Context, usize)) -> Self {
        Self { run }
    }
}

/// Since when a worker has been asked for jobs; zero if it has not.
#[derive(Debug, Default)]
pub(crate) struct Asked(u64);

impl Asked {
    /// Asks, if there is anything to ask for. True if that has been in vain for so long that it is time to
    /// [seize](Deque::seize).
    pub(crate) fn is_in_vain(&mut self, deque: &Deque<Job>, now: u64) -> bool {
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

/// Whether a worker that has been without work for so long may take the oldest job of `victim`, if there is one.
pub(crate) fn may_take(context: &Context, victim: usize, waited: u64) -> bool {
    let shared = context.shared();
    let Some(note) = shared.processors[victim].deque.oldest() else { return true };
    let me = context.seat.me();
    let distance = shared.neighbours[me].distance(victim);
    locality::may_take(shared.locality, Note::from_bits(note).offer(me), distance, waited)
}

/// A job that has been taken out of a deque, and whose deque that was.
#[derive(Debug)]
#[must_use = "a stolen job has to be run"]
pub(crate) struct Stolen {
    job: NonNull<Job>,
    victim: usize,
}

impl Stolen {
    /// Takes the oldest public job of `victim` if `holds` after the look at its deque.
    #[inline]
    pub(crate) fn take(
        shared: &Shared,
        victim: usize,
        holds: impl FnOnce() -> bool,
    ) -> Option<Self> {
        let deque = &shared.processors[victim].deque;
        let job = deque.steal_while(holds)?;
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
            "whoever takes from this deque takes descendants of the job"
        );
        deque.change_root();
        // SAFETY: the job was taken out of a deque by this thread, so it is there until it has been run.
        let run = unsafe { self.job.as_ref() }.run;
        // SAFETY: as above; it is run once.
        unsafe { run(self.job, context, self.victim) };
        deque.change_root();
    }
}

impl Stolen {
    /// Runs it on the worker that has taken it out of its own deque.
    pub(crate) fn run_own(self, context: &Context) {
        debug_assert_eq!(self.victim, context.seat.me());
        // SAFETY: it was taken out of the worker's deque.
        unsafe { run_own(self.job, context) }
    }
}

/// Runs a job on the worker that has spawned it.
///
/// # Safety
/// The caller has taken the job out of its own deque.
unsafe fn run_own(job: NonNull<Job>, context: &Context) {
    // SAFETY: the job was in a deque, so it is there until it has been run.
    let run = unsafe { job.as_ref() }.run;
    // SAFETY: the caller's promise.
    unsafe { run(job, context, context.seat.me()) }
}

/// Runs what somebody has spawned, which does not panic, on the worker that has taken it out of the deque of `victim`.
#[inline]
pub(crate) fn run_spawned(context: &Context, victim: usize, root: u64, closure: impl FnOnce()) {
    if victim == context.seat.me() {
        return unwind::never(closure);
    }
    // Stolen, and so the root of all that is in this worker's deque until that is empty again.
    let processor = context.seat.processor();
    let before = processor.root.load(Ordering::Relaxed);
    processor.root.store(root, Ordering::Relaxed);
    let floor = processor.deque.head();
    unwind::never(closure);
    run_above(context, floor);
    processor.root.store(before, Ordering::Relaxed);
}

/// Runs the jobs in the places from `floor` on, the last first, until there are none. They are boxed ones, that nobody
/// waits for one by one, since every `join` above has returned.
pub(crate) fn run_above(context: &Context, floor: u32) {
    let deque = &context.seat.processor().deque;
    while deque.head() > floor {
        let index = deque.head() - 1;
        let job = deque.peek(index);
        deque.count_boxed(-1);
        if deque.pop(index) || deque.reclaim(index) == Reclaimed::Own {
            let job = job.expect("a place below the head that nobody has stolen holds a job");
            // SAFETY: it has just been taken out of the deque.
            unsafe { run_own(job, context) };
        } else {
            deque.retire(index);
        }
    }
}
