//! Fork-join jobs, as far as the scheduler knows them: what a worker does with one that it has stolen.

#![allow(unsafe_code, reason = "a job is run by what its slot says")]

use super::context::Context;
use super::deque::{Deque, Reclaimed};
use super::note::Note;
use super::shared::Shared;
use super::slot::{Place, Slot};
use crate::policy::{forking, locality};
use crate::primitives::spin::Backoff;

/// Since when a worker has been asked for jobs; zero if it has not.
#[derive(Debug, Default)]
pub(crate) struct Asked(u64);

impl Asked {
    /// Asks, if there is anything to ask for. True if that has been in vain for so long that it is time to
    /// [seize](Deque::seize).
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

/// Whether a worker that has been without work for so long may take the oldest job of `victim`, if there is one.
pub(crate) fn may_take(context: &Context, victim: usize, waited: u64) -> bool {
    let shared = context.shared();
    let Some(note) = shared.processors[victim].deque.oldest() else { return true };
    let me = context.seat.me();
    let distance = shared.neighbours[me].distance(victim);
    locality::may_take(shared.locality, Note::from_bits(note).offer(me), distance, waited)
}

/// A job that has been taken out of a deque: which slot it is in, and whose deque that was.
#[derive(Debug)]
#[must_use = "a stolen job has to be run"]
pub(crate) struct Stolen {
    index: u32,
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
        let index = shared.processors[victim].deque.steal_while(holds)?;
        Some(Self { index, victim })
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
        let slot = context.shared().processors[self.victim].deque.slot(self.index);
        // SAFETY: the job was taken out of the deque, and is run once.
        unsafe { run(slot, context, self.victim) };
        deque.change_root();
    }
}

/// Runs the job of a slot that `victim` has pushed.
///
/// # Safety
/// The caller has taken the job out of the deque.
unsafe fn run(slot: &Slot, context: &Context, victim: usize) {
    // SAFETY: the caller's promise.
    let run = unsafe { slot.run() };
    // SAFETY: as above.
    unsafe { run(slot, context, victim) }
}

/// Runs the jobs in the places from `floor` on, the last first, until there are none. They are boxed ones, that nobody
/// waits for one by one, since every `join` above has returned.
pub(crate) fn run_above(context: &Context, floor: Place) {
    let deque = &context.seat.processor().deque;
    while deque.head() > floor {
        let place = deque.head().previous();
        // SAFETY: it is below the head.
        let slot = unsafe { place.slot() };
        deque.count_boxed(-1);
        if deque.pop(place) || deque.reclaim(place) == Reclaimed::Own {
            // SAFETY: it has just been taken out of the deque.
            unsafe { run(slot, context, context.seat.me()) };
        } else {
            // The thief only has to read the slot.
            let mut backoff = Backoff::new();
            while !slot.latch.is_complete() {
                backoff.snooze();
            }
            deque.retire(place);
        }
    }
}
