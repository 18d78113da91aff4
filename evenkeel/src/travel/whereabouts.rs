//! A worker's notes of where objects are: a table by address, as CoreTime's `ct_start` has one.
//!
//! A task that enters an object at home elsewhere would first have to read a cache line that the
//! home writes. Its worker would wait for the line, and the home would wait to get it back. So a
//! worker notes where it has sent a task, and sends the next one without a look at the object.
//!
//! A note is a hint: the task that arrives looks at the object itself, and goes on from there. A
//! home that is left for long makes the notes of all workers stale at once, by a count that an
//! entry reads if its worker has notes. Other notes may be wrong for a while: another object has
//! the address, a home has moved, or all workers read the object. A worker that a task visits in
//! vain cannot tell the worker with the wrong note. So one look-up in [`DOUBTED`] drops its note,
//! and the entry looks at the object.

use crate::policy::random::scatter;
use std::cell::{Cell, OnceCell};

/// Objects that a worker has notes of: 8 KiB. With 64, transfers between 1,024 accounts are a tenth
/// fewer; 8,192 are no better. Without notes, objects that are much in use reach 0.6 of the
/// throughput (`evenkeel-bench run --bench map,heap,histogram,graph,bank,directory --tasks-per-core
/// 16 --runtime home`).
const PLACES: usize = 1_024;

/// Bits for the number of a worker.
const NUMBER: u32 = 16;

/// One look-up in `DOUBTED` does not trust its note: a look at an object elsewhere takes about as
/// long as a journey. A prime, so that each object has its turn. 31 and 1,021 are no better (by the
/// same command).
const DOUBTED: u32 = 127;

/// The notes of one worker.
#[derive(Debug, Default)]
pub(crate) struct Whereabouts {
    /// Addresses with the numbers of workers; allocated with the first note.
    known: OnceCell<Box<[Cell<u64>; PLACES]>>,
    /// Whether any note may be true; if not, an entry in place reads nothing else.
    is_any: Cell<bool>,
    /// The count when the oldest note was made.
    moves: Cell<u64>,
    /// The number of look-ups that found a note.
    asked: Cell<u32>,
}

impl Whereabouts {
    /// Returns where an address was last, if it is known. `moves` reads the count that makes notes
    /// stale.
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
        // No note has address zero, and an address that is too high for a note is never found.
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

/// Returns the place of an address in the table.
#[inline(always)]
fn place(address: usize) -> usize {
    scatter(address as u64) >> (u32::BITS - PLACES.ilog2())
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
