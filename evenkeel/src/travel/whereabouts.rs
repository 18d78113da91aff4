//! Where objects are, as far as a worker knows: a table by address, as CoreTime's `ct_start` has
//! one.
//!
//! A task that enters an object at home elsewhere would first have to look there, at a line that
//! the home writes; the worker has to wait for it, and the home for getting it back. So a worker
//! notes where it has sent a task, and sends the next one without a look.
//!
//! What it knows is a hint: who arrives looks at the object itself, and goes on from there. A home
//! that is left for long makes the notes of all workers stale at once, by a count that an entry
//! looks at where its worker has notes. Other notes may be wrong for a while: an address has become
//! another object's, a home has moved, an object is read by all. The worker that is gone to in vain
//! cannot tell the one that has the note; so one note in [`DOUBTED`] is forgotten when it is asked
//! for, and the entry looks itself.

use std::cell::{Cell, OnceCell};

/// Objects that a worker knows of: 8 KiB. With 64 transfers between 1,024 accounts are a tenth
/// fewer, 8,192 are no better; where a worker knows of none, objects that are much in use make 0.6
/// (`evenkeel-bench run --bench map,heap,histogram,graph,bank,directory --tasks-per-core 16
/// --runtime home`).
const PLACES: usize = 1_024;

/// Bits for the number of a worker.
const NUMBER: u32 = 16;

/// One note in so many is not believed: a look at an object elsewhere takes about as long as a
/// journey. A prime, so that each object has its turn. 31 and 1,021 are no better (by the same
/// command).
const DOUBTED: u32 = 127;

/// What one worker knows.
#[derive(Debug, Default)]
pub(crate) struct Whereabouts {
    /// Addresses with the numbers of workers; made with the first note.
    known: OnceCell<Box<[Cell<u64>; PLACES]>>,
    /// Whether any of them may be true: an entry in place looks no further.
    is_any: Cell<bool>,
    /// What the count was when the oldest of them was noted.
    moves: Cell<u64>,
    /// How many notes have been asked for.
    asked: Cell<u32>,
}

impl Whereabouts {
    /// Where an address was last, if that is known. `moves` is the count of what makes notes stale.
    #[inline(always)]
    pub(crate) fn find(&self, address: usize, moves: impl FnOnce() -> u64) -> Option<usize> {
        if !self.is_any.get() {
            return None;
        }
        if self.moves.get() != moves() {
            self.is_any.set(false);
            return None;
        }
        let place = &self.known.get()?[place(address)];
        let known = place.get();
        // No note has address zero, and one that is too high for a note is never found.
        if known >> NUMBER != address as u64 {
            return None;
        }
        let asked = self.asked.get().wrapping_add(1);
        self.asked.set(asked);
        if asked.is_multiple_of(DOUBTED) {
            place.set(0);
            return None;
        }
        Some((known & ((1 << NUMBER) - 1)) as usize)
    }

    /// Notes that an address is with worker `number`.
    pub(crate) fn note(&self, address: usize, number: usize, moves: u64) {
        let known = self.known.get_or_init(|| Box::new([const { Cell::new(0) }; PLACES]));
        if self.moves.replace(moves) != moves {
            known.iter().for_each(|place| place.set(0));
        }
        self.is_any.set(true);
        known[place(address)].set((address as u64) << NUMBER | number as u64);
    }
}

/// The place of an address in the table (Fibonacci hashing; Knuth, "The Art of Computer
/// Programming", 6.4).
#[inline(always)]
fn place(address: usize) -> usize {
    const BITS: u32 = PLACES.ilog2();
    ((address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BITS)) as usize
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_where_it_was_noted_until_something_has_moved() {
        let table = Whereabouts::default();
        assert_eq!(table.find(0x1000, || 0), None);
        table.note(0x1000, 3, 0);
        assert_eq!((table.find(0x1000, || 0), table.find(0x1040, || 0)), (Some(3), None));
        assert_eq!(table.find(0x1000, || 1), None);
        table.note(0x1040, 2, 1);
        assert_eq!(
            (table.find(0x1000, || 1), table.find(0x1040, || 1)),
            (None, Some(2)),
            "one that is newer makes none younger"
        );
    }

    #[test]
    fn a_note_that_is_wrong_is_not_believed_for_ever() {
        let table = Whereabouts::default();
        table.note(0x1000, 1, 0);
        table.note(0x2000, 1, 0);
        let found =
            |address| (0..1_000).take_while(|_| table.find(address, || 0).is_some()).count();
        assert_eq!(found(0x1000), DOUBTED as usize - 1);
        assert_eq!(table.find(0x1000, || 0), None, "it is forgotten");
        assert_eq!(found(0x2000), DOUBTED as usize - 1, "the other has its turn too");
    }

    #[test]
    fn many_addresses_find_what_they_have_noted_or_nothing() {
        let table = Whereabouts::default();
        let addresses = (1..5_000_usize).map(|n| n * 48);
        addresses.clone().for_each(|address| table.note(address, address % 7, 0));
        let found = |address: usize| table.find(address, || 0);
        assert!(addresses.clone().all(|address| found(address).is_none_or(|at| at == address % 7)));
        assert!(addresses.filter(|&address| found(address).is_some()).count() > PLACES / 2);
        table.note(usize::MAX, 1, 0);
        assert_eq!(found(usize::MAX), None, "it is too high for a note");
    }
}
