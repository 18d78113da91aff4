//! Objects that all may read at once: a note for each reader, and for the writer a look at all notes.
//!
//! # Roles
//! *Readers* are workers of the object's runtime, its relief among them, that read where their tasks are. All others are *alone* inside: those who write, and those who read
//! an object that is not shared, or from elsewhere, or without a place for a note.
//!
//! # States
//! In `place` an object is *shared* with [`SHARED`], and *closed* with [`CLOSED`] beside it: those who read it may still be inside, and no others come. The address of its home stays where it is.
//!
//! # Steps
//! *Reader*: note the object; a light fence; if the bits of `place` are [`SHARED`] and nothing else but [`SUSPENDED`], it is inside (acquire); otherwise clear the note, and enter alone. It leaves by clearing the note
//! (release).
//! *Alone*: set [`LOCKED`], whatever the mode and whoever it is, the host too; if the object is shared, a heavy fence, and a look at the notes of all processors, the own one among
//! them, which has none; wait for a bounded time for the readers that they name. Once none is left clear [`SHARED`] and [`CLOSED`]: the object is as all others are, so a run of writes pays once. If one stays, set [`CLOSED`] and clear
//! [`LOCKED`] in one step (release). Who comes to a closed object does the same without the fence and without waiting.
//! *Sharing*: whoever is inside alone, has read, and finds that the [policy](crate::policy::object::streak) is for it, sets [`SHARED`] when its operation is over: with the lock before it gives that back (release), as the host by a
//! compare-and-swap of the bare address (release) before it clears its note. Objects that were made outside of any runtime are not shared: they have no workers.
//!
//! # Why they exclude each other
//! While a reader is inside, the object stays shared, and nobody is inside alone:
//!
//! *Entering by the lock* is a compare-and-swap of all of `place`, so whoever does it knows whether the object is shared when it has the lock. If it is not, no reader is inside. If it is, it enters alone as above. So
//! [`SHARED`] and [`CLOSED`] are cleared by one who has the lock and has seen all readers leave.
//! *Reader and who comes alone*: Dekker's pattern, note against lock, as between host and visitor: the reader sees the lock, or the other sees the note. What a reader sees after the lock has been given back has
//! [`CLOSED`], or no [`SHARED`], or has been shared anew by one who was inside alone and has left.
//! *Reader and who comes to a closed object*: that one has its lock from who has closed it, or from who has had it in between, and sees what the fence has shown to that one: the notes of all who have not seen the lock.
//! *Reader and host*: a host enters by its note if `place` is its bare address, which that of a shared object is not. If it is inside when the object is shared, it shares it itself, and is over. It does so by a
//! compare-and-swap of the bare address, because a visitor may have locked it, who looks at the notes of the host alone.
//! *Reader and operations before*: who shares an object releases its `place` after that; as long as it is shared and not locked, others change `place` by read-modify-writes.
//! *Reader and operations after*: they see its note cleared, or another object's in its place; each store of a note is a release.
//!
//! # What else may happen while an object is shared
//! *The mode changes*: readers look at no mode. Who comes alone enters whatever the mode, as one does who [takes](Door::take) an object from its home; when it has left, hosts and visitors enter as
//! the mode says, and whoever of them is on its way sees the lock. Who drains a class waits for each worker until it has been seen outside once of what its notes
//! named in the beginning: they may name what a worker reads, again and again, and it does no harm to wait for that once.
//! *The home changes*: by its host, by a compare-and-swap while nobody has the lock, which keeps [`SHARED`] and [`CLOSED`]. Neither the old nor the new host enters by its note; who clears the bits has looked at the notes of
//! both. A reader has no use for the home, but while the host has a note, as a reader too, it does not give the object away.
//! *Suspension, poison, a hold*: by one who is inside alone, so the object is not shared any more. One that is poisoned is not shared. One that is suspended may be: as one that is not, it is not entered
//! by its host's note, and who comes alone enters as above. That the host is back is found out by those who enter it once it is not shared.
//! *Poison is cleared*: of an object that is not shared.
//!
//! # Why nobody waits for ever
//! Who comes alone to a shared object keeps readers out by the lock while it waits for those inside, and by [`CLOSED`] afterwards: each reader that it has seen is over at some time, and no others follow. Whoever comes
//! next, be it another reader, opens a closed object.
//!
//! # Sources
//! A lock that readers take by leaving word at a place of their own, as long as it is biased towards them, and whose writer revokes the bias and waits for all whose words it finds: BRAVO (Dice and Kogan, "BRAVO - Biased Locking for
//! Reader-Writer Locks", USENIX ATC 2019). There the places are a table for all threads, found by a hash and taken by a compare-and-swap; here each worker has its own, and its store needs no fence.
//!
//! # Rejected
//! To close an object before one waits for its readers for the first time: most writers find them gone. To have readers of a closed object count themselves in its lock: reads that are many and long would keep writers out. A second
//! read by a worker that reads already: it would be let in or not by what others do meanwhile; now it never is.

use super::{CLOSED, Door, FLAGS, LOCKED, Refusal, SHARED, SUSPENDED};
use crate::object::class::Class;
use crate::object::way::Way;
use crate::primitives::atomic::{Edge, Ordering, edge};
use crate::primitives::spin::pause;
use crate::scheduler::context::Context;

/// The bits that readers look at: whether the host is stuck is nothing to them.
const SEEN: usize = FLAGS & !SUSPENDED;

/// Pauses for which whoever comes alone waits for those who read, whom no others follow: some tens of microseconds. It comes rarely, and who does not get in has to wait for a turn of its worker's
/// other tasks. An estimate; no benchmark sets it. Two in the models.
const PATIENCE: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 1_000 };

impl Door {
    /// Enters beside other readers, if the object is shared.
    #[inline(always)]
    pub(in crate::object) fn enter_as_reader(
        &self,
        class: &Class,
        context: &Context,
    ) -> Option<Way> {
        // The notes of other runtimes' workers are looked at by nobody. And who knows already that it does not get in makes no note, which others would see.
        if self.place.load(Ordering::Relaxed) & SEEN != SHARED || !class.is_of(context.shared()) {
            return None;
        }
        let inside = &context.seat.processor().inside;
        let note = inside.note(self.address())?;
        inside.fence();
        if self.place.load(edge(Edge::ObjectShared, Ordering::Acquire)) & SEEN == SHARED {
            return Some(Way::shared(note));
        }
        inside.clear(note);
        None
    }

    /// Leaves as a reader. A read is a part of one call, in which the worker stays what it is.
    #[inline(always)]
    pub(in crate::object) fn leave_as_reader(&self, way: Way, context: Option<&Context>) {
        if let (Some(note), Some(context)) = (way.note(), context) {
            context.seat.processor().inside.clear(note);
        }
    }

    /// Lets all workers read the object at once from now on. The caller is inside alone, by `way`; it has done what it came for, and leaves now. False if the object is not to be shared now.
    #[cold]
    pub(in crate::object) fn share(&self, way: Way, context: Option<&Context>) -> bool {
        let place = self.place.load(Ordering::Relaxed);
        if way.is_by_lock() {
            let may = place & SEEN == LOCKED;
            if may {
                // Nobody looks behind the lock, which the caller gives back.
                self.place.store(place | SHARED, Ordering::Relaxed);
            }
            return may;
        }
        // A visitor that has locked it has looked at the notes of the host alone.
        let Some(here) = context.map(|context| context.seat.home().addr()) else { return false };
        let order = edge(Edge::ObjectShare, Ordering::Release);
        self.place.compare_exchange(here, here | SHARED, order, Ordering::Relaxed).is_ok()
    }

    /// Enters a shared object alone. The caller has just locked it, as `place`.
    #[cold]
    pub(super) fn enter_shared(&self, class: &Class, place: usize) -> Result<Way, Refusal> {
        let is_closed = place & CLOSED != 0;
        if !is_closed && !self.is_shown() {
            self.give_back();
            return Err(Refusal::Taken);
        }
        if self.have_left(class, if is_closed { 0 } else { PATIENCE }) {
            self.place.fetch_and(!(SHARED | CLOSED), Ordering::Relaxed);
            return Ok(self.by_lock());
        }
        if is_closed {
            self.give_back();
        } else {
            // The lock is set, so it is cleared; the other is not, so it is set.
            let order = edge(Edge::ObjectUnlock, Ordering::Release);
            self.place.fetch_xor(LOCKED | CLOSED, order);
        }
        Err(Refusal::Taken)
    }

    /// Whether all readers are outside, as one sees who has locked the object; waits for them for so many pauses.
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

#[cfg(all(test, loom))]
mod model;
