//! Who may be inside an object: one operation at a time, at its home for the price of a note, anywhere else for that of a lock.
//! Or many that read, anywhere for the price of a note: [`shared`] has their part; what follows is of objects that are not shared.
//!
//! # Roles
//! The *home* of an object is a processor of its runtime; that of many has none. Its *host* is the worker of that processor. *Visitors* are all others: workers of other processors, the relief,
//! threads that are none.
//!
//! # States
//! `place` is the address of the home's processor, or zero; with [`LOCKED`] a visitor is inside or about to be, with [`POISONED`] an operation has panicked, with
//! [`SUSPENDED`] the host was found to be stuck. `owner` is the number of the thread that is inside
//! by the lock; only that thread writes it, and only for itself does it mean anything.
//! Each processor has [notes](crate::scheduler::inside) of what its worker is inside of. The `mode` of the object's [class](super::class) is *in place*, *fencing*, *draining* or *at home*.
//!
//! # Steps
//! *Host*: note the object; a light fence; if the mode is *at home* and `place` is this processor's address and nothing else, it is inside; otherwise clear the note. It leaves by clearing the note
//! (release), on the thread that has made it, whatever that works for by then: the guard may have
//! outlived the worker's loop or its runtime. So the note is found by the object's home.
//! *Visitor*: set [`LOCKED`] by a compare-and-swap (acquire). An object without a home is then the
//! visitor's. If it has one, and the mode is *in place*, as a second look at it after the exchange
//! says, it is too. Otherwise the visitor *takes it from its home*: a heavy fence; if the host has
//! a note of it, wait for a bounded time, then give the lock back. (In [most attempts](glance) it
//! does not even set the lock where it sees such a note before.) Once it is inside, and not before,
//! it looks whether the object is poisoned: a host may have been inside when it was locked. Then it
//! is the owner, until it leaves or hands the lock to a held operation. It leaves by clearing
//! [`LOCKED`] (release). Whoever is inside by the lock clears it by a plain store, whoever has it
//! and turns back by a read-modify-write: the host may be inside, and [poison](POISONED) the
//! object. For the same reason poison is cleared by a compare-and-swap while nobody has the lock.
//! *Suspension*: a visitor who has taken the object from a host that is stuck, as the [policy](crate::policy::stealing::is_stranded) says, sets [`SUSPENDED`] while it has the lock. From then on
//! all enter by the lock. It is cleared by one who has the lock: the host itself, or now and then a visitor, whose next will find out.
//! *A change of home*, the first and the last among them, is made by whoever has the lock, or, of an object that nobody has locked, by its host while it has no note of it, by a compare-and-swap.
//! *A change of mode* has its steps in [`steer`](super::steer). While it is *fencing* nobody enters who is not inside. While it is *draining* a visitor enters by the lock and a look at the home's notes,
//! without a fence for the two.
//!
//! # Why they exclude each other
//! *Host and visitor who takes the object*: Dekker's pattern, note against lock, with the pair of fences that [`biased`](crate::scheduler::biased) has. The host sees the lock,
//! or the visitor sees the note. A visitor that sees the note cleared, or another object's in its place, sees all that was done under it: each store of a note is a release.
//! *Host and visitor in place*: the visitor has locked the object, made a full fence, and seen *in place*. A host that sees *at home* after that sees it through the change, whose full fence comes after the visitor's: so
//! it sees the lock. A host that has seen *at home* before the last change to *in place* had left when that was over: the change has seen no note of it, or that its note went, and
//! the visitor sees the change.
//! *Host and visitor while draining*: the heavy fence of the change has shown the notes of all hosts that saw *at home*, and later ones do not see it. A visitor whose second look at the mode, after its
//! exchange and its fence, says *draining* or *in place*, is seen by the hosts of a later *at home* as above.
//! *Host and former host*: a home is changed under the lock, by one who has seen no note of the former host's, or by that itself.
//! *Two visitors*: the compare-and-swap.
//! *Two operations of one host*: a worker makes no second note of an object, and does not take it from itself.
//! *Host whose worker is gone*: its note stays where it is, and with it the home, until its guard
//! is dropped: a visitor waits for it as for any other, and no worker comes to that processor
//! again.
//! *Host and worker of another runtime*: the class keeps the processors where they are for as long as there are objects of it, so a `place` is never the address of a later one.
//!
//! # Why nobody waits for ever
//! An operation is a piece of a poll, or a future that others wait for [in line](super::line). A visitor that does not get the object from a host inside gives the lock back, so
//! the host's next entry is not held up, and tries again. A guard that is forgotten leaves its
//! object locked: by its lock, or by its note, which goes when the object is freed or joins another
//! class. So what gets its address is another object to all.
//!
//! # Rejected
//! A flag in the object in place of the host's note: a host that is held up between its look and the flag would clear that of the next host. A lock that the host
//! takes too: it cost a prototype 10 to 25 % of a lookup in a directory of 32 KiB. To un-assign by a message to the host: who is stuck does not read it.
//! A note of the worker's for those inside by the lock too, by which a second entry is refused: its
//! guard may be dropped as the thread works for another runtime, where that place has the note of a
//! host; and if it is forgotten, an object that gets its address is refused. A number of the run in
//! the guard: it says that the note is not here, and not where it is.

use super::class::{Class, Mode};
use super::way::Way;
use crate::primitives::atomic::{AtomicU64, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::spin::{Backoff, pause};
use crate::primitives::{fence, prefetch};
use crate::scheduler::context::Context;
use crate::scheduler::processor::Processor;
use crate::task::id::{self, Id};

/// A visitor is inside, or about to be.
const LOCKED: usize = 1;

/// An operation has panicked.
const POISONED: usize = 2;

/// The host was found to be stuck: the object is entered in place until it is back.
const SUSPENDED: usize = 4;

/// All workers of the runtime may read the object at once, by their notes.
const SHARED: usize = 8;

/// Some of them may still be inside, but no others come in, until somebody has been inside alone.
const CLOSED: usize = 16;

/// The bits beside the address. Processors are aligned to more.
const FLAGS: usize = LOCKED | POISONED | SUSPENDED | SHARED | CLOSED;

/// Pauses that a visitor waits for a host inside: a few microseconds, as long as the heavy fence has taken. An estimate; no benchmark sets it. Two in the models.
const PATIENCE: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 100 };

/// Where an object is, and whether anybody is inside as a visitor.
#[derive(Debug)]
pub(super) struct Door {
    place: AtomicUsize,
    /// The number of the thread that is inside by the lock, if it stays there until it leaves.
    owner: AtomicU64,
}

/// Why it is not inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The object is at home at this other processor of the same runtime.
    Away(u16),
    /// Somebody else is inside.
    Taken,
}

impl Door {
    pub(super) fn new() -> Self {
        Self { place: AtomicUsize::new(0), owner: AtomicU64::new(Id::NONE.get()) }
    }

    /// What notes know the object by.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Enters from the worker of `context`, or from a thread that is none.
    #[inline(always)]
    pub(super) fn enter(&self, class: &Class, context: Option<&Context>) -> Result<Way, Refusal> {
        // Whoever enters writes here or beside it: what another core has written should come with the right to do so.
        prefetch::lines(std::ptr::from_ref(self).cast(), 1);
        let place = self.place.load(Ordering::Relaxed);
        if place == 0 {
            // No home, whole, and nobody is inside.
            self.lock(0)?;
            self.own();
            return Ok(Way::by_lock());
        }
        if let Some(context) = context
            && place == context.seat.home().addr()
            && let Some(note) = self.enter_as_host(class, context)
        {
            return Ok(Way::by_note(note));
        }
        // What nearly all come to whose objects have had homes before; the others, by a call.
        if class.mode() == Mode::InPlace && place & FLAGS == 0 {
            return self.enter_in_place(class, place);
        }
        self.enter_as_visitor(class, context)
    }

    #[inline(always)]
    fn enter_as_host(&self, class: &Class, context: &Context) -> Option<u8> {
        let inside = &context.seat.processor().inside;
        let note = inside.note(self.address())?;
        inside.fence();
        let here = context.seat.home().addr();
        if class.mode() == Mode::Home
            && self.place.load(edge(Edge::ObjectPlace, Ordering::Acquire)) == here
        {
            context.note_visit();
            return Some(note);
        }
        inside.clear(note);
        None
    }

    #[inline(never)]
    fn enter_as_visitor(&self, class: &Class, context: Option<&Context>) -> Result<Way, Refusal> {
        let place = self.place.load(Ordering::Relaxed);
        if place & (LOCKED | SHARED) != 0 {
            // Whoever comes to one that readers share is alone in it afterwards, whatever the mode.
            return if place & LOCKED != 0 {
                Err(Refusal::Taken)
            } else {
                self.take(class, context)
            };
        }
        let home = place & !FLAGS;
        if home == 0 {
            return self.lock(place).map(|()| self.by_lock());
        }
        if class.mode() == Mode::InPlace && place & SUSPENDED == 0 {
            return self.enter_in_place(class, place);
        }
        self.enter_beside_home(class, context, place)
    }

    /// Enters an object that has a home, of a class that is entered in place.
    #[inline(always)]
    fn enter_in_place(&self, class: &Class, place: usize) -> Result<Way, Refusal> {
        self.lock(place)?;
        fence::after_read_modify_write(Edge::ObjectLocked);
        if class.mode() == Mode::InPlace {
            return Ok(self.by_lock());
        }
        self.give_back();
        Err(Refusal::Taken)
    }

    /// Sets the lock.
    #[inline(always)]
    fn lock(&self, place: usize) -> Result<(), Refusal> {
        let order = edge(Edge::ObjectLock, Ordering::Acquire);
        let locked = self.place.compare_exchange(place, place | LOCKED, order, Ordering::Relaxed);
        locked.map(drop).map_err(|_| Refusal::Taken)
    }

    /// Notes that this thread is inside by the lock, for itself.
    #[inline(always)]
    fn own(&self) {
        self.owner.store(id::of_thread().get(), Ordering::Relaxed);
    }

    /// Ends that, before the lock is given back or goes to another thread.
    #[inline(always)]
    fn disown(&self) {
        self.owner.store(Id::NONE.get(), Ordering::Relaxed);
    }

    /// The way of a visitor who is inside.
    fn by_lock(&self) -> Way {
        self.own();
        // A host that has left after the lock was set may have poisoned the object meanwhile.
        Way::by_lock().poisoned(self.is_poisoned())
    }

    /// Enters an object that has a home, which is another, or which is not to be used now.
    #[inline(never)]
    fn enter_beside_home(
        &self,
        class: &Class,
        context: Option<&Context>,
        place: usize,
    ) -> Result<Way, Refusal> {
        let home = place & !FLAGS;
        if place & SUSPENDED != 0 {
            return self.enter_suspended(context, place);
        }
        match class.mode() {
            Mode::Home => {
                // Whoever looks at a poisoned object does so where it is.
                let target = context
                    .filter(|_| place & POISONED == 0)
                    .and_then(|context| context.seat.number_of(home))
                    .filter(|&target| context.is_some_and(|context| context.seat.me() != target));
                match target {
                    Some(target) => Err(Refusal::Away(target as u16)),
                    None => self.take(class, context),
                }
            }
            Mode::InPlace => self.enter_in_place(class, place),
            Mode::Draining => self.enter_draining(class, place),
            Mode::Fencing => Err(Refusal::Taken),
        }
    }

    /// Enters an object whose host may still be inside, but does not enter any more.
    #[cold]
    fn enter_draining(&self, class: &Class, place: usize) -> Result<Way, Refusal> {
        let home = place & !FLAGS;
        self.lock(place)?;
        fence::after_read_modify_write(Edge::ObjectLocked);
        let has_left = |host: &Processor| !host.inside.has(self.address());
        // The mode may have gone on to *at home* before the lock was set.
        if matches!(class.mode(), Mode::Draining | Mode::InPlace)
            && (home == 0 || class.processor(home).is_some_and(has_left))
        {
            return Ok(self.by_lock());
        }
        self.give_back();
        Err(Refusal::Taken)
    }

    /// Enters an object whose host was found to be stuck.
    #[cold]
    fn enter_suspended(&self, context: Option<&Context>, place: usize) -> Result<Way, Refusal> {
        self.lock(place)?;
        let is_back = context.is_some_and(|context| {
            context.seat.home().addr() == place & !FLAGS || context.operations.looks_for_host()
        });
        if is_back {
            self.place.fetch_and(!SUSPENDED, Ordering::Relaxed);
        }
        Ok(self.by_lock())
    }

    /// Has the object entered in place until its host is back. The caller is inside by the lock, and has taken it from there.
    #[cold]
    pub(super) fn suspend(&self) {
        self.place.fetch_or(SUSPENDED, Ordering::Relaxed);
    }

    /// Whether it is entered in place because its host was found to be stuck.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn is_suspended(&self) -> bool {
        self.place.load(Ordering::Relaxed) & SUSPENDED != 0
    }

    /// Takes the object from its home: enters by the lock, whatever the mode.
    #[cold]
    pub(super) fn take(&self, class: &Class, context: Option<&Context>) -> Result<Way, Refusal> {
        let place = self.place.load(Ordering::Relaxed);
        let home = place & !FLAGS;
        if place & LOCKED != 0 || self.is_inside(class, context) {
            return Err(Refusal::Taken);
        }
        if place & SHARED != 0 {
            self.lock(place)?;
            return self.enter_shared(class, place);
        }
        let is_host = context.is_some_and(|context| context.seat.home().addr() == home);
        let host = class.processor(home).filter(|_| !is_host);
        if host.is_some_and(|host| !glance::is_worth_a_fence(&host.inside, self.address())) {
            return Err(Refusal::Taken);
        }
        self.lock(place)?;
        let has_left = || host.is_some_and(|host| self.has_left(host));
        if is_host || home == 0 || has_left() {
            return Ok(self.by_lock());
        }
        self.give_back();
        Err(Refusal::Taken)
    }

    /// Whether the caller's thread is inside, in whatever way and whatever it works for by now.
    #[cold]
    pub(super) fn is_inside(&self, class: &Class, context: Option<&Context>) -> bool {
        let has_noted = |processor: &Processor| processor.inside.has(self.address());
        self.owner.load(Ordering::Relaxed) == id::of_thread().get()
            || context.is_some_and(|context| has_noted(context.seat.processor()))
            || class
                .processor(self.home())
                .is_some_and(|host| host.inside.is_own() && has_noted(host))
    }

    /// Goes from being inside by whatever way to having the lock, which may go to another thread.
    pub(super) fn hold(&self, way: Way, context: Option<&Context>) {
        let (Some(note), Some(context)) = (way.note(), context) else { return self.disown() };
        let mut backoff = Backoff::new();
        // Whoever has locked it sees the note, and gives the lock back.
        while self.place.fetch_or(LOCKED, Ordering::Relaxed) & LOCKED != 0 {
            backoff.snooze();
        }
        context.seat.processor().inside.clear(note);
    }

    /// Whether the host is outside, as the visitor sees who has locked the object; waits a little for it.
    #[cold]
    fn has_left(&self, host: &Processor) -> bool {
        if !self.is_shown() {
            return false;
        }
        (0..PATIENCE).any(|_| {
            let has_left = !host.inside.has(self.address());
            if !has_left {
                pause();
            }
            has_left
        })
    }

    /// Makes a heavy fence, after which whoever has just locked the object sees the notes of all who have not seen the lock. False if that cannot be relied on.
    fn is_shown(&self) -> bool {
        if fence::is_asymmetric() {
            return fence::heavy(Edge::ObjectHeavy);
        }
        fence::after_read_modify_write(Edge::ObjectHeavy);
        true
    }

    /// Gives the lock back, of an object that a host may be inside of.
    pub(super) fn give_back(&self) {
        self.place.fetch_and(!LOCKED, edge(Edge::ObjectUnlock, Ordering::Release));
    }

    /// Goes out again, in the call in which it has come in: the thread is still what it was then.
    #[inline(always)]
    pub(super) fn leave(&self, way: Way, context: Option<&Context>) {
        self.unlock(way);
        if let (Some(note), Some(context)) = (way.note(), context) {
            context.seat.processor().inside.clear(note);
        }
    }

    /// Goes out again, on the thread that has come in, whatever that works for by now.
    #[inline(always)]
    pub(super) fn leave_later(&self, class: &Class, way: Way, context: Option<&Context>) {
        self.unlock(way);
        let Some(note) = way.note() else { return };
        // As long as the host is inside the home stays, and its processor with the class.
        let home = self.home();
        match context.filter(|context| context.seat.home().addr() == home) {
            Some(context) => context.seat.processor().inside.clear(note),
            None => clear_note_of(class.processor(home), note),
        }
    }

    /// Gives the lock back, if that is the way.
    #[inline(always)]
    fn unlock(&self, way: Way) {
        if way.is_by_lock() {
            self.disown();
            // Nobody changes it meanwhile but whoever is inside, and who clears the poison.
            let place = self.place.load(Ordering::Relaxed);
            if place & POISONED == 0 {
                self.place.store(place & !LOCKED, edge(Edge::ObjectUnlock, Ordering::Release));
            } else {
                self.give_back();
            }
        }
    }

    /// Clears the note of a host whose guard was forgotten; true if there was one. The caller has
    /// the object to itself.
    pub(super) fn strike_note(&mut self, class: &Class) -> bool {
        let home = self.home();
        home != 0 && class.processor(home).is_some_and(|host| host.inside.strike(self.address()))
    }

    /// Goes on being locked by one who does not come back.
    #[cold]
    pub(super) fn stay_locked(&mut self) {
        self.place.fetch_or(LOCKED, Ordering::Relaxed);
    }

    /// Notes that an operation has panicked. The caller is inside.
    #[cold]
    pub(super) fn poison(&self) {
        self.place.fetch_or(POISONED, Ordering::Relaxed);
    }

    /// Lets operations in again. Whoever has the lock gives it back by a store, so this waits for it.
    pub(super) fn clear_poison(&self) {
        let mut backoff = Backoff::new();
        let mut place = self.place.load(Ordering::Relaxed);
        while place & POISONED != 0 {
            let (from, to) = (place & !LOCKED, place & !(LOCKED | POISONED));
            match self.place.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(actual) => place = actual,
            }
            backoff.snooze();
        }
    }

    #[inline(always)]
    pub(super) fn is_poisoned(&self) -> bool {
        self.place.load(Ordering::Relaxed) & POISONED != 0
    }

    /// Whether a visitor is inside, or about to be.
    #[inline(always)]
    pub(super) fn is_locked(&self) -> bool {
        self.place.load(Ordering::Relaxed) & LOCKED != 0
    }
}

/// Clears the note of a host that is none any more.
#[cold]
fn clear_note_of(host: Option<&Processor>, note: u8) {
    host.into_iter().for_each(|host| host.inside.clear(note));
}

mod glance;
mod home;
mod shared;

#[cfg(all(test, loom))]
mod home_model;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
mod poison_model;
