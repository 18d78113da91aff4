//! The lock that decides which operations may be inside an object. One operation may be inside
//! alone; or many readers may: those that count themselves, described in [`readers`], and those
//! that leave a note, described in [`shared`]. What follows is about operations that are alone.
//!
//! # Roles
//! The *home* of an object is a worker of its runtime, its *host*; many objects have none. The home
//! says where operations are made, and nothing else: the lock lets one at a time in, on any thread.
//! The *holder* is the thread that is inside, or the held operation that it has given the lock to.
//! # States
//! One word has all. [`LOCKED`]: an operation is inside. [`POISONED`]: one has panicked.
//! [`SUSPENDED`]: the host was found to be stuck. [`SHARED`] and [`CLOSED`] are those of readers.
//! [`PINNED`]: the caller has chosen the home. Beside them lie the number of the home, plus one,
//! and above that the number of the thread that is the holder; zero stands for a held operation.
//! Without [`LOCKED`] the count of the readers that count themselves lies there instead. A word is
//! *free* without [`LOCKED`] and such readers.
//!
//! # Steps
//! *Enter*: read the word; if it is free, set [`LOCKED`] and the own number by a compare-and-swap
//! (acquire). *Leave*: clear both by a plain store (release). In between the holder changes
//! everything else by plain stores: poison, suspension, sharing, and the number, which a thread
//! clears when it gives the lock to a held operation. *Without the lock* a home is changed and
//! poison is cleared by a compare-and-swap of a free word.
//!
//! # Why the store that leaves loses nothing
//! While [`LOCKED`] and a number are set only the holder changes the word: every other change is a
//! compare-and-swap from a word without [`LOCKED`], or that of a reader which leaves, and no reader
//! is counted then. So a holder that has changed nothing may store the word that it has found, and
//! does not load it again. A holder that enters past any flag, or that shares or poisons the
//! object, changes the word: its [way](super::way) says so, and it loads the word.
//!
//! # Where operations are made
//! If an object's [class](super::class) is entered at homes, and its home is another worker, a task
//! that comes to the object travels there. That is a matter of speed alone. If the host stands
//! still, a task that was on its way to it enters where it is, and *suspends* the home. From then
//! on all enter where they are, until the host enters, or until another operation
//! [looks](crate::travel::operations) whether the host is back, which one does now and then.
//!
//! # Why no operation waits for ever
//! An operation is a piece of a poll, or a future that others wait for [in line](super::line). One
//! that does not get in looks again, after a turn of other tasks. A guard that is forgotten leaves
//! its object locked, and no other one: the number of its thread says that the thread is inside
//! this object, and no other.
//!
//! # Rejected
//! A note of the host's in place of the lock, with a light fence; visitors pay for a heavy one. An
//! entry at home takes 3 to 5 ns less, and everything else more. A class could not go from one way
//! to the other before all hosts were seen outside. It took 2 to 10 µs to take an object from its
//! home, as for each second object of `enter2` across homes. And an entry in place had to look
//! twice at how its class is entered. Waiters in a queue: a queue of tasks behind a lock of some
//! nanoseconds costs each of them two switches.

use super::class::{Class, Route};
use super::way::Way;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::prefetch;
use crate::primitives::spin::Backoff;
use crate::processor::context::Context;
use crate::raw_task::id;
use std::sync::Arc;

/// An operation is inside.
const LOCKED: u64 = 1;

/// An operation has panicked.
const POISONED: u64 = 2;

/// The host was found to be stuck: the object is entered in place until the host is back.
const SUSPENDED: u64 = 4;

/// All workers of the runtime may read the object at once, by their notes.
const SHARED: u64 = 8;

/// Readers may still be inside, but no others come in, until an operation has been inside alone.
const CLOSED: u64 = 16;

/// The caller has chosen the home, and it stays: the object is not gathered elsewhere with its
/// class.
const PINNED: u64 = 32;

/// The flags that make an entry more than a lock.
const FLAGS: u64 = LOCKED | POISONED | SUSPENDED | SHARED | CLOSED;

/// The position of the number of the home, plus one, and the bits that it has.
const HOME: u32 = 8;
const HOME_BITS: u32 = 16;
const HOME_MASK: u64 = ((1 << HOME_BITS) - 1) << HOME;

/// The position of the number of the thread that is inside, or of the count of readers.
const INSIDE: u32 = HOME + HOME_BITS;

/// The bits below that position.
const BELOW: u64 = (1 << INSIDE) - 1;

/// The bits that a free word does not have.
const TAKEN: u64 = LOCKED | !BELOW;

const _: () = assert!((FLAGS | PINNED) >> HOME == 0);

/// The word that says where an object is entered, and whether an operation is inside.
#[derive(Debug)]
pub(super) struct Door {
    word: AtomicU64,
}

/// Why an operation is not inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The object's home is this other worker of the same runtime.
    Away(u16),
    /// An operation is inside.
    Taken,
}

/// Returns the worker that a word names as the home.
#[inline(always)]
fn home_in(word: u64) -> Option<usize> {
    (((word & HOME_MASK) >> HOME) as usize).checked_sub(1)
}

/// Returns the worker at which an object with this word is entered; none if that is where the task
/// is.
#[inline(always)]
fn host_in(word: u64, class: &Class) -> Option<usize> {
    match class.route() {
        Route::InPlace => None,
        Route::AtWorker(worker) if word & PINNED == 0 => Some(worker),
        Route::AtHome | Route::AtWorker(_) => home_in(word),
    }
}

fn with_home(word: u64, home: Option<usize>) -> u64 {
    let number = home.map_or(0, |home| home as u64 + 1);
    debug_assert!(number < 1 << HOME_BITS);
    word & !(HOME_MASK | SUSPENDED) | number << HOME
}

impl Door {
    pub(super) fn new() -> Self {
        Self { word: AtomicU64::new(0) }
    }

    /// Returns the address by which notes know the object.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }

    /// Enters where the worker of `context` is, if nothing is in the way.
    #[inline(always)]
    pub(super) fn enter_in_place(&self, context: &Context) -> Option<Way> {
        self.lock(self.open_word()?, context.thread).map(Way::by_lock)
    }

    /// Returns the word, if nothing but the home is in the way.
    #[inline(always)]
    fn open_word(&self) -> Option<u64> {
        // An entry writes to the object's word or beside it: a line that another core has written
        // should come with the right to write it.
        prefetch::lines(std::ptr::from_ref(self).cast(), 1);
        Some(self.word()).filter(|word| word & (FLAGS | TAKEN) == 0)
    }

    /// Enters from the worker of `context`, if nothing is in the way: the object is not taken, and
    /// is to be entered here. Otherwise [`enter`](Self::enter) says what is in the way.
    #[inline(always)]
    pub(super) fn enter_at_once(&self, class: &Arc<Class>, context: &Context) -> Option<Way> {
        let word = self.open_word()?;
        // The class first: in place it does not matter which of its objects have homes, and a
        // branch on that would be mispredicted half of the time.
        let Some(host) = host_in(word, class) else {
            return self.lock(word, context.thread).map(Way::by_lock);
        };
        if host != context.seat.me() || !class.is_of(context.shared()) {
            return None;
        }
        let way = Way::by_lock(self.lock(word, context.thread)?);
        context.note_visit();
        Some(way.as_host())
    }

    /// Enters from the worker of `context`, or from a thread that is none, unless the object is to
    /// be entered elsewhere.
    #[inline(never)]
    pub(super) fn enter(
        &self,
        class: &Arc<Class>,
        context: Option<&Context>,
    ) -> Result<Way, Refusal> {
        if let Some(way) = context.and_then(|context| self.enter_at_once(class, context)) {
            return Ok(way);
        }
        let word = self.word();
        if word & LOCKED != 0 {
            return Err(Refusal::Taken);
        }
        // The error about a poisoned object is returned where the task is, and an object with
        // readers is entered there too.
        if word & (FLAGS | TAKEN) == 0
            && let Some(host) = host_in(word, class)
            && let Some(context) = context.filter(|context| class.is_of(context.shared()))
        {
            // If this worker is the host itself, another operation has been faster.
            let is_here = context.seat.me() == host;
            return Err(if is_here { Refusal::Taken } else { Refusal::Away(host as u16) });
        }
        self.enter_here(class, context)
    }

    /// Enters wherever the home is.
    #[inline(never)]
    pub(super) fn enter_here(
        &self,
        class: &Class,
        context: Option<&Context>,
    ) -> Result<Way, Refusal> {
        let word = self.word();
        if word & (SHARED | !BELOW) != 0 && self.is_read_by(context) {
            // The caller would wait for itself.
            return Err(Refusal::Taken);
        }
        let thread = context.map_or_else(id::among_threads, |context| context.thread);
        let way = Way::by_changing_lock();
        if word & SHARED != 0 {
            self.lock(word, thread).ok_or(Refusal::Taken)?;
            return self.enter_shared(class, word, way);
        }
        self.lock_after_readers(word, thread)?;
        if word & SUSPENDED != 0 && is_back(context, host_in(word, class).or(home_in(word))) {
            self.word.store(self.word() & !SUSPENDED, Ordering::Relaxed);
        }
        Ok(way)
    }

    /// Sets the lock for this thread, and returns the word to leave by; none if the word is not
    /// free, or has changed.
    #[inline(always)]
    fn lock(&self, word: u64, thread: u64) -> Option<u64> {
        if word & TAKEN != 0 {
            return None;
        }
        debug_assert!(thread != 0 && thread << INSIDE >> INSIDE == thread, "see `among_threads`");
        let locked = word | thread << INSIDE | LOCKED;
        let order = edge(Edge::ObjectLock, Ordering::Acquire);
        let has_set = self.word.compare_exchange(word, locked, order, Ordering::Relaxed).is_ok();
        has_set.then_some(word)
    }

    /// Has the object entered in place until its host is back. The caller is inside.
    #[cold]
    pub(super) fn suspend(&self) {
        self.word.store(self.word() | SUSPENDED, Ordering::Relaxed);
    }

    /// Whether the caller's thread is inside, in any way, and whichever runtime it works for by
    /// now.
    #[cold]
    pub(super) fn is_inside(&self, context: Option<&Context>) -> bool {
        let word = self.word();
        // A thread that waits for readers to leave has [`CLOSED`] set too, and no number yet.
        let holds = word & (LOCKED | CLOSED) == LOCKED && word >> INSIDE == id::among_threads();
        holds || self.is_read_by(context)
    }

    /// Whether the worker is inside as a reader.
    fn is_read_by(&self, context: Option<&Context>) -> bool {
        context.is_some_and(|context| context.seat.processor().inside.has(self.address()))
    }

    /// Gives the lock, which this thread has, to a held operation, which may go to another thread.
    pub(super) fn hold(&self) {
        self.word.store(self.word() & BELOW, Ordering::Relaxed);
    }

    /// Whether a held operation is inside.
    pub(super) fn is_held(&self) -> bool {
        self.word() & (TAKEN | CLOSED) == LOCKED
    }

    /// Leaves. The caller has the lock.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.word.store(self.word() & !TAKEN, edge(Edge::ObjectUnlock, Ordering::Release));
    }

    /// Leaves by this way, on which the caller has come in. The way says whether the caller has
    /// changed the word since.
    #[inline(always)]
    pub(super) fn leave_by(&self, way: Way) {
        match way.leaving() {
            Some(word) => self.word.store(word, edge(Edge::ObjectUnlock, Ordering::Release)),
            None => self.leave(),
        }
    }

    /// Notes that an operation has panicked. The caller is inside.
    #[cold]
    pub(super) fn poison(&self) {
        self.word.store(self.word() | POISONED, Ordering::Relaxed);
    }

    /// Lets operations in again, once none is inside.
    pub(super) fn clear_poison(&self) {
        let (mut backoff, order) = (Backoff::new(), Ordering::Relaxed);
        while self.is_poisoned() {
            let from = self.word() & !TAKEN;
            if self.word.compare_exchange(from, from & !POISONED, order, order).is_err() {
                backoff.snooze();
            }
        }
    }

    #[inline(always)]
    pub(super) fn is_poisoned(&self) -> bool {
        self.word() & POISONED != 0
    }

    /// Whether an operation is inside, or about to be.
    #[inline(always)]
    pub(super) fn is_locked(&self) -> bool {
        self.word() & LOCKED != 0
    }

    /// The worker that is the home, if there is one.
    pub(super) fn home(&self) -> Option<usize> {
        home_in(self.word())
    }

    /// Returns the worker at which the object is entered at the moment, if it is not where the task
    /// is.
    pub(super) fn host(&self, class: &Class) -> Option<usize> {
        host_in(self.word(), class)
    }

    /// Whether the caller has chosen the home.
    pub(super) fn is_pinned(&self) -> bool {
        self.word() & PINNED != 0
    }

    /// Sets whether the caller has chosen the home. No operation uses the object yet.
    pub(super) fn pin(&self, is_so: bool) {
        let word = self.word() & !PINNED;
        self.word.store(if is_so { word | PINNED } else { word }, Ordering::Relaxed);
    }

    /// Changes the home. No operation uses the object yet.
    pub(super) fn set_home(&self, home: Option<usize>) {
        self.word.store(with_home(self.word(), home), Ordering::Relaxed);
    }

    /// Changes the home from `from` to `to` of an object that no operation is inside. False if the
    /// object is in use, or has another home.
    pub(super) fn move_home(&self, from: Option<usize>, to: Option<usize>) -> bool {
        let word = self.word();
        word & TAKEN == 0
            && home_in(word) == from
            && self
                .word
                .compare_exchange(word, with_home(word, to), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

/// Whether a stuck host counts as back: it is the one that enters, or it is time for another
/// operation to look.
#[cold]
fn is_back(context: Option<&Context>, home: Option<usize>) -> bool {
    context.is_some_and(|context| {
        let is_host = Some(context.seat.me()) == home;
        is_host || context.operations.looks_for_host(context.ahead.now())
    })
}

mod readers;
mod shared;

#[cfg(all(test, loom))]
mod model;
