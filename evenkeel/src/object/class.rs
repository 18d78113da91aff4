//! A class of objects: those of one kind in one runtime, which share how they are entered.

use super::dealing::Dealing;
use super::ledger::Ledgers;
use super::look::Look;
use super::steer::Steering;
use crate::policy::object::hop::FIRST_GUESS;
use crate::policy::object::replicate::has_room;
use crate::policy::object::{Caches, Mode as Wanted, Room, Use, gather, replicate};
use crate::primitives::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::scheduler::context::Context;
use crate::scheduler::processor::Processor;
use crate::scheduler::shared::Shared;
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::{Arc, Weak};

/// What a class has been told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Whatever is measured to be the best: where each task is, at homes at all workers, or, for operations that are shorter than journeys, at homes that are all at one worker; that is not tried in a class of which the caller has [chosen](super::Object::at) a home.
    #[default]
    Automatic,
    /// Every object is entered where the task is.
    InPlace,
    /// Every object has a home, and is entered there: each new object at the processor with the fewest bytes of its class.
    Home,
}

/// What all objects of a class share.
pub(super) struct Class {
    /// Whether its objects that have homes are entered there.
    is_at_home: AtomicBool,
    name: Box<str>,
    placement: Placement,
    /// What the workers know of objects in use.
    pub(super) ledgers: Ledgers,
    /// What steers it, if that is automatic.
    pub(super) steering: CachePadded<Steering>,
    /// The runtime whose workers may be hosts; of none for objects that were made outside of any.
    runtime: Weak<Shared>,
    /// Its processors. They stay where they are for as long as an object may have one of them as its home: those of another runtime never have the same addresses.
    processors: Arc<[Processor]>,
    /// What the homes at each processor come to, in bytes.
    bytes: Box<[AtomicUsize]>,
    /// Over which workers they are dealt.
    dealing: Dealing,
    /// Objects whose homes the caller has chosen.
    pinned: AtomicUsize,
    /// What the copies come to of objects that all may read at once, in bytes.
    copied: AtomicUsize,
    /// The caches of its workers.
    caches: Caches,
}

impl Class {
    pub(super) fn new(
        name: &str,
        placement: Placement,
        runtime: Option<&Arc<Shared>>,
        ledgers: Ledgers,
    ) -> Self {
        let workers = runtime.map_or(0, |runtime| runtime.workers);
        Self {
            is_at_home: AtomicBool::new(placement == Placement::Home),
            name: name.into(),
            placement,
            ledgers,
            steering: CachePadded::new(Steering::new(
                runtime.map_or(0, |runtime| runtime.processors.len()),
            )),
            runtime: runtime.map(Arc::downgrade).unwrap_or_default(),
            processors: runtime.map(|runtime| runtime.processors.clone()).unwrap_or_default(),
            bytes: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
            dealing: Dealing::default(),
            pinned: AtomicUsize::new(0),
            copied: AtomicUsize::new(0),
            caches: runtime.map_or(Caches::UNKNOWN, |runtime| {
                runtime.neighbours.first().map_or(Caches::UNKNOWN, |first| first.caches(workers))
            }),
        }
    }

    /// Whether its objects that have homes are entered there.
    #[inline(always)]
    pub(super) fn is_at_home(&self) -> bool {
        self.is_at_home.load(Ordering::Relaxed)
    }

    /// Has them entered there, or in place.
    pub(super) fn set_at_home(&self, is_so: bool) {
        self.is_at_home.store(is_so, Ordering::Relaxed);
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn placement(&self) -> Placement {
        self.placement
    }

    /// Whether these are the workers that may be hosts.
    #[inline(always)]
    pub(super) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        std::ptr::eq(self.runtime.as_ptr(), Arc::as_ptr(shared))
    }

    /// Whether its runtime is there.
    pub(super) fn has_workers(&self) -> bool {
        self.runtime.strong_count() > 0
    }

    /// Whether the objects of both may have the same workers as homes.
    pub(super) fn is_same_runtime(&self, other: &Self) -> bool {
        self.runtime.ptr_eq(&other.runtime)
    }

    /// The processors of the runtime, the relief's among them; none of objects that were made outside of any.
    pub(super) fn processors(&self) -> &[Processor] {
        &self.processors
    }

    /// What the copies come to of objects that all may read at once, in bytes.
    pub(super) fn copied(&self) -> usize {
        self.copied.load(Ordering::Relaxed)
    }

    /// Adds one of so many bytes to them.
    pub(super) fn add_copied(&self, bytes: usize) {
        self.copied.fetch_add(self.copies_of(bytes), Ordering::Relaxed);
    }

    /// What the copies of an object of so many bytes come to, beside the one that there is anyhow; where the caches are not known, of one copy.
    fn copies_of(&self, bytes: usize) -> usize {
        let more = match &self.caches {
            &Caches::UNKNOWN => 1,
            caches => caches.copies(bytes as u64) as usize - 1,
        };
        bytes.saturating_mul(more)
    }

    /// Whether there is room for copies of an object with a home of so many bytes, which has been read so often since it was written.
    #[cold]
    pub(super) fn has_room_for_copies(&self, bytes: usize, reads: u64) -> bool {
        let (caches, copied) = (&self.caches, self.copied() as u64);
        if *caches == Caches::UNKNOWN {
            return has_room(copied, bytes as u64);
        }
        let copies = caches.copies(bytes as u64);
        let workers = 0..caches.cores as usize;
        let homes = workers.filter_map(|worker| self.ledgers.bytes(worker));
        let bytes_at_homes: usize = homes.map(|bytes| bytes.load(Ordering::Relaxed)).sum();
        let room = Room {
            copies,
            cores: caches.cores,
            working_set: bytes_at_homes as u64 + copied,
            capacity: caches.budget().saturating_mul(u64::from(caches.cores)),
            // Nobody knows what would have to go.
            coldest: u64::MAX,
            hop: self.ledgers.hop().unwrap_or(FIRST_GUESS),
            fetch: self.steering.sharing_cost().unwrap_or(FIRST_GUESS),
        };
        let heat = 0;
        replicate(&Use { reads, writes: 1, bytes: bytes as u64, heat }, &room).is_replicated()
    }

    /// Takes it from them.
    pub(super) fn remove_copied(&self, bytes: usize) {
        // What it comes to may have been said anew meanwhile.
        let copied = |copied: usize| Some(copied.saturating_sub(self.copies_of(bytes)));
        let _ = self.copied.fetch_update(Ordering::Relaxed, Ordering::Relaxed, copied);
    }

    /// The home of a new object of so many bytes, if it has one from the beginning.
    pub(super) fn home_of_new(&self, bytes: usize) -> Option<usize> {
        match self.placement {
            Placement::InPlace => None,
            Placement::Home => self.idlest(|_| true),
            Placement::Automatic if self.is_at_home() => self.find_room(bytes),
            Placement::Automatic => None,
        }
    }

    /// A worker in whose part of the caches there is room for an object of so many bytes.
    pub(super) fn find_room(&self, bytes: usize) -> Option<usize> {
        let has_room = |number: usize| {
            self.dealing.may_be_at(number)
                && self.ledgers.in_use(number).saturating_add(bytes) as u64 <= self.caches.budget()
        };
        self.idlest(has_room)
    }

    /// Has homes dealt as this mode says; true if that is another way than before. The one who steers is the only one that calls it.
    pub(super) fn deal_for(&self, wanted: Wanted) -> bool {
        match (self.dealing.gathered_at(), wanted) {
            (None, Wanted::AtOneHome) => {
                let at = self.gathering_place();
                self.dealing.set(Some(at));
                self.ledgers.note_gathered(at, true);
                true
            }
            (Some(at), Wanted::InPlace | Wanted::AtHome) => {
                self.dealing.set(None);
                self.ledgers.note_gathered(at, false);
                // In place nothing moves.
                wanted == Wanted::AtHome
            }
            _ => false,
        }
    }

    /// Whether all of its objects are at one worker, and stay there whoever has more to do.
    pub(super) fn is_gathered(&self) -> bool {
        self.dealing.gathered_at().is_some()
    }

    /// Takes an operation at home into account that has taken worker `me` so many nanoseconds.
    pub(super) fn note_inside(&self, me: usize, nanos: u64) {
        if self.placement == Placement::Automatic {
            self.steering.shares.note_inside(me, nanos);
        }
    }

    /// How its homes are dealt.
    pub(super) fn dealing(&self) -> &Dealing {
        &self.dealing
    }

    /// [Where](gather::place) to gather.
    fn gathering_place(&self) -> usize {
        let of = |(number, bytes): (usize, &AtomicUsize)| {
            (self.ledgers.gathered(number), bytes.load(Ordering::Relaxed))
        };
        gather::place(self.bytes.iter().enumerate().map(of))
    }

    /// Notes that there is one more object, or one less, whose home the caller has chosen.
    pub(super) fn note_pinned(&self, is_more: bool) {
        let change = if is_more { 1 } else { usize::MAX };
        self.pinned.fetch_add(change, Ordering::Relaxed);
    }

    /// Whether its objects may be gathered, if they are not: they are not at one worker anyhow, and one has room for them.
    pub(super) fn can_gather(&self) -> bool {
        let has_any = |bytes: &&AtomicUsize| bytes.load(Ordering::Relaxed) > 0;
        let workers = self.bytes.iter().filter(has_any).count();
        self.bytes.len() > 1 && workers != 1 && self.fits_one(false)
    }

    /// Whether they may stay so, if they are. As long as it is, none gets a home elsewhere.
    pub(super) fn can_stay_gathered(&self) -> bool {
        self.fits_one(true)
    }

    /// Whether the caller has chosen no home of an object of it, and [one worker has room](gather::has_room) for what is in use of all classes.
    fn fits_one(&self, are_gathered: bool) -> bool {
        let in_use: usize = (0..self.bytes.len()).map(|number| self.ledgers.in_use(number)).sum();
        self.pinned.load(Ordering::Relaxed) == 0
            && gather::has_room(in_use as u64, self.caches.budget(), are_gathered)
    }

    /// The worker with the fewest bytes of the class among these.
    fn idlest(&self, of: impl Fn(usize) -> bool) -> Option<usize> {
        let bytes = self.bytes.iter().enumerate().filter(|(number, _)| of(*number));
        let (number, _) = bytes.min_by_key(|(_, total)| total.load(Ordering::Relaxed))?;
        Some(number)
    }

    /// Charges a processor with an object of so many bytes whose home it is.
    pub(super) fn charge(&self, home: Option<usize>, bytes: usize) {
        for total in self.totals(home).into_iter().flatten() {
            total.fetch_add(bytes.max(1), Ordering::Relaxed);
        }
    }

    /// Takes such a charge back.
    pub(super) fn uncharge(&self, home: Option<usize>, bytes: usize) {
        for total in self.totals(home).into_iter().flatten() {
            // A hint that changes while the object moves may have it twice.
            let less = |total: usize| Some(total.saturating_sub(bytes.max(1)));
            let _ = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// What the objects at a home come to: those of the class, and those of all classes.
    fn totals(&self, home: Option<usize>) -> Option<[&AtomicUsize; 2]> {
        let number = home?;
        Some([self.bytes.get(number)?, self.ledgers.bytes(number)?])
    }

    /// Whether there is such a worker.
    pub(super) fn has_worker(&self, number: usize) -> bool {
        number < self.bytes.len()
    }

    /// Counts operations, of which one was on the object at this address, and steers the class if it is time.
    #[cold]
    pub(super) fn count(&self, context: &Context, address: usize) {
        let shared = context.shared();
        // What workers of other runtimes do counts for nothing.
        if self.is_of(shared) {
            let is_to_look = self.steering.shares.count(context.seat.me(), address);
            if is_to_look && self.placement == Placement::Automatic {
                let now = context.ahead.now();
                self.steering.steer(self, context, now);
                self.ledgers.plan_if_due(now, self.caches.budget());
            }
            if self.steering.has_turned_home(context.seat.me()) {
                context.operations.watch_some();
            }
        }
    }

    /// Looks at a sampled operation in place on the object at this address, because where operations are long those that [count](Self::count) others say late which objects are in use. At homes each worker sees its own alone, and knows soon.
    pub(super) fn look(&self, context: &Context, address: usize) {
        if !self.is_at_home()
            && self.placement == Placement::Automatic
            && self.is_of(context.shared())
        {
            self.steering.shares.look(context.seat.me(), address);
        }
    }

    /// Whether operations are looked at that have come in in this way.
    pub(super) fn looks_at(&self, context: &Context, as_host: bool) -> bool {
        // Heat is of homes, whatever the class. Workers of other runtimes have ledgers of their own.
        as_host || (self.steering.look() != Look::Nothing && self.is_of(context.shared()))
    }

    /// Whether operations are timed that come in in this way.
    pub(super) fn times(&self, context: &Context, as_host: bool) -> bool {
        as_host || (self.steering.look().times() && self.is_of(context.shared()))
    }

    /// What the homes at each processor come to, in bytes.
    pub(super) fn bytes(&self) -> Vec<usize> {
        self.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect()
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class").field("name", &self.name).finish_non_exhaustive()
    }
}
