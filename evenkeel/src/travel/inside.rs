//! A worker's notes of the shared objects that it reads, for a holder that has to be alone inside
//! one of them.
//!
//! A worker notes the address of an object before it reads it, and clears the note when it leaves.
//! Only the worker writes its notes; holders read them, by the protocol of `object::door::shared`.
//! There are a few notes: a worker that reads more objects at a time reads the others by their
//! locks. A read is a part of one call, so no note outlives the loop of the worker.

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::primitives::fence;

/// Notes of a processor: the number of nested reads without a lock; further ones take the lock. A
/// choice: each holder that comes after readers looks at all notes. Two in the models.
const NOTES: usize = if cfg!(loom) { 2 } else { 4 };

/// The notes of one worker.
#[derive(Debug)]
pub(crate) struct Inside {
    notes: [AtomicUsize; NOTES],
    /// Whether a note is followed by a full fence, because there is no pair of fences.
    fenced: bool,
}

impl Inside {
    pub(crate) fn new() -> Self {
        let notes = std::array::from_fn(|_| AtomicUsize::new(0));
        Self { notes, fenced: !fence::is_asymmetric() }
    }

    /// Notes an address, which is not zero, and returns the note's place. Returns `None` if the
    /// worker reads the object already, or if all places are taken. The caller is the worker.
    #[inline(always)]
    pub(crate) fn note(&self, address: usize) -> Option<u8> {
        let any = self.notes.iter().fold(0, |any, note| any | note.load(Ordering::Relaxed));
        let place = if any == 0 { 0 } else { self.place_beside(address)? };
        // The store also ends the former read in this place.
        self.notes[place].store(address, edge(Edge::ObjectNote, Ordering::Release));
        Some(place as u8)
    }

    /// Returns a place for the note of one more object.
    #[cold]
    fn place_beside(&self, address: usize) -> Option<usize> {
        let mut notes = self.notes.iter().map(|note| note.load(Ordering::Relaxed));
        if notes.clone().any(|noted| noted == address) {
            return None;
        }
        notes.position(|noted| noted == 0)
    }

    /// The fence of a reader between its note and its look at the object.
    #[inline(always)]
    pub(crate) fn fence(&self) {
        if self.fenced {
            fence::full(Edge::ObjectLight);
        } else {
            fence::light(Edge::ObjectLight);
        }
    }

    /// Clears a note. The caller is the worker.
    #[inline(always)]
    pub(crate) fn clear(&self, place: u8) {
        self.notes[usize::from(place) % NOTES].store(0, edge(Edge::ObjectLeave, Ordering::Release));
    }

    /// Returns whether the worker reads the object at `address`, or is about to check whether it
    /// may.
    pub(crate) fn has(&self, address: usize) -> bool {
        self.notes
            .iter()
            .any(|note| note.load(edge(Edge::ObjectNoted, Ordering::Acquire)) == address)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_one_note_as_long_as_there_is_room() {
        let inside = Inside::new();
        let places: Vec<_> = (1..).map_while(|address| inside.note(address)).collect();
        assert_eq!(places.len(), NOTES);
        inside.clear(places[1]);
        assert!(inside.has(1) && !inside.has(2));
        assert_eq!(inside.note(1), None, "it is noted");
        assert_eq!(inside.note(100), Some(places[1]));
    }
}
