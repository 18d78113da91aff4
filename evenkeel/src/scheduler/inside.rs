//! The notes of a processor's worker of what it is inside of, for those who take an object from its home or from its readers.
//!
//! A worker notes the address of an object before it enters it, and clears the note when it leaves. Only it writes; others read, by the protocol of
//! `object::door`. The notes are a few: who enters more objects at a time does so by their locks.

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::primitives::fence;

/// Notes of a processor: as many as guards that one poll holds at a time without a lock. An estimate; no benchmark sets it. Two in the models.
const NOTES: usize = if cfg!(loom) { 2 } else { 4 };

/// What a worker was inside of at some time.
pub(crate) type Seen = [usize; NOTES];

/// What a worker is inside of.
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

    /// Notes an address, which is not zero, and says in which place. None if the worker is inside of it already, or if all places are taken. The caller is the worker.
    #[inline(always)]
    pub(crate) fn note(&self, address: usize) -> Option<u8> {
        let any = self.notes.iter().fold(0, |any, note| any | note.load(Ordering::Relaxed));
        let place = if any == 0 { 0 } else { self.place_beside(address)? };
        // It also says that the operation which had this place before is over.
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

    /// The fence of a host or a reader between its note and its look at the object.
    #[inline(always)]
    pub(crate) fn fence(&self) {
        if self.fenced {
            fence::full(Edge::ObjectLight);
        } else {
            fence::light(Edge::ObjectLight);
        }
    }

    /// What the worker is inside of now.
    pub(crate) fn see(&self) -> Seen {
        let seen = |note: &AtomicUsize| note.load(edge(Edge::ObjectNoted, Ordering::Acquire));
        self.notes.each_ref().map(seen)
    }

    /// Whether it has left all that it was inside of when it was [seen](Self::see). Strikes out what it has left: it may be inside of that again, as a reader.
    pub(crate) fn has_left(&self, seen: &mut Seen) -> bool {
        for (now, before) in self.see().iter().zip(seen.iter_mut()) {
            if now != before {
                *before = 0;
            }
        }
        seen.iter().all(|before| *before == 0)
    }

    /// Clears a note. The caller is the worker.
    #[inline(always)]
    pub(crate) fn clear(&self, place: u8) {
        self.notes[usize::from(place) % NOTES].store(0, edge(Edge::ObjectLeave, Ordering::Release));
    }

    /// Whether the worker is inside of `address`, or about to look whether it may be.
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
    fn what_was_left_once_may_be_entered_again() {
        let inside = Inside::new();
        let [one, other] = [1, 2].map(|address| inside.note(address).expect("there is room"));
        let mut seen = inside.see();
        assert!(!inside.has_left(&mut seen));
        inside.clear(one);
        assert!(!inside.has_left(&mut seen), "it is inside of the other");
        inside.note(1).expect("there is room");
        inside.clear(other);
        assert!(inside.has_left(&mut seen), "it has left each at some time");
    }
}
