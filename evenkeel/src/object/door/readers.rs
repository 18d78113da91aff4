//! Readers that count themselves in the object's word: two locked instructions each, and no reader
//! waits for another. A new object is read in this way, wherever it is entered in place; once it is
//! read much and written little, it becomes [shared](super::shared).
//!
//! # Roles
//! *Readers* are workers that read where their tasks are. An operation that has to be *alone* waits
//! for them.
//!
//! # Steps
//! * *Reader*: note the object, for the worker itself; add one to the count by a compare-and-swap
//!   (acquire) of a word that has no flag: it is inside. It leaves by taking one off (release), and
//!   clears the note.
//! * *Alone*, where the word is not free, or has a flag: set [`LOCKED`] and [`CLOSED`] and leave
//!   the count as it is, by a compare-and-swap (acquire), tried again as long as only the count has
//!   changed. Wait for a bounded time until the count is zero (acquire), and then set the own
//!   number instead of [`CLOSED`]: it is inside. If some readers stay, clear [`LOCKED`] (release)
//!   and leave [`CLOSED`], which keeps further readers out. The next operation that has to be alone
//!   does the same, or enters and clears [`CLOSED`]. A reader that finds [`CLOSED`] has to be alone
//!   too.
//! * *Sharing*: one read in some, as the [policy](crate::policy::object::sharing) says, goes in
//!   alone and lets all read without a count.
//!
//! # Why they exclude each other
//! A reader comes in by a compare-and-swap from a word without [`LOCKED`]. Another operation comes
//! in by one from a word with a zero count, or by seeing the count zero under [`LOCKED`], which
//! lets no reader in. Between [`LOCKED`] and the number only readers change the word, all by
//! read-modify-writes; after that only the holder. All reads are over when the count is zero, since
//! the last reader to leave continues the releases of those before.
//!
//! # Why no operation waits for ever
//! [`CLOSED`] stays until an operation has been inside alone, so readers that come keep none out.
//! That operation may be another one than the one that has closed the object, and may be a read.
//! Operations that have to be alone are let in as by a lock, in no order, and look again after a
//! turn of other tasks.
//!
//! # The note
//! It excludes no operation. It tells a worker that it is inside already: the worker would wait for
//! itself. The holder of a shared object may take the note for that of a reader of the other kind,
//! and waits until it is cleared, which is sooner than the read ends.
//!
//! # Rejected
//! To let reads be alone until all share the object: a cache of 16 shards made 0.5 to 0.85 of what
//! it makes, one of one shard 0.6 to 1 (`evenkeel-bench run --bench cache --objects 1,16
//! --read-percent 80,95,99 --tasks-per-core 16 --runtime in-place,tasks+rwlock`). To look at the
//! count now and then, as at a lock: the next reader is inside by then, and an operation that comes
//! alone waits long; a cache of one shard made two thirds.

use super::shared::PATIENCE;
use super::{BELOW, CLOSED, Door, FLAGS, INSIDE, LOCKED, Refusal, SHARED, host_in};
use crate::object::class::Class;
use crate::object::way::Way;
use crate::primitives::atomic::{Edge, Ordering, edge};
use crate::primitives::spin::pause;
use crate::processor::context::Context;

/// One reader in the count.
const READER: u64 = 1 << INSIDE;

impl Door {
    /// Counts this worker in as a reader of the object with this `word`, if the object is entered
    /// in place and only readers are in the way.
    #[inline(always)]
    pub(super) fn enter_counted(
        &self,
        mut word: u64,
        class: &Class,
        context: &Context,
    ) -> Option<Way> {
        if host_in(word, class).is_some() {
            return None;
        }
        let inside = &context.seat.processor().inside;
        let note = inside.note(self.address())?;
        let order = edge(Edge::ObjectLock, Ordering::Acquire);
        while word & FLAGS == 0 {
            match self.word.compare_exchange(word, word + READER, order, Ordering::Relaxed) {
                Ok(_) => return Some(Way::shared(note).counted()),
                Err(now) => word = now,
            }
        }
        inside.clear(note);
        None
    }

    /// Takes a reader that was counted in out of the count.
    #[inline(always)]
    pub(super) fn leave_counted(&self) {
        self.word.fetch_sub(READER, edge(Edge::ObjectUnlock, Ordering::Release));
    }

    /// Sets the lock for this thread, once the readers have left that are counted in the word,
    /// which was `word`. The object is not shared.
    #[cold]
    pub(super) fn lock_after_readers(&self, mut word: u64, thread: u64) -> Result<(), Refusal> {
        let order = edge(Edge::ObjectLock, Ordering::Acquire);
        loop {
            if word & (LOCKED | SHARED) != 0 {
                return Err(Refusal::Taken);
            }
            let locked = word | LOCKED | CLOSED;
            match self.word.compare_exchange(word, locked, order, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        for _ in 0..PATIENCE {
            let word = self.word.load(order);
            if word & !BELOW == 0 {
                self.word.store(word & !CLOSED | thread << INSIDE, Ordering::Relaxed);
                return Ok(());
            }
            pause();
        }
        self.word.fetch_and(!LOCKED, edge(Edge::ObjectUnlock, Ordering::Release));
        Err(Refusal::Taken)
    }
}

#[cfg(all(test, loom))]
mod model;
