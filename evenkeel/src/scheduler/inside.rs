//! The notes of a processor's worker of what it is inside of, for those who take an object from its home.
//!
//! A worker notes the address of an object before it enters it, and clears the note when it leaves. Only it writes; others read, by the protocol of
//! `object::door`. The notes are a few: who enters more objects at a time does so by their locks.

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::primitives::fence;
use crate::primitives::spin::pause;

/// Notes of a processor: as many as guards that one poll holds at a time without a lock. An estimate; no benchmark sets it. Two in the models.
const NOTES: usize = if cfg!(loom) { 2 } else { 4 };

/// Pauses that who wants a worker outside waits for it: a few microseconds, as long as the heavy fence has taken. An estimate; no benchmark sets it. Two in the models.
const PATIENCE: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 100 };

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

    /// Notes an address, which is not zero, and says in which place. None if all are taken. The caller is the worker.
    #[inline(always)]
    pub(crate) fn note(&self, address: usize) -> Option<usize> {
        let free = |note: &AtomicUsize| note.load(Ordering::Relaxed) == 0;
        let place = if free(&self.notes[0]) { 0 } else { self.notes.iter().position(free)? };
        // It also says that the operation which had this place before is over.
        self.notes[place].store(address, edge(Edge::ObjectNote, Ordering::Release));
        Some(place)
    }

    /// The host's fence between its note and its look at the object.
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
    pub(crate) fn clear(&self, place: usize) {
        self.notes[place].store(0, edge(Edge::ObjectLeave, Ordering::Release));
    }

    /// Whether the worker is inside of `address`, or about to look whether it may be.
    pub(crate) fn has(&self, address: usize) -> bool {
        self.notes
            .iter()
            .any(|note| note.load(edge(Edge::ObjectNoted, Ordering::Acquire)) == address)
    }

    /// Whether the worker is outside of `address`; waits a little for it.
    pub(crate) fn has_left(&self, address: usize) -> bool {
        wait_until(|| !self.has(address))
    }

    /// Whether the worker has left all that it was inside of; waits a little for it.
    pub(crate) fn has_been_left(&self) -> bool {
        self.notes.iter().all(|note| {
            let look = || note.load(edge(Edge::ObjectNoted, Ordering::Acquire));
            let noted = look();
            noted == 0 || wait_until(|| look() != noted)
        })
    }
}

/// Whether it has come true after a few pauses.
fn wait_until(mut is_true: impl FnMut() -> bool) -> bool {
    (0..PATIENCE).any(|_| {
        let is_true = is_true();
        if !is_true {
            pause();
        }
        is_true
    })
}
