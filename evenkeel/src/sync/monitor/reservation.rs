//! Reservations: how tasks that were signalled for a set get it after it was split, or joined into
//! a larger one.
//!
//! # Roles
//! A *holder* of a set has signalled waiters, or is the call of an acceptor. These waiters and this
//! acceptor are urgent, and want the set as it is. The holder *splits* it, or *joins* it with
//! another one. *Part holders* hold the results, and leave them one after the other, in any order
//! and on any thread. A *leaver* is an urgent task that gives up.
//!
//! # States
//! A reservation has the urgent list of such a set, and knows which of the cores have come back to
//! it. It is *open* while the list is not empty, and then *closed*. Each core that has not come
//! back has the reservation on its stack, and the part holders hold these cores. Above a
//! reservation on a stack are those that were made later.
//!
//! # Steps
//! *Reserve*: the holder takes the urgent list off the leader of its set, and puts the reservation
//! on the stack of each core. It holds all of these, so the stacks of all have it in the same
//! order. *Come back*: when a part is left and no task is urgent for the part itself, each of its
//! cores goes to the reservation on top of the core's stack. If that is not open, the core goes to
//! the next one below; if there is none, to an entrant. *Fulfil*: the part holder that brings the
//! last core back gives the list to the leader again, and the set to the first node on it. *Give
//! up*: a leaver takes itself off the list. The last one closes the reservation, and releases the
//! cores that have come back.
//!
//! The lock of a reservation comes before that of its leader, and no thread has two reservations'
//! locks. The list and its nodes change under both locks. The monitors of the set outlive the nodes
//! on the list, since their futures borrow them. So a part holder reaches the leader only while it
//! has the reservation's lock and the list is not empty.
//!
//! The part holder that fulfils the reservation still has the leader's lock when its grant becomes
//! visible, and it need not borrow the leader. So that grant has a [word of its
//! own](super::node::Node::grant_by_part): the future that finds it takes the leader's lock once
//! before it goes on. It gets the lock when the part holder is done with the leader. All other
//! grants are by threads that borrow the core.
//!
//! # Why no entrant barges in
//! A core that has come back stays held, though no hold has it, so entrants queue. It goes to the
//! tasks that the holder has signalled, before all others.
//!
//! # Why nothing is lost
//! A core comes back once, under the reservation's lock. The last core finds the others there, or
//! finds the list empty. In that case the leaver that emptied the list, under the same lock, has
//! taken the others with it. A leaver finds itself granted, or takes itself out, under the leader's
//! lock.
//!
//! # Why no circle of waits comes about
//! An open reservation keeps the cores that have come back while it waits for the others. Part
//! holders hold those others, and a part holder [extends](super::Held::extend) its hold without
//! waiting, or not at all. A reservation with all of its cores in one hold keeps nothing.
//!
//! # Order
//! Later reservations go first, as batches do: they are above on a stack, in the same order on
//! every stack. That is C∀'s order too: its urgent lists are stacks of single monitors.
//!
//! # Rejected
//! C∀'s way, by which each waiter collects its monitors one by one: each signal would lock each of
//! them. Here a holder that does not split a set it has signalled for pays nothing. Urgent tasks as
//! the first entrants in each queue: they enter core by core, and between two cores the signaller's
//! work is open to all. Part holders that take a core back out of a reservation: what was true when
//! the first task was signalled may not be true any more.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::core::Core;
use super::cores::CoreRef;
use super::held::breaks_off;
use super::members::Members;
use super::set::Set;
use super::state::Acceptance;
use super::urgent::Urgent;
use super::watch;
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use std::sync::Arc;

/// A set, and the tasks that get it once all of it has come back.
#[derive(Debug)]
pub(super) struct Reservation {
    leader: CoreRef,
    size: usize,
    desk: SpinLock<Desk>,
    /// Whether it is closed, which is final. Changes only under the lock.
    closed: AtomicBool,
}

/// What the lock guards.
pub(super) struct Desk {
    urgent: Urgent,
    /// The call that the hold of the whole set was.
    call: Option<Acceptance>,
    /// The cores; the first `back` of them have come back.
    cores: Box<[CoreRef]>,
    back: usize,
}

/// Cores that had come back to a reservation before it was closed.
pub(super) struct Vacant {
    cores: Box<[CoreRef]>,
    back: usize,
}

/// Reserves a set for the tasks that are urgent, if there are any. The caller calls it before it
/// changes the hold into another one.
///
/// # Safety
/// The caller holds the set, and waits for no call.
pub(super) unsafe fn reserve<S: Set>(members: &Members<S>) {
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { members.leader().get() };
    if !leader.has_urgent() {
        return;
    }
    let cores = members.written();
    let reservation = Arc::new(Reservation::new(CoreRef::of(leader), cores.as_ref()));
    // Allocated before the locks are taken.
    let mut entries = Stack::new();
    for _ in cores.as_ref() {
        entries.put(Box::new(Entry { reservation: reservation.clone(), below: None }));
    }
    let mut desk = reservation.lock();
    let mut state = leader.lock();
    if state.urgent.is_empty() {
        return;
    }
    desk.urgent = state.urgent.take_for(Arc::as_ptr(&reservation));
    desk.call = state.take_call();
    leader.note_urgent(&state);
    drop(state);
    drop(desk);
    for core in cores.as_ref() {
        let entry = entries.take().expect("there is one for each core");
        // SAFETY: the set borrows its monitors.
        let closed = unsafe { core.get() }.lock().reserve(entry);
        drop(closed);
    }
}

/// Whether a reservation has cores that the caller holds together with cores that it does not hold.
///
/// # Safety
/// The caller holds the set.
pub(super) unsafe fn is_part<S: Set>(members: &Members<S>) -> bool {
    let mut found: Vec<(*const Reservation, usize, usize)> = Vec::new();
    for core in members.written().as_ref() {
        // SAFETY: the set borrows its monitors.
        let state = unsafe { core.get() }.lock();
        for reservation in state.reservations().filter(|reservation| reservation.is_open()) {
            let key = std::ptr::from_ref(reservation);
            match found.iter_mut().find(|(other, ..)| *other == key) {
                Some((_, count, _)) => *count += 1,
                None => found.push((key, 1, reservation.size)),
            }
        }
    }
    found.iter().any(|&(_, count, size)| count < size)
}

/// Gives up a reserved core that has no urgent task of its own: to the top reservation; if that is
/// closed, to the one below; in the end, to an entrant.
#[inline(never)]
pub(super) fn release(core: &Core) {
    loop {
        let mut state = core.lock();
        let Some(entry) = state.release_reserved() else {
            let next = state.release();
            drop(state);
            if let Some(next) = next {
                next.wake();
            }
            return;
        };
        drop(state);
        if entry.reservation.come_back(core) {
            return;
        }
    }
}

impl Reservation {
    fn new(leader: CoreRef, cores: &[CoreRef]) -> Self {
        let desk = Desk { urgent: Urgent::new(), call: None, cores: cores.into(), back: 0 };
        let desk = SpinLock::new(desk);
        Self { leader, size: cores.len(), desk, closed: AtomicBool::new(false) }
    }

    pub(super) fn lock(&self) -> SpinGuard<'_, Desk> {
        self.desk.lock()
    }

    /// Whether it was open a moment ago. A closed reservation stays closed.
    fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Relaxed)
    }

    /// Another reference to it.
    ///
    /// # Safety
    /// A node is on its list, and the caller has its leader's lock. The list is not empty, so
    /// either some cores have not come back, or the part holder that brought the last one is still
    /// at work. Either has a reference, for as long as the leader's lock is not released.
    pub(super) unsafe fn share(this: *const Self) -> Arc<Self> {
        // SAFETY: the caller's promise: the reservation is there. An `Arc` made the pointer.
        unsafe { Arc::increment_strong_count(this) };
        // SAFETY: the reference that has just been counted.
        unsafe { Arc::from_raw(this) }
    }

    /// Closes it if the leaver was the last node on the list, and returns the cores that have come
    /// back. The leaver releases them once it has released the locks.
    ///
    /// # Safety
    /// The caller has the leader's lock, and borrows the set.
    pub(super) unsafe fn after_one_has_left(&self, desk: &mut Desk) -> Option<Vacant> {
        if desk.urgent.is_empty() {
            self.closed.store(true, Ordering::Relaxed);
            return Some(Vacant { cores: std::mem::take(&mut desk.cores), back: desk.back });
        }
        // SAFETY: the caller's promise, and the list is not empty.
        unsafe { desk.watch() };
        None
    }

    /// Takes a core that is left. Returns false if the reservation is closed.
    fn come_back(&self, core: &Core) -> bool {
        let mut desk = self.lock();
        if desk.urgent.is_empty() {
            return false;
        }
        // SAFETY: the list is not empty and stays so while this thread has the lock, and the
        // futures of its nodes borrow the set.
        let leader = unsafe { self.leader.get() };
        let mut state = leader.lock();
        if let Some(call) = desk.call
            && breaks_off()
        {
            desk.urgent.break_call(call);
        }
        desk.put_back(core);
        if desk.back < desk.cores.len() {
            // SAFETY: this thread has the locks, and the set is borrowed.
            unsafe { desk.watch() };
            return true;
        }
        state.urgent = desk.urgent.take_for(std::ptr::null());
        self.closed.store(true, Ordering::Relaxed);
        let next = state.pass_on_from_part();
        leader.note_urgent(&state);
        drop(state);
        drop(desk);
        next.wake();
        true
    }
}

impl Desk {
    pub(super) fn urgent(&mut self) -> &mut Urgent {
        &mut self.urgent
    }

    fn put_back(&mut self, core: &Core) {
        let core = CoreRef::of(core);
        let missing = &mut self.cores[self.back..];
        let at = missing.iter().position(|other| *other == core).expect("a core comes back once");
        missing.swap(0, at);
        self.back += 1;
    }

    /// Tells [`detect`](crate::detect) that the next node waits for the missing cores, and keeps
    /// those that have come back.
    ///
    /// # Safety
    /// The list is not empty, its set is borrowed, and the caller has the leader's lock.
    unsafe fn watch(&self) {
        let Some(next) = self.urgent.front() else { return };
        // SAFETY: it is on the list, so it is there.
        let next = unsafe { next.as_ref() };
        let (back, missing) = self.cores.split_at(self.back);
        // SAFETY: the caller's promise.
        unsafe { watch::reserved(next, back, missing) };
    }
}

impl Vacant {
    /// Releases the cores.
    ///
    /// # Safety
    /// Their monitors are borrowed.
    pub(super) unsafe fn release(self) {
        for core in &self.cores[..self.back] {
            // SAFETY: the caller's promise.
            unsafe { watch::left_one(*core) };
            // SAFETY: as above; no hold has it.
            unsafe { core.get() }.release();
        }
    }
}

/// The reservations of a core, the next one on top. It takes one word, since most stacks are empty.
#[derive(Debug)]
pub(super) struct Stack(Option<Box<Entry>>);

#[derive(Debug)]
pub(super) struct Entry {
    reservation: Arc<Reservation>,
    below: Option<Box<Self>>,
}

impl Stack {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The top entry, or null.
    #[inline(always)]
    pub(super) fn top(&self) -> *const Entry {
        self.0.as_deref().map_or(std::ptr::null(), std::ptr::from_ref)
    }

    fn put(&mut self, mut entry: Box<Entry>) {
        entry.below = self.0.take();
        self.0 = Some(entry);
    }

    /// Takes the top entry.
    pub(super) fn take(&mut self) -> Option<Box<Entry>> {
        let mut entry = self.0.take()?;
        self.0 = entry.below.take();
        Some(entry)
    }

    /// Puts an entry on top, and returns the closed ones that were there. So a holder that splits
    /// and joins for ever keeps only open reservations.
    pub(super) fn push(&mut self, entry: Box<Entry>) -> Self {
        let mut closed = Self::new();
        while self.0.as_ref().is_some_and(|top| !top.reservation.is_open()) {
            closed.put(self.take().expect("it is there"));
        }
        self.put(entry);
        closed
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        std::iter::successors(self.0.as_deref(), |entry| entry.below.as_deref())
            .map(|entry| &*entry.reservation)
    }
}

impl Drop for Stack {
    /// Drops the entries one by one: nested boxes would be dropped recursively.
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::{Condition, Held, Monitor, try_lock_all};
    use super::*;
    use std::future::Future;
    use std::task::{Context, Waker};

    /// A holder that signals, splits and joins without ever leaving, while its waiters give up.
    #[test]
    fn reservations_that_are_closed_do_not_pile_up() {
        let [one, other] = [(); 2].map(Monitor::new);
        let (lasting, brief) = (Condition::new(), [(); 100].map(|()| Condition::new()));
        let wait = |condition| {
            let held = try_lock_all((&one, &other)).unwrap();
            let mut waiter = Box::pin(Condition::wait(condition, held));
            let mut context = Context::from_waker(Waker::noop());
            assert!(waiter.as_mut().poll(&mut context).is_pending());
            waiter
        };
        let patient = wait(&lasting);
        let impatient: Vec<_> = brief.iter().map(wait).collect();
        let count = || one.core.lock().reservations().count();
        let mut held = Held::join(one.try_enter().unwrap(), other.try_enter().unwrap());
        assert!(lasting.signal(&mut held));
        for (condition, waiter) in brief.iter().zip(impatient) {
            assert!(condition.signal(&mut held));
            let (one, other) = Held::split(held);
            drop(waiter);
            held = Held::join(one, other);
            assert!(count() <= 2, "one is open, and one has just been closed");
        }
        drop(held);
        assert_eq!(count(), 0);
        drop(patient);
        assert!(try_lock_all((&one, &other)).is_some());
    }

    /// For example the stack of a monitor after `forget` of its hold.
    #[test]
    fn a_high_stack_is_dropped_without_recursion() {
        let core = Monitor::new(());
        let core = CoreRef::of(&core.core);
        let mut stack = Stack::new();
        for _ in 0..200_000 {
            let reservation = Arc::new(Reservation::new(core, &[core]));
            assert!(stack.push(Box::new(Entry { reservation, below: None })).is_empty());
        }
        assert_eq!(stack.iter().count(), 200_000);
        drop(stack);
    }
}
