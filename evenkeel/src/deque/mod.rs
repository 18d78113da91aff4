//! The split deque of fork-join jobs.
//!
//! # Roles
//! The *owner* pushes and pops at the head. *Thieves* take at the tail, the oldest job first, which
//! is the largest. A thief that finds nothing public may become a *seizer*, which publishes jobs of
//! an owner that does not answer. An owner that waits for a stolen job is a *waiter*: it steals
//! descendants of that job.
//!
//! # States
//! A place is a [`Slot`], which holds a job. Places `0..head` are in use. Those in `tail..split`
//! are *public*: thieves take them. Those in `split..head` are *private*: the owner takes them
//! without synchronisation. Those below `tail` have been stolen, and their owner waits for them
//! further down its stack. Each is in use until the owner has seen that its thief is done with it,
//! and has freed it ([`Deque::retire`]). `ends` holds `tail`, `split` and a tag in one word;
//! `fence` repeats `split` for the owner, or is [`CLOSED`] while a seizer is at work. A thread
//! changes `split` only under the lock.
//!
//! # Protocol
//! - *Push*: look at `limit`, write the job into its place, `head + 1`.
//! - *Pop*: `head := place`, a light fence, and a look at `fence`; if the place is not below it,
//!   the owner has the job. Both are plain loads and stores. Otherwise the owner *reclaims*: under
//!   the lock it moves `split` down by one CAS, half way to the tail. If the tail has passed the
//!   place, the job was stolen, and the place stays in use. *Without `membarrier`* nothing can be
//!   seized, so the owner publishes each job as it pushes it.
//! - *Steal*: one CAS moves `tail` up by one; the thief then has the place, until it sets the latch
//!   there to *complete*.
//! - *Ask*: a thief that finds nothing public sets `limit` to zero, which stops the owner at its
//!   next push: it publishes the older half of its private jobs, and goes on. So does an owner that
//!   runs the jobs of a scope one after another, before each of them. An owner asks itself when it
//!   begins a stolen job, and before a fork that is worth it
//!   ([`locality::publishes`](crate::policy::locality::publishes)): its next push publishes.
//! - *Seize*: if the owner does not push, the thief takes the lock, closes `fence`, makes a heavy
//!   fence, reads `head`, publishes half of the private jobs, and opens `fence` again. An owner
//!   that has to reclaim or publish meanwhile waits for the heavy fence, some 10 µs.
//!
//! # Why nothing is lost or run twice
//! - *Between thieves and owner*: the place of a public job goes to the thread that changes the
//!   word by its CAS, because `tail` and `split` lie in it. A thief reads the place after its CAS;
//!   the owner does not use it again before the thief is done with it, so the thief reads the
//!   published job, and the owner finds the result.
//! - *Between seizer and owner*: a pop and a seizure form Dekker's pattern, `head` against `fence`.
//!   Either the owner sees the fence closed, and waits for the lock; or the seizer sees the lower
//!   head, and publishes nothing that the owner has just taken.
//!
//! # Descendants
//! A worker that waits for a stolen job may run descendants of that job and nothing else. A thief's
//! deque is empty when the thief begins a job. The thief is idle; or it waits, and all older jobs
//! have been stolen from it; or it waits for a scope, and has checked that its deque is empty. So
//! the jobs in its deque until the job is complete are the job's descendants. The thief changes the
//! tag whenever it begins or ends a stolen job. So a waiter that reads the word, finds its job
//! incomplete after that, and then succeeds in its CAS has taken a descendant
//! ([`Deque::steal_while`]).
//!
//! # Overflow
//! Boxed jobs beyond the last place go into the [overflow]. A fork that finds no place runs both
//! halves on the spot, the first one first: plain calls are one of the orders that a thread for
//! each half can take. Jobs in the overflow stay there meanwhile, for thieves, or for the owner
//! once the frame that pushed them waits or ends. The deque of a processor without a worker has no
//! place at all, and nothing is pushed there: jobs spawned on a relief go to the workers.
//!
//! # Notes
//! A job may come with a note in its slot, which thieves read before they take or ask for anything.
//! The owner clears a note together with its job, so that a push without a note stores nothing
//! more. A note is a hint: a thief may read the note of another job.
//!
//! # Source
//! The split deque with a request is that of Lace (van Dijk and van de Pol, "Lace: non-blocking
//! split deque for work-stealing", 2014), and so are the [slots](self::slot). The seizure, for
//! owners inside a long leaf, is ours.
//!
//! # Rejected
//! Chase and Lev's deque: a full fence in each pop. A timer that has owners publish now and then
//! (heartbeat scheduling): an idle worker waits for the beat. A buffer that grows: jobs lie in it,
//! and cannot move. Places that hold the addresses of jobs on the stack: a fork stores the address,
//! the job's index and a latch besides (`fib(35)` by the form that passes the worker: 55 to 59 ms
//! instead of 41). A head that lives in registers alone, with a mark in each slot by which a seizer
//! finds it: one store less for that form, and one more for the other. In a model of the owner's
//! part it made no difference for the former. A request that thieves leave at an empty deque: the
//! first fork of the next loop is public at once, and so is every short fork beside a searcher.
//! Forks with leaves of some nanoseconds took up to twice as long.

pub(crate) mod closures;
mod ends;
pub(crate) mod fifo;
mod home;
pub(crate) mod latch;
#[cfg(all(test, loom))]
mod model;
pub(crate) mod note;
mod overflow;
pub(crate) mod runners;
pub(crate) mod slot;
mod store;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use self::ends::Ends;
use self::slot::{Place, Slot};
use crate::primitives::atomic::{AtomicPtr, AtomicU32, AtomicU64, Edge, Ordering, edge};
use crate::primitives::fence;
use crate::primitives::spin_lock::SpinLock;
use crossbeam_utils::CachePadded;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;

/// The owner's fence while a seizer is at work: no place is above it.
const CLOSED: *mut Slot = ptr::without_provenance_mut(usize::MAX);

/// The limit of pushes if a thief has asked for jobs: each push stops.
const ASKED: *mut Slot = ptr::null_mut();

/// Slots of a deque: with the fields before them they fill 4 MiB of addresses. A fork that finds
/// none left runs both halves on the spot, and boxed jobs go into the [overflow]. As many nested
/// forks as this need a stack of several megabytes; the memory is touched as it is used.
#[cfg(not(any(loom, shuttle)))]
pub(crate) const PLACES: u32 = (1 << 16) - 6;
#[cfg(any(loom, shuttle))]
pub(crate) const PLACES: u32 = 4;

/// The deque of one worker, which lies in a [`Home`]. Its alignment is its size, so that an owner
/// that keeps a [`Place`] need not keep the deque. Each register that is kept across the first half
/// of a fork costs a store in that fork and in all leaves below.
#[repr(C)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(0x40_0000)))]
#[cfg_attr(any(loom, shuttle), repr(align(0x1000)))]
pub(crate) struct Deque {
    own: CachePadded<Own>,
    ends: CachePadded<AtomicU64>,
    /// The jobs that found no place.
    overflow: CachePadded<Overflow>,
    /// The slots; the first [`prepared`](Own::prepared) ones are initialised.
    slots: [MaybeUninit<Slot>; PLACES as usize],
}

/// The number of slots that are prepared at a time: a page of memory.
const CHUNK: u32 = 64;

const _: () = assert!(size_of::<Deque>() == align_of::<Deque>());

/// The fields that the owner uses all the time. An address stands for a place.
struct Own {
    head: AtomicPtr<Slot>,
    fence: AtomicPtr<Slot>,
    /// Where a push has to stop: at the end of the prepared slots, or at once: [`ASKED`]. It is
    /// always [`ASKED`] if [every job](Self::publishes_all) is published at once.
    limit: AtomicPtr<Slot>,
    /// The number of prepared slots. Memory is touched as it is needed.
    prepared: AtomicU32,
    /// The most slots that may be prepared.
    places: u32,
    /// The number of boxed jobs, including those in the overflow. Only the owner uses it.
    boxed: AtomicU32,
    /// Whether the owner publishes each job as it pushes it: where the pair of fences is not
    /// asymmetric, nothing can be seized.
    publishes_all: bool,
    /// For changes of `split`.
    lock: SpinLock<()>,
}

/// The number of jobs in a deque and its overflow, as its owner counts: stolen jobs count until the
/// owner has come down to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(usize);

impl Level {
    /// Below all jobs.
    pub(crate) const FLOOR: Self = Self(0);
}

/// The result of reclaiming a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Reclaimed {
    /// The owner has it.
    Own,
    /// A thief has it.
    Stolen,
}

impl Deque {
    fn ends(&self, order: Ordering) -> Ends {
        Ends(self.ends.load(order))
    }

    fn exchange(&self, from: Ends, to: Ends, order: Ordering) -> bool {
        self.ends.compare_exchange(from.0, to.0, order, Ordering::Relaxed).is_ok()
    }

    /// Returns where a push has to stop while no thief has asked.
    fn usual_limit(&self) -> *mut Slot {
        if self.own.publishes_all {
            ASKED
        } else {
            self.place(self.own.prepared.load(Ordering::Relaxed)).0
        }
    }

    /// Sets the owner's `fence` to `split`. The caller has the lock.
    fn open(&self, split: u32) {
        self.own.fence.store(self.place(split).0, Ordering::Relaxed);
    }

    /// Returns the first free place, as the owner sees it.
    #[inline(always)]
    pub(crate) fn head(&self) -> Place {
        Place(self.own.head.load(Ordering::Relaxed))
    }

    /// Returns the number of the first free place, as other threads see it.
    fn height(&self, order: Ordering) -> u32 {
        self.index(Place(self.own.head.load(order)))
    }

    /// Returns whether a job can be pushed into the place `head`, which is [`head`](Self::head). If
    /// not, the owner has to [prepare](Self::prepare) slots, or to [publish](Self::publish) after
    /// the push, because a thief has asked.
    #[inline(always)]
    pub(crate) fn has_room(&self, head: Place) -> bool {
        debug_assert_eq!(head, self.head());
        head.0 < self.own.limit.load(Ordering::Relaxed)
    }

    /// Pushes the job that is in the slot at `head`. The caller is the owner.
    #[inline(always)]
    pub(crate) fn push(&self, head: Place) {
        self.own.head.store(head.next().0, edge(Edge::DequePush, Ordering::Release));
    }

    /// Counts boxed jobs, which may outlive the frame that pushed them, in or out. The caller is
    /// the owner.
    pub(crate) fn count_boxed(&self, change: i32) {
        let boxed = self.own.boxed.load(Ordering::Relaxed);
        self.own.boxed.store(boxed.wrapping_add_signed(change), Ordering::Relaxed);
    }

    /// Returns whether the job at `place` is the newest. The caller is the owner.
    pub(crate) fn is_last(&self, place: Place) -> bool {
        self.level() == self.level_above(place)
    }

    /// Returns the number of jobs here. The caller is the owner.
    pub(crate) fn level(&self) -> Level {
        Level(self.index(self.head()) as usize + self.overflow.height())
    }

    /// Returns the level without the job at `place` and all newer ones.
    pub(crate) fn level_below(&self, place: Place) -> Level {
        Level(self.index(place) as usize)
    }

    /// Returns the level with the job at `place` as the newest.
    pub(crate) fn level_above(&self, place: Place) -> Level {
        self.level_below(place.next())
    }

    /// Returns whether no place is left for a job. The caller is the owner.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        let head = self.head();
        !self.has_room(head) && !self.prepare(head)
    }

    /// Returns whether boxed jobs are in the deque. The caller is the owner.
    #[inline(always)]
    pub(crate) fn has_boxed(&self) -> bool {
        self.own.boxed.load(Ordering::Relaxed) != 0
    }

    /// Leaves a note for the job that goes into the place `head` next, or clears it with zero. The
    /// caller is the owner.
    pub(crate) fn leave_note(&self, head: Place, note: u32) {
        if self.prepare(head) {
            self.slot(self.index(head)).set_note(note);
        }
    }

    /// Returns the note of the oldest job, public or not; zero if it has none. Returns `None` if
    /// there is no job. A hint.
    pub(crate) fn oldest(&self) -> Option<u32> {
        let ends = self.ends(Ordering::Relaxed);
        let index = ends.tail();
        let prepared = self.own.prepared.load(Ordering::Acquire);
        // A thief can take a public job even if the owner has lowered the head to get it back.
        let end = self.height(Ordering::Relaxed).max(ends.split()).min(prepared);
        (index < end).then(|| self.slot(index).note())
    }

    /// Takes back the job at `place`, the last one. Returns false if that takes a
    /// [`reclaim`](Self::reclaim). The caller is the owner.
    #[inline(always)]
    pub(crate) fn pop(&self, place: Place) -> bool {
        debug_assert_eq!(place.next(), self.head());
        // Release ordering, because a seizer relies on the places below.
        self.own.head.store(place.0, edge(Edge::DequePop, Ordering::Release));
        fence::light(Edge::DequeLight);
        place.0 >= self.own.fence.load(Ordering::Relaxed)
    }

    /// Reclaims the job at `place`, the last one, after [`pop`](Self::pop) has returned false or
    /// instead of it. A stolen job stays there until the owner [retires](Self::retire) the place.
    /// The caller is the owner.
    #[cold]
    pub(crate) fn reclaim(&self, place: Place) -> Reclaimed {
        let index = self.index(place);
        let _lock = self.own.lock.lock();
        // No seizer is at work. The next one looks with the lock, and so sees the head and the
        // places below it: these stores need no release ordering.
        loop {
            let ends = self.ends(Ordering::Relaxed);
            if ends.tail() > index {
                self.own.head.store(place.next().0, Ordering::Relaxed);
                return Reclaimed::Stolen;
            }
            if index >= ends.split() {
                self.own.head.store(place.0, Ordering::Relaxed);
                return Reclaimed::Own;
            }
            // Half of the jobs below stay public: with more, the owner would reclaim them place by
            // place; with fewer, it would have to publish them again. Where no thief can seize what
            // is not public, all of them do.
            let below = index - ends.tail();
            let split = ends.tail() + if self.own.publishes_all { below } else { below / 2 };
            if self.exchange(ends, ends.with_split(split), Ordering::Relaxed) {
                self.own.head.store(place.0, Ordering::Relaxed);
                self.open(split);
                return Reclaimed::Own;
            }
        }
    }

    /// Frees the place of a stolen job: the deque is empty from there on. The caller is the owner,
    /// has seen by the latch there that the thief is done, and needs nothing more from the slot.
    pub(crate) fn retire(&self, place: Place) {
        let index = self.index(place);
        let slot = self.slot(index);
        slot.latch.reset();
        slot.set_note(0);
        let _lock = self.own.lock.lock();
        let ends = self.ends(Ordering::Relaxed);
        debug_assert_eq!((ends.tail(), ends.split()), (index + 1, index + 1));
        debug_assert_eq!(self.head(), place.next(), "nothing lies above");
        // No release ordering: a seizer looks at the head with the lock, as in `reclaim`.
        self.own.head.store(place.0, Ordering::Relaxed);
        // No job is public, so no thief changes the word meanwhile. No release ordering either: a
        // thief that sees this word finds no public job in it and reads no slot. A job that the
        // thief steals later was made public by a change of the word with release ordering, after
        // the latch above.
        self.ends.store(ends.with_tail(index).with_split(index).0, Ordering::Relaxed);
        self.open(index);
    }

    /// Publishes the older half of the private jobs, and returns their number. The caller is the
    /// owner.
    ///
    /// This takes the request, if there is one. An owner that answers makes a fence afterwards, and
    /// looks for sleepers. A thief that relies on the answer announces its sleep, makes a fence and
    /// then [asks](Self::ask): it stores the request, or sees that of another thief. The swap comes
    /// after that store, or after that look, in the order of changes of `limit`. So the thief's
    /// fence comes before the owner's, and the owner sees the announcement. The two accesses
    /// themselves order nothing: release and acquire would serve only the thief that stored last.
    #[cold]
    pub(crate) fn publish(&self) -> u32 {
        self.own.limit.swap(self.usual_limit(), Ordering::Relaxed);
        self.publish_unasked()
    }

    /// Does the same, but leaves the request, if there is one. For an owner that publishes for
    /// itself, and has no answer for a thief yet.
    #[cold]
    pub(crate) fn publish_unasked(&self) -> u32 {
        let _lock = self.own.lock.lock();
        let (published, split) = self.move_split(self.height(Ordering::Relaxed));
        self.open(split);
        published
    }

    /// Publishes all jobs. The caller is the owner.
    fn publish_all(&self) {
        let _lock = self.own.lock.lock();
        let head = self.height(Ordering::Relaxed);
        while self.move_split(head).0 > 0 {}
        self.open(head);
    }

    /// Moves the split half way to `head`, which is not below it. Returns the number of places and
    /// the new split. The caller has the lock.
    fn move_split(&self, head: u32) -> (u32, u32) {
        loop {
            let ends = self.ends(Ordering::Relaxed);
            let count = head.saturating_sub(ends.split()).div_ceil(2);
            let split = ends.split() + count;
            if self.exchange(
                ends,
                ends.with_split(split),
                edge(Edge::DequePublish, Ordering::Release),
            ) {
                return (count, split);
            }
        }
    }

    /// Takes the oldest public job, and returns the number of its slot. Returns `None` if there is
    /// none, or if another thread was faster.
    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn steal(&self) -> Option<u32> {
        self.steal_while(|| true)
    }

    /// Does the same, if `holds` returns true after the look at the deque.
    pub(crate) fn steal_while(&self, holds: impl FnOnce() -> bool) -> Option<u32> {
        // Acquire ordering: `holds` looks after this.
        let ends = self.ends(edge(Edge::DequeLook, Ordering::Acquire));
        let index = ends.tail();
        if index >= ends.split() || !holds() {
            return None;
        }
        self.exchange(ends, ends.with_tail(index + 1), edge(Edge::DequeSteal, Ordering::Acquire))
            .then_some(index)
    }

    /// Marks that the owner begins or ends a stolen job: the jobs it pushes from here on are not
    /// descendants of the former one. The caller is the owner.
    pub(crate) fn change_root(&self) {
        self.ends.fetch_add(Ends::TAG, Ordering::Relaxed);
    }

    /// Returns whether no job is left here, public or private. The caller is the owner.
    pub(crate) fn is_empty(&self) -> bool {
        self.height(Ordering::Relaxed) == self.ends(Ordering::Relaxed).tail()
            && self.overflow.is_empty()
    }

    /// Returns whether a thief has asked and has had no answer yet.
    pub(crate) fn is_asked(&self) -> bool {
        self.own.limit.load(Ordering::Relaxed) == ASKED
    }

    /// Returns whether there is a job to steal.
    pub(crate) fn has_public(&self) -> bool {
        self.has_public_place() || !self.overflow.is_empty()
    }

    fn has_public_place(&self) -> bool {
        let ends = self.ends(Ordering::Relaxed);
        ends.tail() < ends.split()
    }

    /// Returns whether there is a job to ask for; approximate.
    pub(crate) fn has_private(&self) -> bool {
        self.height(Ordering::Relaxed) > self.ends(Ordering::Relaxed).split()
    }

    /// Returns whether there is any job, public or private; approximate.
    pub(crate) fn has_any(&self) -> bool {
        self.has_public() || self.has_private()
    }

    /// Returns whether the owner is inside a fork, or has jobs: whether any place is in use, those
    /// of stolen jobs included. Exact for a thread that knows of a stolen job, approximate for
    /// others.
    pub(crate) fn is_in_use(&self) -> bool {
        self.height(Ordering::Relaxed) > 0
    }

    /// Asks the owner to publish at its next push. [`publish`](Self::publish) says which fences
    /// belong to a request.
    pub(crate) fn ask(&self) {
        if !self.is_asked() {
            self.own.limit.store(ASKED, Ordering::Relaxed);
        }
    }

    /// Publishes the older half of the owner's private jobs, without the owner, and returns their
    /// number. It costs a heavy fence; if that is not available, it publishes nothing.
    #[cold]
    pub(crate) fn seize(&self) -> u32 {
        let Some(_lock) = self.own.lock.try_lock() else { return 0 };
        let before = self.own.fence.load(Ordering::Relaxed);
        self.own.fence.store(CLOSED, Ordering::Relaxed);
        if !fence::heavy(Edge::DequeHeavy) {
            self.own.fence.store(before, Ordering::Relaxed);
            return 0;
        }
        // Acquire ordering: the owner has filled the places below.
        let head = self.height(edge(Edge::DequeHead, Ordering::Acquire));
        let (published, split) = self.move_split(head);
        self.open(split);
        published
    }
}

impl fmt::Debug for Deque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.ends(Ordering::Relaxed);
        f.debug_struct("Deque")
            .field("tail", &ends.tail())
            .field("split", &ends.split())
            .field("head", &self.height(Ordering::Relaxed))
            .field("overflow", &self.overflow.height())
            .finish_non_exhaustive()
    }
}

pub(crate) use home::Home;
use overflow::Overflow;
pub(crate) use overflow::Spilled;
