//! The notes of a processor's worker of what it reads beside others, for those that are to be alone
//! inside of it.
//!
//! A worker notes the address of an object before it reads it, and clears the note when it leaves.
//! Only it writes; others read, by the protocol of `object::door::shared`. The notes are a few: a
//! worker that reads more objects at a time does so by their locks. A read is a part of one call,
//! so no note outlives the loop of the worker.

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::primitives::fence;

/// Notes of a processor: as many as reads inside of each other without a lock; further ones take
/// it. A choice: each holder that comes after readers looks at all of them. Two in the models.
const NOTES: usize = if cfg!(loom) { 2 } else { 4 };

/// What a worker reads.
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

    /// Notes an address, which is not zero, and says in which place. None if the worker reads it
    /// already, or if all places are taken. The caller is the worker.
    #[inline(always)]
    pub(crate) fn note(&self, address: usize) -> Option<u8> {
        let any = self.notes.iter().fold(0, |any, note| any | note.load(Ordering::Relaxed));
        let place = if any == 0 { 0 } else { self.place_beside(address)? };
        // It also says that the read which had this place before is over.
        self.notes[place].store(address, edge(Edge::ObjectNote, Ordering::Release));
        Some(place as u8)
    }

    /// A place for the note of one more object.
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

    /// Whether the worker reads what is at `address`, or is about to look whether it may.
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
