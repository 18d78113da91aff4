//! Reservations: how tasks that were signalled for a set get it after it was split, or joined into
//! a larger one, and how an acceptor learns the fate of a call whose hold became another one.
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
//! the next one below; if there is none, to an entrant. *Complete*: the part holder that brings the
//! last core back wakes the first task on the list. *Take over*: a task of the list that looks for
//! its grant, or leaves the list, and finds the reservation complete gives the list to the leader
//! again, and the set to the first node on it. *Give up*: a leaver takes itself off the list. The
//! last one closes the reservation, and releases the cores that have come back.
//!
//! A reservation takes the number of the *call* that the hold is. From then on the hold, and those
//! that it becomes, *continue* the call: the leader of each says so in place of a number, and each
//! core's stack names the reservation that has the call. *Break off*: a part holder that breaks off
//! notes it in the reservations that the stacks of its cores name, and then leaves. So does a
//! leaver that has given such a hold away and would come back. The acceptor learns it when its
//! reservation is taken over.
//!
//! The lock of a reservation comes before that of its leader, and no thread has two reservations'
//! locks. The list and its nodes change under both locks, with one exception: the part holder that
//! completes the reservation takes the waker out of the first node's word under the reservation's
//! lock alone, and leaves one that does nothing.
//!
//! A part holder borrows the cores of its own part and no other. The tasks on the list borrow the
//! whole set while they can run, but a caller may forget their futures; then the monitors of the
//! parts that have been left may be gone. So a part holder reaches the reservation, which belongs
//! to itself then, and the nodes on its list, which stay where they are also when they are
//! forgotten. It reaches no core but its own: not even the leader.
//!
//! # Why no entrant barges in
//! A core that has come back stays held, though no hold has it, so entrants queue. It goes to the
//! tasks that the holder has signalled, before all others.
//!
//! # Why nothing is lost
//! A core comes back once, under the reservation's lock. The last core finds the others there, or
//! finds the list empty. In that case the leaver that emptied the list, under the same lock, has
//! taken the others with it. A leaver finds itself granted, or takes itself out, under the leader's
//! lock. The task that the last core wakes takes over when it is polled, and when it is dropped; so
//! does any other task of the list that comes first. The waker of that first task is taken under
//! the reservation's lock, and a future renews its waker with that lock: so the waker that is woken
//! is the last one, or the renewal finds the reservation complete.
//!
//! # Why no call breaks off unnoticed, or by another task
//! Between a part holder and the reservation with its call, other tasks may have the core: those
//! that are urgent for the part, or for a larger set. The leader does not say of their holds that
//! they continue calls, since a hold that is given is what its node has kept. So their end does not
//! count, and a part holder makes its note before they begin. At that time the core has not come
//! back. The reservation is complete later, and the core's lock and the reservation's order the
//! note before that.
//!
//! The entry on top of a core's stack names the reservation with the call. A task that gives a hold
//! away finds the same entry on top when it is back. If its node is on the list of a reservation
//! meanwhile, that is the entry below that reservation's. A closed entry that is taken out leaves
//! its name to the entry below: the tasks for which that one had its own name were on the closed
//! list. A hold that continues no call may find the name of an earlier holder, and clears it before
//! it is joined with a hold that continues one.
//!
//! # Why no circle of waits comes about
//! An open reservation keeps the cores that have come back while it waits for the others. Part
//! holders hold those others, and a part holder [extends](super::Held::extend) its hold without
//! waiting, or not at all. A reservation with all of its cores in one hold keeps nothing. A
//! complete one waits until a task of its list is polled or dropped, as the grant to such a task
//! does.
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
use super::members::Members;
use super::set::Set;
use super::state::{Acceptance, CONTINUES, State};
use super::urgent::Urgent;
use super::watch;
use crate::detect::Awaited;
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use crate::task::word_waker::WordWaker;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

/// A set, and the tasks that get it once all of it has come back.
#[derive(Debug)]
pub(super) struct Reservation {
    size: usize,
    desk: SpinLock<Desk>,
    /// Whether it is closed, which is final, while it is on stacks. Changes only under the lock.
    closed: AtomicBool,
    /// Whether its call has broken off.
    broken: AtomicBool,
}

/// What the lock guards.
pub(super) struct Desk {
    urgent: Urgent,
    /// The call that the hold of the whole set was.
    call: Option<Acceptance>,
    /// The cores; the first `back` of them have come back.
    cores: Box<[Part]>,
    back: usize,
    /// The waker that the part holder of the last core leaves in place of the one that it wakes.
    spare: Option<WordWaker>,
    /// The reservation itself once it is complete, when no stack has it, until a task of the list
    /// takes over.
    own: Option<Arc<Reservation>>,
}

/// A core of the set, and its monitor as [`detect`](crate::detect) knows it.
#[derive(Clone, Copy)]
struct Part {
    core: CoreRef,
    object: Awaited,
}

/// Cores that had come back to a reservation before it was closed.
pub(super) struct Vacant {
    cores: Box<[Part]>,
    back: usize,
}

/// What follows when a task leaves the list.
pub(super) enum Left {
    /// Others on the list wait for cores.
    Waits,
    /// The set is complete, and another one has been given it: this is its waker.
    PassedOn(WordWaker),
    /// The list is empty. The leaver releases these once it has released the locks.
    Closed(Vacant),
}

/// Reserves a set for the tasks that are urgent, if there are any. The caller calls it before it
/// changes the hold into another one. Returns whether the hold continues calls from here on: then
/// the caller [marks](mark) what the hold becomes.
///
/// # Safety
/// The caller holds the set, and waits for no call.
pub(super) unsafe fn reserve<S: Set>(members: &Members<S>) -> bool {
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { members.leader().get() };
    if !leader.has_urgent() {
        return false;
    }
    let state = leader.lock();
    let continues = state.continues();
    if state.urgent.is_empty() {
        leader.note_urgent(&state);
        return continues;
    }
    drop(state);
    let cores = members.written();
    let part = |core: &CoreRef| {
        // SAFETY: the set borrows its monitors.
        let object = unsafe { core.get() }.object.awaited();
        Part { core: *core, object }
    };
    let parts = cores.as_ref().iter().map(part).collect();
    let reservation = Arc::new(Reservation::new(parts));
    // Allocated before the locks are taken.
    let mut entries = Stack::new();
    for _ in cores.as_ref() {
        entries.put(Entry::of(reservation.clone()));
    }
    let mut desk = reservation.lock();
    let mut state = leader.lock();
    if state.urgent.is_empty() {
        return continues;
    }
    desk.urgent = state.urgent.take_for(Arc::as_ptr(&reservation));
    desk.call = state.call.take().filter(|_| !continues);
    let has_call = desk.call.is_some();
    leader.note_urgent(&state);
    drop(state);
    drop(desk);
    for core in cores.as_ref() {
        let mut entry = entries.take().expect("there is one for each core");
        // SAFETY: the set borrows its monitors.
        let mut state = unsafe { core.get() }.lock();
        entry.continued = if has_call {
            Some(reservation.clone())
        } else if continues {
            state.stack().continued().cloned()
        } else {
            None
        };
        let closed = state.reserve(entry);
        drop(state);
        drop(closed);
    }
    has_call || continues
}

/// Marks holds that continue calls, and have been made of the hold of this set, or of this set and
/// others: `leads` says which cores lead them.
///
/// # Safety
/// The caller holds the set, and no node is urgent.
pub(super) unsafe fn mark<S: Set>(members: &Members<S>, leads: impl Fn(CoreRef) -> bool) {
    for core in members.written().as_ref() {
        // SAFETY: the set borrows its monitors.
        let one = unsafe { core.get() };
        let mut state = one.lock();
        state.call = leads(*core).then_some(CONTINUES);
        one.note_urgent(&state);
    }
}

/// Whether the hold of a set continues calls.
///
/// # Safety
/// The caller holds the set.
pub(super) unsafe fn continues<S: Set>(members: &Members<S>) -> bool {
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { members.leader().get() };
    leader.has_urgent() && leader.lock().continues()
}

/// Clears what earlier holds of these cores have continued.
///
/// # Safety
/// The caller holds the set. The hold continues no call, and no node is urgent.
pub(super) unsafe fn clear<S: Set>(members: &Members<S>) {
    for core in members.written().as_ref() {
        // SAFETY: the set borrows its monitors.
        let mut state = unsafe { core.get() }.lock();
        let cleared = state.stack().clear();
        drop(state);
        drop(cleared);
    }
}

/// If the hold of a set continues calls, notes in their reservations that they have broken off.
///
/// # Safety
/// The caller holds the set, and breaks off.
#[cold]
pub(super) unsafe fn break_off<S: Set>(members: &Members<S>) {
    // SAFETY: the caller's promise.
    if unsafe { continues(members) } {
        for core in members.written().as_ref() {
            // SAFETY: the set borrows its monitors.
            unsafe { core.get() }.lock().stack().break_off(None);
        }
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
            let key = ptr::from_ref(reservation);
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
        if Reservation::come_back(&entry.reservation, core) {
            return;
        }
    }
}

impl Reservation {
    fn new(cores: Box<[Part]>) -> Self {
        let size = cores.len();
        let desk = Desk {
            urgent: Urgent::new(),
            call: None,
            cores,
            back: 0,
            spare: Some(WordWaker::boxed(Waker::noop())),
            own: None,
        };
        let [closed, broken] = [(); 2].map(|()| AtomicBool::new(false));
        Self { size, desk: SpinLock::new(desk), closed, broken }
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
    /// A node is on its list, and the caller is the node's future and has the leader's lock. So a
    /// core that has not come back has a reference, on its stack or in the hands of its part
    /// holder, or the reservation is complete and has one itself, until a task takes over with the
    /// leader's lock.
    pub(super) unsafe fn share(this: *const Self) -> Arc<Self> {
        // SAFETY: the caller's promise: the reservation is there. An `Arc` made the pointer.
        unsafe { Arc::increment_strong_count(this) };
        // SAFETY: the reference that has just been counted.
        unsafe { Arc::from_raw(this) }
    }

    /// Gives the list to the leader, and the set to the first node on the list, if all cores have
    /// come back. Returns the waker of that node's task.
    ///
    /// # Safety
    /// `state` is the leader's, and the caller borrows the set and has a reference to this. The
    /// list is not empty.
    pub(super) unsafe fn take_over(
        &self,
        desk: &mut Desk,
        leader: &Core,
        state: &mut State,
    ) -> Option<WordWaker> {
        if desk.back < desk.cores.len() {
            return None;
        }
        // The locks order what was noted before the last core came back.
        if let Some(call) = desk.call
            && self.broken.load(Ordering::Relaxed)
        {
            desk.urgent.break_call(call);
        }
        state.urgent = desk.urgent.take_for(ptr::null());
        desk.own = None;
        // Before the grant: the next holder looks at it without the lock.
        leader.note_urgent(state);
        let next = state.pass_on();
        leader.note_urgent(state);
        next
    }

    /// Goes on after a node has left the list.
    ///
    /// # Safety
    /// As [`take_over`](Self::take_over), but the list may be empty.
    pub(super) unsafe fn after_one_has_left(
        &self,
        desk: &mut Desk,
        leader: &Core,
        state: &mut State,
    ) -> Left {
        if desk.urgent.is_empty() {
            self.closed.store(true, Ordering::Relaxed);
            desk.own = None;
            return Left::Closed(Vacant {
                cores: std::mem::take(&mut desk.cores),
                back: desk.back,
            });
        }
        // SAFETY: the caller's promise, and the list is not empty.
        if let Some(next) = unsafe { self.take_over(desk, leader, state) } {
            return Left::PassedOn(next);
        }
        // SAFETY: as above.
        unsafe { desk.watch() };
        Left::Waits
    }

    /// Takes a core that is left. Returns false if the reservation is closed.
    fn come_back(this: &Arc<Self>, core: &Core) -> bool {
        let mut desk = this.lock();
        if desk.urgent.is_empty() {
            return false;
        }
        desk.put_back(core);
        if desk.back < desk.cores.len() {
            desk.watch_missing(core);
            return true;
        }
        desk.watch_complete(core);
        desk.own = Some(this.clone());
        let next = desk.take_waker();
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
        let at =
            missing.iter().position(|other| other.core == core).expect("a core comes back once");
        missing.swap(0, at);
        self.back += 1;
    }

    /// Takes the waker of the first task. The list is not empty.
    fn take_waker(&mut self) -> WordWaker {
        let first = self.urgent.front().expect("a task is urgent");
        let spare = self.spare.take().expect("the last core comes back once");
        // SAFETY: it is on the list, so it is there.
        let first = unsafe { first.as_ref() };
        // SAFETY: it waits, and its word changes under the lock of the reservation, which the
        // caller has.
        unsafe { first.word.replace(spare) }
    }

    /// Tells [`detect`](crate::detect) that the next node waits for the missing cores, and keeps
    /// those that have come back.
    ///
    /// # Safety
    /// The set is borrowed, and the caller has the leader's lock.
    unsafe fn watch(&self) {
        for part in &self.cores[..self.back] {
            // SAFETY: the caller's promise.
            self.watch_missing(unsafe { part.core.get() });
        }
    }

    /// Tells `detect` that the next node keeps the last core that has come back.
    fn watch_complete(&self, back: &Core) {
        if let Some(next) = self.urgent.front() {
            back.object.held_meanwhile(next.as_ptr().cast_const().cast());
        }
    }

    /// The same as [`watch`](Self::watch), of one core that has come back.
    fn watch_missing(&self, back: &Core) {
        let (Some(next), Some(missing)) = (self.urgent.front(), self.cores.get(self.back)) else {
            return;
        };
        // SAFETY: it is on the list, so it is there.
        let next = unsafe { next.as_ref() };
        // SAFETY: it waits with the lock of the reservation, which the caller has.
        unsafe { watch::reserved(next, back, missing.object) };
    }
}

impl Vacant {
    /// Releases the cores.
    ///
    /// # Safety
    /// Their monitors are borrowed.
    pub(super) unsafe fn release(self) {
        for part in &self.cores[..self.back] {
            // SAFETY: the caller's promise.
            unsafe { watch::left_one(part.core) };
            // SAFETY: as above; no hold has it.
            unsafe { part.core.get() }.release();
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
    /// The entries from here down.
    height: usize,
    /// The height that the stack had when its closed entries were last taken out.
    cleared: usize,
    /// The reservation with the call that a hold continues in this core while this entry is on top,
    /// if the hold continues calls.
    continued: Option<Arc<Reservation>>,
}

impl Entry {
    fn of(reservation: Arc<Reservation>) -> Box<Self> {
        Box::new(Self { reservation, below: None, height: 1, cleared: 0, continued: None })
    }
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
        self.0.as_deref().map_or(ptr::null(), ptr::from_ref)
    }

    fn put(&mut self, mut entry: Box<Entry>) {
        let (height, cleared) = self.0.as_ref().map_or((0, 0), |top| (top.height, top.cleared));
        (entry.height, entry.cleared) = (height + 1, cleared);
        entry.below = self.0.take();
        self.0 = Some(entry);
    }

    /// Takes the top entry.
    pub(super) fn take(&mut self) -> Option<Box<Entry>> {
        let mut entry = self.0.take()?;
        self.0 = entry.below.take();
        Some(entry)
    }

    /// Puts an entry on top, and returns closed ones that it has taken out: those that were there,
    /// and all of them once the stack is twice as high as it was after the last time. So a holder
    /// that splits and joins for ever keeps at most about as many closed as open reservations.
    pub(super) fn push(&mut self, entry: Box<Entry>) -> Self {
        let (mut open, mut closed) = (Self::new(), Self::new());
        while let Some(top) = &self.0 {
            let is_high = top.height > 2 * top.cleared + 2 || !open.is_empty();
            if top.reservation.is_open() && !is_high {
                break;
            }
            let mut top = self.take().expect("it is there");
            if top.reservation.is_open() {
                open.put(top);
                continue;
            }
            if let Some(below) = &mut self.0 {
                // Exchanged: what it drops, the caller drops without the lock.
                std::mem::swap(&mut below.continued, &mut top.continued);
            }
            closed.put(top);
        }
        while let Some(entry) = open.take() {
            self.put(entry);
            if let Some(top) = &mut self.0 {
                // Also once those above it have been taken.
                top.cleared = top.height;
            }
        }
        self.put(entry);
        closed
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.entries().map(|entry| &*entry.reservation)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.0.as_deref(), |entry| entry.below.as_deref())
    }

    /// The reservation with the call that the hold continues in this core.
    fn continued(&self) -> Option<&Arc<Reservation>> {
        self.0.as_ref()?.continued.as_ref()
    }

    /// Clears that, and returns it: the caller drops it without the lock.
    fn clear(&mut self) -> Option<Arc<Reservation>> {
        self.0.as_mut()?.continued.take()
    }

    /// Notes that a call which is continued in this core has broken off: that of the hold, or that
    /// of a node on the list of `lent`.
    #[cold]
    pub(super) fn break_off(&self, lent: Option<&Reservation>) {
        let is_lent = |entry: &&Entry| lent.is_some_and(|lent| ptr::eq(lent, &*entry.reservation));
        // If the core has come back to that reservation, the entry is not there any more.
        let top = match self.entries().find(is_lent) {
            Some(entry) => entry.below.as_deref(),
            None => self.0.as_deref(),
        };
        if let Some(own) = top.and_then(|top| top.continued.as_deref()) {
            own.broken.store(true, Ordering::Relaxed);
        }
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
    use std::pin::Pin;
    use std::sync::atomic::AtomicPtr;
    use std::task::Context;

    /// Waits for a condition of two monitors.
    fn wait<'a>(
        condition: &'a Condition,
        one: &'a Monitor<()>,
        other: &'a Monitor<()>,
    ) -> Pin<Box<impl Future + use<'a>>> {
        let held = try_lock_all((one, other)).unwrap();
        let mut waiter = Box::pin(condition.wait(held));
        assert!(waiter.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        waiter
    }

    /// A holder that signals, splits and joins without ever leaving, while its waiters give up.
    #[test]
    fn reservations_that_are_closed_do_not_pile_up() {
        let [one, other] = [(); 2].map(Monitor::new);
        let (lasting, brief) = (Condition::new(), [(); 100].map(|()| Condition::new()));
        let wait = |condition| wait(condition, &one, &other);
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

    /// Each waiter gives up after the next one's reservation lies on top of its own.
    #[test]
    fn reservations_that_are_closed_below_open_ones_do_not_pile_up() {
        let [one, other] = [(); 2].map(Monitor::new);
        let conditions = [(); 100].map(|()| Condition::new());
        let wait = |condition| wait(condition, &one, &other);
        let waiters: Vec<_> = conditions.iter().map(wait).collect();
        let mut held = Held::join(one.try_enter().unwrap(), other.try_enter().unwrap());
        let mut last = None;
        for (condition, waiter) in conditions.iter().zip(waiters) {
            assert!(condition.signal(&mut held));
            let (first, second) = Held::split(held);
            held = Held::join(first, second);
            last = Some(waiter);
            let count = one.core.lock().reservations().count();
            assert!(count <= 6, "at most two are open");
        }
        drop((held, last));
        assert!(try_lock_all((&one, &other)).is_some());
    }

    /// The leader is freed before the last part is left: the part holder must not touch it.
    #[test]
    fn a_part_outlives_the_leader_if_the_waiter_is_forgotten() {
        /// Keeps the forgotten future reachable for a search for leaks.
        static KEPT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
        let [one, other] = [(); 2].map(|()| Box::new(Monitor::new(())));
        let (leader, other) =
            if ptr::from_ref(&*one) < &raw const *other { (one, other) } else { (other, one) };
        let condition = Condition::new();
        let held = try_lock_all((&*leader, &*other)).unwrap();
        let mut waiter = Box::pin(condition.wait(held));
        assert!(waiter.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let mut held = try_lock_all((&*leader, &*other)).unwrap();
        assert!(condition.signal(&mut held));
        let (part_of_leader, part_of_other) = Held::split(held);
        KEPT.store(ptr::from_ref(&*waiter).cast_mut().cast(), Ordering::Relaxed);
        std::mem::forget(waiter);
        drop(part_of_leader);
        drop(leader);
        drop(part_of_other);
        assert!(other.try_enter().is_none(), "it is the forgotten waiter's");
    }

    /// For example the stack of a monitor after `forget` of its hold.
    #[test]
    fn a_high_stack_is_dropped_without_recursion() {
        let mut stack = Stack::new();
        for _ in 0..200_000 {
            let reservation = Arc::new(Reservation::new(Box::new([])));
            assert!(stack.push(Entry::of(reservation)).is_empty());
        }
        assert_eq!(stack.iter().count(), 200_000);
        drop(stack);
    }
}
