//! Objects that all may read at once. Each reader leaves a note, and an operation that is alone
//! looks at all notes.
//!
//! # Roles
//! *Readers* are workers of the object's runtime, its reliefs among them, that read where their
//! tasks are. While an object is shared all other operations are *alone* inside: those that write,
//! and those that read from elsewhere, or without a place for a note.
//!
//! # States
//! An object is *shared* with [`SHARED`], and *closed* with [`CLOSED`] beside it: readers may still
//! be inside, and no others come.
//!
//! # Steps
//! * *Reader*: note the object; a light fence; if the word's flags are [`SHARED`] and nothing else
//!   but [`SUSPENDED`], it is inside (acquire); otherwise clear the note, and enter alone. It
//!   leaves by clearing the note (release).
//! * *Alone*: set [`LOCKED`]; if the object is shared, a heavy fence, and a look at the notes of
//!   all processors, its own among them, which has none; wait for a bounded time for the readers
//!   that the notes name. Once none is left clear [`SHARED`] and [`CLOSED`]: so a run of writes
//!   pays once. If one stays, set [`CLOSED`] and clear [`LOCKED`] in one store (release). An
//!   operation that comes to a closed object does the same without the fence and without waiting.
//! * *Sharing*: a read that is alone inside sets [`SHARED`] if the
//!   [policy](crate::policy::object::sharing) is for it: no reader is counted while an object is
//!   shared. Objects that were made outside of any runtime are not shared: they have no workers.
//!
//! # Why they exclude each other
//! While a reader is inside, the object stays shared, and no operation is inside alone:
//!
//! * *Entering by the lock* is a compare-and-swap of the whole word, so the holder knows whether
//!   the object is shared. If it is not, no reader is inside. So [`SHARED`] and [`CLOSED`] are
//!   cleared by a holder that has seen all readers leave.
//! * *Reader and holder*: Dekker's pattern, note against lock, with the pair of fences that
//!   [`biased`](crate::queue::biased) has: the reader sees the lock, or the holder sees the note. A
//!   word that a reader sees after the holder has left has [`CLOSED`], or no [`SHARED`], or has
//!   been shared anew.
//! * *Reader and holder of a closed object*: that holder has its lock from the operation that
//!   closed the object, or from one in between. It sees what the fence has shown to that operation:
//!   the notes of all that have not seen the lock.
//! * *Reader and operations before*: the reader acquires their word: each leaves by a release of
//!   the word, and as long as the object is shared and not locked, others change the word by
//!   read-modify-writes.
//! * *Reader and operations after*: they see its note cleared, or another object's in its place;
//!   each store of a note is a release.
//!
//! # Why no operation waits for ever
//! A holder keeps readers out by the lock while it waits for those inside, and by [`CLOSED`]
//! afterwards: each reader that it has seen is over at some time, and no others follow. The next
//! operation, even a read, opens a closed object.
//!
//! # Sources
//! BRAVO (Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks", USENIX ATC 2019). While
//! its lock is biased towards readers, each reader leaves its mark at a separate place; a writer
//! revokes the bias and waits for all marks that it finds. There the places are a table for all
//! threads, found by a hash and taken by a compare-and-swap; here each worker has its own, and its
//! store needs no fence.
//!
//! # Rejected
//! To close an object before the first wait for its readers: most writers find them gone. To have
//! readers of a closed object count themselves in its lock: reads that are many and long would keep
//! writers out. A second read by a worker that reads already: other threads' timing would decide
//! whether it gets in; here it never does.

use super::{CLOSED, Door, FLAGS, LOCKED, Refusal, SHARED, SUSPENDED, TAKEN};
use crate::object::class::Class;
use crate::object::way::Way;
use crate::primitives::atomic::{Edge, Ordering, edge};
use crate::primitives::fence;
use crate::primitives::spin::pause;
use crate::processor::context::Context;

/// The flags that readers examine: a stuck host does not matter to them.
const SEEN: u64 = FLAGS & !SUSPENDED;

/// Pauses for which an operation that has to be alone waits for readers, which no others follow:
/// some tens of microseconds. It comes rarely, and if it does not get in it has to wait for a turn
/// of its worker's other tasks. With none a cache of 16 shards makes a sixth less, 100 and 10,000
/// are no better (`evenkeel-bench run --bench cache --objects 1,16 --read-percent 80,95,99
/// --tasks-per-core 16 --runtime in-place,automatic`). Two in the models.
pub(super) const PATIENCE: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 1_000 };

impl Door {
    /// Enters beside other readers, if the object is shared. If it is not, and only readers are in
    /// the way, a reader that `counts` counts itself.
    #[inline(always)]
    pub(in crate::object) fn enter_as_reader(
        &self,
        class: &Class,
        context: &Context,
        counts: bool,
    ) -> Option<Way> {
        let word = self.word();
        if word & FLAGS == 0 {
            return if counts { self.enter_counted(word, class, context) } else { None };
        }
        // No holder looks at the notes of other runtimes' workers. And a reader that already knows
        // that it does not get in makes no note, which other threads would see.
        if word & SEEN != SHARED || !class.is_of(context.shared()) {
            return None;
        }
        let inside = &context.seat.processor().inside;
        let note = inside.note(self.address())?;
        inside.fence();
        if self.word.load(edge(Edge::ObjectShared, Ordering::Acquire)) & SEEN == SHARED {
            return Some(Way::shared(note));
        }
        inside.clear(note);
        None
    }

    /// Leaves as a reader. A read is a part of one call, in which the worker stays the same.
    #[inline(always)]
    pub(in crate::object) fn leave_as_reader(&self, way: Way, context: Option<&Context>) {
        if way.is_counted() {
            self.leave_counted();
        }
        if let (Some(note), Some(context)) = (way.note(), context) {
            context.seat.processor().inside.clear(note);
        }
    }

    /// Lets all workers read the object at once, as soon as the caller leaves. The caller is inside
    /// alone and only reads.
    #[cold]
    pub(in crate::object) fn share(&self) {
        let word = self.word();
        debug_assert_eq!(word & SEEN, LOCKED);
        // No other thread changes the word before the caller gives the lock back.
        self.word.store(word | SHARED, Ordering::Relaxed);
    }

    /// Enters a shared object alone. The caller has just locked `word`, by `way`.
    #[cold]
    pub(super) fn enter_shared(&self, class: &Class, word: u64, way: Way) -> Result<Way, Refusal> {
        let is_closed = word & CLOSED != 0;
        if !is_closed && !is_shown() {
            self.leave();
            return Err(Refusal::Taken);
        }
        if self.have_left(class, if is_closed { 0 } else { PATIENCE }) {
            self.word.store(self.word() & !(SHARED | CLOSED), Ordering::Relaxed);
            return Ok(way);
        }
        let order = edge(Edge::ObjectUnlock, Ordering::Release);
        self.word.store(self.word() & !TAKEN | CLOSED, order);
        Err(Refusal::Taken)
    }

    /// Whether all readers are outside, as the holder sees; waits for them for `patience` pauses.
    fn have_left(&self, class: &Class, patience: u32) -> bool {
        let mut pauses = 0..patience;
        class.processors().iter().all(|processor| {
            loop {
                if !processor.inside.has(self.address()) {
                    return true;
                }
                if pauses.next().is_none() {
                    return false;
                }
                pause();
            }
        })
    }
}

/// Makes a heavy fence, after which the holder sees the notes of all readers that have not seen its
/// lock. False if the fence is not reliable.
fn is_shown() -> bool {
    if fence::is_asymmetric() {
        return fence::heavy(Edge::ObjectHeavy);
    }
    fence::after_read_modify_write(Edge::ObjectHeavy);
    true
}

#[cfg(all(test, loom))]
mod model;
