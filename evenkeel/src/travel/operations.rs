//! The operations on objects that a worker begins, and its choice of operations to examine.
//!
//! The worker examines one operation in some: it steers the operation's class, samples the
//! duration, and has the task yield if its turn is over. The choice follows from the operations'
//! numbers, but not at fixed distances: so a task that goes round some objects has operations on
//! each of them examined.

use crate::policy::batch::BATCH;
use crate::policy::object::sample::Looks;
use crate::policy::object::sharing;
use crate::policy::object::trial::PATIENCE;
use crate::policy::stealing::STRANDED;
use std::cell::Cell;

/// The turn of a task that only makes operations in place: a batch. If a turn ends at each examined
/// operation, 1,024 objects that two cores use make 4 % less. With a turn of four batches they make
/// 4 % more, and a ready task beside three such tasks waits for 50 µs instead of 12
/// (`evenkeel-bench run --bench counters --objects 1024 --tasks-per-core 16 --runtime in-place`).
const TURN: u64 = BATCH;

/// An operation that is being sampled.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    /// The address of its object.
    address: usize,
    /// When it began.
    began: u64,
}

/// The operations of one worker.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    /// Chooses the operations to examine.
    pub(crate) looks: Cell<Looks>,
    /// Reads that were examined.
    reads: Cell<u32>,
    /// The operation that is being sampled: of nested ones, the one that began last.
    sampled: Cell<Sampled>,
    /// The end of the turn of a task that only makes operations in place.
    turn: Cell<u64>,
    /// The time from which an operation next finds out whether a worker that was stuck is back.
    next_look: Cell<u64>,
}

impl Operations {
    /// Counts an operation. Returns whether the worker examines it, and so asks whether the task's
    /// turn is over: the task might never wait.
    #[inline(always)]
    pub(crate) fn count(&self) -> bool {
        let mut looks = self.looks.get();
        let is_looked_at = looks.count();
        self.looks.set(looks);
        is_looked_at
    }

    /// Returns whether the turn of the task that is examined at `now` is over, and if so begins the
    /// next task's turn.
    pub(crate) fn is_turn_over(&self, now: u64) -> bool {
        let is_over = now >= self.turn.get() || cfg!(any(loom, shuttle));
        if is_over {
            self.turn.set(now.saturating_add(TURN));
        }
        is_over
    }

    /// Returns whether the examined read lets all workers read its object at once.
    pub(crate) fn is_to_share(&self) -> bool {
        let reads = self.reads.get().wrapping_add(1);
        self.reads.set(reads);
        sharing::is_due(reads)
    }

    /// Begins to sample an operation on the object at this address.
    pub(crate) fn begin_sample(&self, address: usize, began: u64) {
        self.sampled.set(Sampled { address, began });
    }

    /// Ends the sample of an operation on the object at this address, and returns when it began;
    /// `None` if that operation is not the sampled one.
    pub(crate) fn end_sample(&self, address: usize) -> Option<u64> {
        let sampled = self.sampled.take();
        (sampled.address == address).then_some(sampled.began)
    }

    /// Returns whether the operation that begins at `now` has to find out whether a worker that was
    /// stuck is back. If that worker is still stuck, tasks wait there for [`STRANDED`]. So the
    /// attempts take as small a share of the time as those with modes.
    pub(crate) fn looks_for_host(&self, now: u64) -> bool {
        let looks = now >= self.next_look.get();
        if looks {
            self.next_look.set(now.saturating_add((1 + PATIENCE) * STRANDED));
        }
        looks
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::object::sample::ONE_IN;

    #[test]
    fn one_in_sixty_four_is_looked_at_in_whatever_rhythm() {
        for rhythm in [1, 2, 3, 8, 16, 64] {
            let operations = Operations::default();
            let mut looked_at = 0_u32;
            for n in 0..640_000_u32 {
                looked_at += u32::from(operations.count() && n % rhythm == 0);
            }
            let wanted = 640_000 / ONE_IN / rhythm;
            assert!(looked_at.abs_diff(wanted) <= wanted / 5, "{rhythm}: {looked_at}");
        }
    }

    #[test]
    fn of_two_that_are_inside_of_each_other_the_last_one_is_sampled() {
        let operations = Operations::default();
        operations.begin_sample(64, 1);
        operations.begin_sample(128, 2);
        assert_eq!(operations.end_sample(128), Some(2));
        assert_eq!(operations.end_sample(64), None);
    }

    #[test]
    fn a_host_that_was_stuck_is_looked_for_now_and_then() {
        let operations = Operations::default();
        let again = 5 + (1 + PATIENCE) * STRANDED;
        let looks = [5, 6, again - 1, again, again];
        let looks = looks.map(|now| operations.looks_for_host(now));
        assert_eq!(looks, [true, false, false, true, false]);
    }
}
