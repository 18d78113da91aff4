//! The split deque of fork-join jobs.
//!
//! # Roles
//! The *owner* pushes and pops at the head. *Thieves* take at the tail, the oldest job first, which is the largest. A
//! thief that finds nothing public may be a *seizer*, who publishes jobs of an owner that does not answer.
//!
//! # States
//! Places `0..head` are in use. Those in `tail..split` are *public*: thieves take them. Those in `split..head` are
//! *private*: the owner takes them without asking anybody. Those below `tail` have been stolen, and their owner waits
//! for them further down its stack. `ends` holds `tail`, `split` and a tag in one word; `fence` repeats `split` for
//! the owner, or is [`CLOSED`] while a seizer is at work. Whoever changes `split` has the lock.
//!
//! # Protocol
//! *Push*: a look at `limit`, the job into its place, `head + 1`. *Pop*: `head := index`, a light fence, and a
//! look at `fence`; if the place is above it, the job is the owner's. Both are plain loads and stores. Otherwise
//! the owner *reclaims*: under the lock it moves `split` down by one CAS, half way to the tail, unless the tail has passed
//! the place: then the job was stolen.
//! *Without `membarrier`* nothing can be seized, so the owner publishes each job as it pushes it.
//! *Steal*: one CAS moves `tail` up by one; the thief then reads the place and clears it.
//! *Ask*: a thief that finds nothing public sets `limit` to zero, which stops the owner at its next push: it publishes the older
//! half of what is private, and goes on. *Seize*: where it does not push, the thief takes the lock, closes the fence, pays for a heavy
//! fence, reads `head`, publishes half of what is private, and opens the fence again. An owner that has to reclaim or publish
//! meanwhile waits for as long as that fence takes, some 10 µs.
//!
//! # Why nothing is lost or run twice
//! *Between thieves and owner*: the place of a job that is public goes to whoever's CAS changes the word, for `tail`
//! and `split` lie in it. A thief reads the place after its CAS; the owner does not use it again before it has been cleared
//! ([`Deque::retire`]), so the thief reads what was published.
//! *Between seizer and owner*: a pop and a seizure form Dekker's pattern, `head` against `fence`. Either the owner sees
//! the fence closed, and waits for the lock; or the seizer sees the lower head, and publishes nothing that the owner
//! has just taken.
//!
//! # Descendants
//! A worker that waits for a stolen job may run descendants of that job and nothing else. A thief's deque is empty
//! when it begins a job: it is idle, or it waits and has been robbed of all that is older, or it waits for a scope and makes
//! sure; so what lies in it until the job
//! is complete are the job's descendants. The thief changes the tag whenever it begins or ends one. So a waiter that reads
//! the word, finds its job incomplete after that, and then succeeds in its CAS has taken a descendant
//! ([`Deque::steal_while`]).
//!
//! # Notes
//! A job may come with a note, which others read before they take or ask for anything: an odd address in the place
//! says that there is one, in an array of its own, so that a push without a note stores nothing more. A note is a hint: what a reader
//! sees may be that of another job.
//!
//! # Source
//! The split deque with a request is that of Lace (van Dijk and van de Pol, "Lace: non-blocking split deque for
//! work-stealing", 2014). The seizure, for owners inside a long leaf, is ours.
//!
//! # Rejected
//! Chase and Lev's deque: a full fence in each pop. A timer that has owners publish now and then (heartbeat
//! scheduling): whoever is idle waits for the beat. A buffer that grows: a thief may clear its place in the
//! old one.

use crate::primitives::atomic::{AtomicPtr, AtomicU32, AtomicU64, Edge, Ordering, edge};
use crate::primitives::fence;
use crate::primitives::spin::Backoff;
use crate::primitives::spin_lock::SpinLock;
use crossbeam_utils::CachePadded;
use std::fmt;
use std::num::NonZero;
use std::ptr::{self, NonNull};

/// Places of a deque. A fork that finds none left runs both halves on the spot. As many nested forks as this need a
/// stack of several megabytes; the memory is touched as it is used.
#[cfg(not(any(loom, shuttle)))]
pub(crate) const PLACES: u32 = 1 << 16;
#[cfg(any(loom, shuttle))]
pub(crate) const PLACES: u32 = 4;

/// The owner's fence while a seizer is at work: no place is above it.
const CLOSED: u32 = u32::MAX;

/// The deque of one worker. `T` is what its jobs are.
pub(crate) struct Deque<T> {
    own: CachePadded<Own<T>>,
    ends: CachePadded<AtomicU64>,
}

/// What the owner uses all the time.
struct Own<T> {
    head: AtomicU32,
    fence: AtomicU32,
    /// Where a push has to stop: [`PLACES`], or zero if somebody has asked for jobs, or if [every job](usual_limit) is to be
    /// public.
    limit: AtomicU32,
    /// What `limit` is when nobody has asked.
    usual: u32,
    /// How many of the jobs are boxed ones. Only the owner looks.
    boxed: AtomicU32,
    /// For changes of `split`.
    lock: SpinLock<()>,
    /// Addresses of jobs; odd ones have a note.
    places: Box<[AtomicPtr<T>; PLACES as usize]>,
    notes: Box<[AtomicU32; PLACES as usize]>,
}

/// The word that owner and thieves change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends(u64);

impl Ends {
    /// Enough for [`PLACES`] itself; the tag has the other 30.
    const BITS: u32 = 17;
    const MASK: u64 = (1 << Self::BITS) - 1;
    const TAG: u64 = 1 << (2 * Self::BITS);

    fn tail(self) -> u32 {
        (self.0 & Self::MASK) as u32
    }

    fn split(self) -> u32 {
        (self.0 >> Self::BITS & Self::MASK) as u32
    }

    fn with_split(self, split: u32) -> Self {
        Self(self.0 & !(Self::MASK << Self::BITS) | u64::from(split) << Self::BITS)
    }

    fn with_tail(self, tail: u32) -> Self {
        Self(self.0 & !Self::MASK | u64::from(tail))
    }
}

/// What a push has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Pushed {
    /// The job is in the deque, and [`publish`](Deque::publish) answers who has asked.
    Asked,
    /// All places are in use; nothing has been done.
    Full,
}

/// What became of a job that its owner wants back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Reclaimed {
    /// It is the owner's.
    Own,
    /// A thief has it.
    Stolen,
}

impl<T> Deque<T> {
    pub(crate) fn new() -> Self {
        Self::with_limit(usual_limit())
    }

    fn with_limit(usual: u32) -> Self {
        Self {
            own: CachePadded::new(Own {
                head: AtomicU32::new(0),
                fence: AtomicU32::new(0),
                limit: AtomicU32::new(usual),
                usual,
                boxed: AtomicU32::new(0),
                lock: SpinLock::new(()),
                places: places(|| AtomicPtr::new(ptr::null_mut())),
                notes: places(|| AtomicU32::new(0)),
            }),
            ends: CachePadded::new(AtomicU64::new(0)),
        }
    }

    fn ends(&self, order: Ordering) -> Ends {
        Ends(self.ends.load(order))
    }

    fn exchange(&self, from: Ends, to: Ends, order: Ordering) -> bool {
        self.ends.compare_exchange(from.0, to.0, order, Ordering::Relaxed).is_ok()
    }

    /// The first free place, as the owner sees it.
    #[inline(always)]
    pub(crate) fn head(&self) -> u32 {
        self.own.head.load(Ordering::Relaxed)
    }

    /// Puts a job into the place `head`, which is [`head`](Self::head). False, and nothing done, if that takes a
    /// [`push_slowly`](Self::push_slowly). The caller is the owner.
    #[inline(always)]
    pub(crate) fn push(&self, head: u32, job: NonNull<T>) -> bool {
        debug_assert_eq!(head, self.head());
        if head >= self.own.limit.load(Ordering::Relaxed) {
            return false;
        }
        self.put(head, job);
        true
    }

    /// The same where somebody has asked for jobs, or all places are in use. The caller is the owner.
    pub(crate) fn push_slowly(&self, head: u32, job: NonNull<T>) -> Pushed {
        if head >= PLACES {
            return Pushed::Full;
        }
        self.put(head, job);
        Pushed::Asked
    }

    #[inline(always)]
    fn put(&self, head: u32, job: NonNull<T>) {
        self.own.places[head as usize].store(job.as_ptr(), Ordering::Relaxed);
        self.own.head.store(head + 1, edge(Edge::DequePush, Ordering::Release));
    }

    /// Counts boxed jobs, which may outlive the frame that has pushed them, in or out. The caller is the owner.
    pub(crate) fn count_boxed(&self, change: i32) {
        let boxed = self.own.boxed.load(Ordering::Relaxed);
        self.own.boxed.store(boxed.wrapping_add_signed(change), Ordering::Relaxed);
    }

    /// Whether `index` is the last place in use. The caller is the owner.
    #[inline(always)]
    pub(crate) fn is_head(&self, index: u32) -> bool {
        self.head() == index + 1
    }

    /// The same for a caller that has pushed a job there which is not boxed: it looks at a word that seldom changes, and
    /// not at one that has just been stored. (In a recursive `fib` of 35 it takes the form that passes the worker to 55 from
    /// 59 ms, and the other one to 66 from 60.)
    #[inline(always)]
    pub(crate) fn is_last(&self, index: u32) -> bool {
        !self.has_boxed() || self.is_head(index)
    }

    /// Whether boxed jobs are in the deque. The caller is the owner.
    #[inline(always)]
    pub(crate) fn has_boxed(&self) -> bool {
        self.own.boxed.load(Ordering::Relaxed) != 0
    }

    /// What lies in a place below the head. The caller is the owner.
    pub(crate) fn peek(&self, index: u32) -> Option<NonNull<T>> {
        NonNull::new(self.own.places[index as usize].load(Ordering::Relaxed)).map(without_note)
    }

    /// Leaves a note for the job that goes into the place `head` next, by an address [with a note](with_note). The caller is
    /// the owner.
    pub(crate) fn leave_note(&self, head: u32, note: u32) {
        if let Some(place) = self.own.notes.get(head as usize) {
            place.store(note, Ordering::Relaxed);
        }
    }

    /// The note of the oldest job, public or not; zero if it has none. None if there is no job. A hint.
    pub(crate) fn oldest(&self) -> Option<u32> {
        let index = self.ends(Ordering::Relaxed).tail();
        if index >= self.head() {
            return None;
        }
        let job = self.own.places[index as usize].load(Ordering::Relaxed);
        let note = self.own.notes[index as usize].load(Ordering::Relaxed);
        Some(if job.addr() & NOTED == 0 { 0 } else { note })
    }

    /// Takes back the job at `index`, the last one. False if that takes a [`reclaim`](Self::reclaim). The caller is
    /// the owner.
    #[inline(always)]
    pub(crate) fn pop(&self, index: u32) -> bool {
        debug_assert_eq!(index + 1, self.head());
        // Released, because a seizer relies on the places below.
        self.own.head.store(index, Ordering::Release);
        fence::light(Edge::DequeLight);
        index >= self.own.fence.load(Ordering::Relaxed)
    }

    /// What has become of the job at `index`, the last one, which [`pop`](Self::pop) has not given or has not been asked
    /// for. The caller is the owner.
    #[cold]
    pub(crate) fn reclaim(&self, index: u32) -> Reclaimed {
        let _lock = self.own.lock.lock();
        // No seizer is at work, and the next one sees this.
        self.own.head.store(index, Ordering::Release);
        loop {
            let ends = self.ends(Ordering::Relaxed);
            if index >= ends.split() {
                return Reclaimed::Own;
            }
            if ends.tail() > index {
                return Reclaimed::Stolen;
            }
            // Half of what is below stays public: more would be reclaimed place by place, less published again.
            let split = ends.tail() + (index - ends.tail()) / 2;
            if self.exchange(ends, ends.with_split(split), Ordering::Relaxed) {
                self.own.fence.store(split, Ordering::Relaxed);
                return Reclaimed::Own;
            }
        }
    }

    /// Makes the place of a stolen job free, once its thief has read it: the deque is empty from there on. The caller is
    /// the owner.
    pub(crate) fn retire(&self, index: u32) {
        let place = &self.own.places[index as usize];
        let mut backoff = Backoff::new();
        while !place.load(Ordering::Relaxed).is_null() {
            backoff.snooze();
        }
        let _lock = self.own.lock.lock();
        let ends = self.ends(Ordering::Relaxed);
        // Nothing is public, so no thief changes the word meanwhile.
        self.ends.store(ends.with_tail(index).with_split(index).0, Ordering::Relaxed);
        self.own.fence.store(index, Ordering::Relaxed);
    }

    /// Publishes the older half of what is private, and gives the number of jobs. The caller is the owner.
    #[cold]
    pub(crate) fn publish(&self) -> u32 {
        // Acquired: whoever has asked may be asleep, and has said so before.
        self.own.limit.swap(self.own.usual, Ordering::Acquire);
        let _lock = self.own.lock.lock();
        let (published, split) = self.move_split(self.head());
        self.own.fence.store(split, Ordering::Relaxed);
        published
    }

    /// Moves the split half way to `head`, which is no less than it; gives the number of places and the new split. The
    /// caller has the lock.
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

    /// Takes the oldest public job. None if there is none, or if somebody else was faster.
    #[cfg(test)]
    pub(crate) fn steal(&self) -> Option<NonNull<T>> {
        self.steal_while(|| true)
    }

    /// The same, if `holds` after the look at the deque.
    pub(crate) fn steal_while(&self, holds: impl FnOnce() -> bool) -> Option<NonNull<T>> {
        // Acquired: `holds` looks after this.
        let ends = self.ends(edge(Edge::DequeLook, Ordering::Acquire));
        let index = ends.tail();
        if index >= ends.split() || !holds() {
            return None;
        }
        if !self.exchange(
            ends,
            ends.with_tail(index + 1),
            edge(Edge::DequeSteal, Ordering::Acquire),
        ) {
            return None;
        }
        let place = &self.own.places[index as usize];
        let job = place.load(Ordering::Relaxed);
        // The owner stores its next job here after it has seen this, and so after the look above.
        place.store(ptr::null_mut(), Ordering::Relaxed);
        Some(without_note(NonNull::new(job).expect("a public place holds a job")))
    }

    /// Says that the owner begins or ends a job that it has stolen: what it pushes from now on are not descendants of what
    /// went before. The caller is the owner.
    pub(crate) fn change_root(&self) {
        self.ends.fetch_add(Ends::TAG, Ordering::Relaxed);
    }

    /// Whether nothing is left here, public or private. The caller is the owner.
    pub(crate) fn is_empty(&self) -> bool {
        self.head() == self.ends(Ordering::Relaxed).tail()
    }

    /// Whether somebody has asked, and has had no answer yet.
    pub(crate) fn is_asked(&self) -> bool {
        self.own.limit.load(Ordering::Relaxed) == 0
    }

    /// Whether there is anything to steal.
    pub(crate) fn has_public(&self) -> bool {
        let ends = self.ends(Ordering::Relaxed);
        ends.tail() < ends.split()
    }

    /// Whether there is anything to ask for, more or less.
    pub(crate) fn has_private(&self) -> bool {
        self.head() > self.ends(Ordering::Relaxed).split()
    }

    /// Asks the owner to publish at its next push.
    pub(crate) fn ask(&self) {
        if self.own.limit.load(Ordering::Relaxed) != 0 {
            self.own.limit.store(0, Ordering::Release);
        }
    }

    /// Publishes the older half of what the owner has private, without the owner, and gives the number of jobs. It costs a
    /// heavy fence; without one there is nothing to be had.
    #[cold]
    pub(crate) fn seize(&self) -> u32 {
        let Some(_lock) = self.own.lock.try_lock() else { return 0 };
        let before = self.own.fence.load(Ordering::Relaxed);
        self.own.fence.store(CLOSED, Ordering::Relaxed);
        if !fence::heavy(Edge::DequeHeavy) {
            self.own.fence.store(before, Ordering::Relaxed);
            return 0;
        }
        // Acquired: the places below are those that the owner has filled.
        let head = self.own.head.load(edge(Edge::DequeHead, Ordering::Acquire));
        let (published, split) = self.move_split(head);
        self.own.fence.store(split, Ordering::Relaxed);
        published
    }
}

/// Where a push has to stop when nobody has asked: nowhere, or, where the pair of fences is not asymmetric and so nothing
/// can be seized, at once: then whatever is pushed is published.
fn usual_limit() -> u32 {
    if fence::is_asymmetric() { PLACES } else { 0 }
}

/// Empty places, which the operating system provides as they are used.
fn places<P>(place: impl Fn() -> P) -> Box<[P; PLACES as usize]> {
    let places: Box<[_]> = (0..PLACES).map(|_| place()).collect();
    places.try_into().unwrap_or_else(|_| unreachable!("there are that many"))
}

/// The bit of an address that says that there is a note. Jobs begin with an address, so it is free.
const NOTED: usize = 1;

/// The address by which a job that has a note is pushed.
pub(crate) fn with_note<T>(job: NonNull<T>) -> NonNull<T> {
    const { assert!(align_of::<T>() > NOTED) }
    job.map_addr(|address| address | NOTED)
}

/// The address of a job itself.
fn without_note<T>(job: NonNull<T>) -> NonNull<T> {
    // The job is not at the address zero, and neither is the one without the bit.
    let address = NonZero::new(job.addr().get() & !NOTED);
    job.with_addr(address.expect("a job is aligned and not null"))
}

impl<T> fmt::Debug for Deque<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.ends(Ordering::Relaxed);
        f.debug_struct("Deque")
            .field("tail", &ends.tail())
            .field("split", &ends.split())
            .field("head", &self.head())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
