//! The notes of a processor's worker of what it is inside of, for those who take an object from its home or from its readers.
//!
//! A worker notes the address of an object before it enters it, and clears the note when it leaves. Only it writes; others read, by the protocol of
//! `object::door`. The notes are a few: who enters more objects at a time does so by their locks.
//!
//! # What outlives the worker
//! A guard does not leave its thread, but it may outlive the loop of the worker, the runtime and
//! the seat: it clears its note then all the same, on the same thread. Nothing else is noted here
//! then. A guard that is forgotten leaves its note for ever, in a place that the worker takes for
//! nothing else; so who frees the object may [strike](Inside::strike) it, on whatever thread: the
//! next object at the address is another one.

use crate::primitives::atomic::{AtomicU64, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::fence;
use crate::task::id::{self, Id};

/// Notes of a processor: as many as guards that one poll holds at a time without a lock. An estimate; no benchmark sets it. Two in the models.
const NOTES: usize = if cfg!(loom) { 2 } else { 4 };

/// What a worker was inside of at some time.
pub(crate) type Seen = [usize; NOTES];

/// What a worker is inside of.
#[derive(Debug)]
pub(crate) struct Inside {
    notes: [AtomicUsize; NOTES],
    /// The number of the thread whose notes they are, once there is one.
    thread: AtomicU64,
    /// Whether a note is followed by a full fence, because there is no pair of fences.
    fenced: bool,
}

impl Inside {
    pub(crate) fn new() -> Self {
        let notes = std::array::from_fn(|_| AtomicUsize::new(0));
        let thread = AtomicU64::new(Id::NONE.get());
        Self { notes, thread, fenced: !fence::is_asymmetric() }
    }

    /// Says that this thread is the worker.
    pub(crate) fn begin(&self) {
        self.thread.store(id::of_thread().get(), Ordering::Relaxed);
    }

    /// Whether this thread is the worker, or was it.
    pub(crate) fn is_own(&self) -> bool {
        self.thread.load(Ordering::Relaxed) == id::of_thread().get()
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

    /// Clears a note. The caller is the worker, or its thread once it is none any more.
    #[inline(always)]
    pub(crate) fn clear(&self, place: u8) {
        self.notes[usize::from(place) % NOTES].store(0, edge(Edge::ObjectLeave, Ordering::Release));
    }

    /// Clears a note of this address that is left; true if there was one. The caller has seen all
    /// operations on the object, and there will be no more.
    pub(crate) fn strike(&self, address: usize) -> bool {
        let is_left = |note: &&AtomicUsize| note.load(Ordering::Relaxed) == address;
        let left = self.notes.iter().find(is_left);
        left.inspect(|note| note.store(0, edge(Edge::ObjectLeave, Ordering::Release))).is_some()
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

    #[test]
    fn a_note_that_was_left_is_struck_once_and_its_place_is_used_again() {
        let inside = Inside::new();
        let places: Vec<_> = (1..).map_while(|address| inside.note(address)).collect();
        assert_eq!(places.len(), NOTES);
        assert!(!inside.strike(100), "it has no note");
        assert!(inside.strike(2));
        assert!(!inside.strike(2));
        assert!(inside.has(1) && !inside.has(2));
        assert_eq!(inside.note(100), Some(places[1]));
    }
}
