//! The operations on objects that a worker begins, and which of them it looks at.
//!
//! Some are sampled, and with some of those the task gives others a turn. Which they are follows from their numbers, but not at fixed distances: a task that goes round some objects
//! comes to each of them with it.

use crate::policy::object::sample::{ONE_IN, mark};
use std::cell::Cell;

/// Operations between two turns of others, in tasks that never wait: some microseconds of short ones. An estimate; no benchmark sets it.
pub(crate) const TURN: u32 = 64;

/// The highest [mark] of the operations that are looked at: one in [`ONE_IN`], those that give others a turn among them.
const SAMPLED: u32 = u32::MAX / ONE_IN;
const _: () = assert!(TURN > ONE_IN);

/// Operations that are looked at one by one at most, for the sake of a few of them: those of some milliseconds. An estimate; no benchmark sets it.
const WATCHED: u32 = 50_000;

/// Operations that are looked at one by one as long as one in so many of them is what is looked for. An estimate; no benchmark sets it.
const SOME: u32 = 256;

/// Of so many operations one finds out whether a worker that was stuck is back: some task waits for [`STRANDED`](crate::policy::stealing::STRANDED) if it is not. A prime, for the same reason. An estimate; no benchmark sets it.
const LOOKS_FOR_HOST: u32 = 1_021;

/// Sampled operations that are told to the ledger at once, which is locked for it, and for how long they are kept while more are sampled, in nanoseconds. Measured: one by one they made an operation on one counter at its home an eighth dearer (`evenkeel-bench run --bench counters --objects 1 --runtime home`).
const UNTOLD: usize = 8;
/// See [`UNTOLD`].
const TELL: u64 = 50_000;

/// An operation that is being sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampled {
    /// The address of its object.
    address: usize,
    /// When it has begun.
    pub(crate) began: u64,
}

/// A sampled operation of a host that is over, until its worker's ledger has it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Over {
    /// The address of its object, and whether that stays where it is.
    pub(crate) address: usize,
    pub(crate) stays: bool,
    /// How long it has taken, with what is around it.
    pub(crate) nanos: u64,
}

/// The operations of one worker.
#[derive(Debug)]
pub(crate) struct Operations {
    begun: Cell<u32>,
    /// Up to which mark they are looked at.
    looked_at: Cell<u32>,
    /// How many more are looked at, if all are.
    watched: Cell<u32>,
    /// Whether there are objects to be given away, and each one is looked at for their sake.
    gives: Cell<bool>,
    /// The one that is being sampled: of those that are inside of each other, the one that has begun last.
    sampled: Cell<Sampled>,
    /// Those that are over, not among what each poll looks at: how many since the ledger was told, and until when it need not be told.
    over: Box<[Cell<Over>; UNTOLD]>,
    untold: Cell<usize>,
    tell_at: Cell<u64>,
}

impl Default for Operations {
    fn default() -> Self {
        let none = Cell::new(0);
        Self {
            begun: none.clone(),
            looked_at: Cell::new(SAMPLED),
            watched: none,
            gives: Cell::new(false),
            sampled: Cell::default(),
            over: Default::default(),
            untold: Cell::default(),
            tell_at: Cell::default(),
        }
    }
}

impl Operations {
    /// Counts an operation; true if it is [looked at](Self::has_counted).
    #[inline(always)]
    pub(crate) fn count(&self) -> bool {
        let begun = self.begun.get().wrapping_add(1);
        self.begun.set(begun);
        mark(begun) <= self.looked_at.get()
    }

    /// Has every operation looked at from now on, [as many as there may be](WATCHED), or one in [`ONE_IN`] again.
    pub(crate) fn watch(&self, all: bool) {
        self.gives.set(all);
        self.looked_at.set(if all { u32::MAX } else { SAMPLED });
        if !all {
            self.watched.set(0);
        } else if self.watched.get() == 0 {
            self.watched.set(WATCHED);
        }
    }

    /// Has [some](SOME) operations looked at one by one from now on, or more, if more are.
    pub(crate) fn watch_some(&self) {
        self.looked_at.set(u32::MAX);
        self.watched.set(self.watched.get().max(SOME));
    }

    /// Whether there are objects to be given away.
    #[inline(always)]
    pub(crate) fn gives(&self) -> bool {
        self.gives.get()
    }

    /// Begins to sample one on the object at this address.
    pub(crate) fn begin_sample(&self, address: usize, began: u64) {
        self.sampled.set(Sampled { address, began });
    }

    /// The sample of the one on the object at this address, which is over, if it was begun.
    pub(crate) fn end_sample(&self, address: usize) -> Option<Sampled> {
        let sampled = self.sampled.take();
        (sampled.address == address).then_some(sampled)
    }

    /// Keeps a sampled operation for the ledger, at this time; true if the ledger is to be [told](Self::tell) now.
    #[inline]
    pub(crate) fn note_over(&self, over: Over, now: u64) -> bool {
        let untold = self.untold.get();
        self.over[untold].set(over);
        self.untold.set(untold + 1);
        untold + 1 == UNTOLD || now >= self.tell_at.get()
    }

    /// Those that the ledger does not know, to whom it tells them at this time.
    pub(crate) fn tell(&self, now: u64) -> impl Iterator<Item = Over> {
        self.tell_at.set(now.saturating_add(TELL));
        self.over[..self.untold.replace(0)].iter().map(Cell::get)
    }

    /// Whether [`count`](Self::count) has just said that the operation is looked at.
    pub(crate) fn has_counted(&self) -> bool {
        let is_looked_at = mark(self.begun.get()) <= self.looked_at.get();
        if self.looked_at.get() == u32::MAX {
            // Whoever wants to hear of them may never do so: none of them is at home any more.
            let left = self.watched.get().saturating_sub(1);
            self.watched.set(left);
            if left == 0 {
                self.looked_at.set(SAMPLED);
            }
        }
        is_looked_at
    }

    /// Whether it is one of those whose times are taken.
    pub(crate) fn is_sample(&self) -> bool {
        mark(self.begun.get()) <= SAMPLED
    }

    /// Whether the task that begins it has to give others a turn: it might never wait.
    pub(crate) fn has_had_its_turn(&self) -> bool {
        mark(self.begun.get()) <= u32::MAX / TURN
    }

    /// Whether this operation, one of many, is to find out whether a worker that was stuck is back.
    pub(crate) fn looks_for_host(&self) -> bool {
        self.begun.get() % LOOKS_FOR_HOST == 1
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn one_in_sixteen_is_looked_at_and_one_in_sixty_four_is_a_turn_in_whatever_rhythm() {
        for rhythm in [1, 2, 3, 8, 16, 64] {
            let operations = Operations::default();
            let (mut looked_at, mut turns) = (0_u32, 0_u32);
            for n in 0..640_000_u32 {
                if operations.count() && n % rhythm == 0 {
                    assert!(operations.has_counted() && operations.is_sample());
                    looked_at += 1;
                    turns += u32::from(operations.has_had_its_turn());
                }
            }
            let (samples, wanted) = (640_000 / 16 / rhythm, 640_000 / TURN / rhythm);
            assert!(looked_at.abs_diff(samples) <= samples / 10, "{rhythm}: {looked_at}");
            assert!(turns.abs_diff(wanted) <= wanted / 5, "{rhythm}: {turns}");
        }
    }

    #[test]
    fn all_are_watched_for_a_while_at_most() {
        let operations = Operations::default();
        operations.watch(true);
        let watched =
            (0..2 * WATCHED).take_while(|_| operations.count() && operations.has_counted());
        assert_eq!(watched.count() as u32 / WATCHED, 1);
        operations.watch(true);
        operations.watch(false);
        let looked_at =
            || (0..1_600).filter(|_| operations.count() && operations.has_counted()).count();
        let few = looked_at();
        assert!((90..=110).contains(&few), "{few}");
    }

    #[test]
    fn the_ledger_is_told_of_several_at_once_or_when_it_is_time() {
        let operations = Operations::default();
        let over = |address| Over { address, ..Over::default() };
        assert!(operations.note_over(over(0), 1), "it has never been told");
        assert_eq!(operations.tell(1).map(|over| over.address).collect::<Vec<_>>(), [0]);
        for address in 1..UNTOLD {
            assert!(!operations.note_over(over(address), TELL));
        }
        assert!(operations.note_over(over(UNTOLD), TELL));
        assert_eq!(operations.tell(2).count(), UNTOLD);
        assert!(!operations.note_over(over(0), 1 + TELL));
        assert!(operations.note_over(over(0), 2 + TELL));
        assert_eq!((operations.tell(2).count(), operations.tell(2).count()), (2, 0));
    }
}
