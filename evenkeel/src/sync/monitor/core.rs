//! A monitor without its data: who holds it, and who waits for it.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::node::{Kind, List, Node, Op, Place, Ticket};
use super::watch;
use crate::detect::Object;
use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use crate::task::word_waker::WordWaker;
use std::num::NonZeroU32;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64 as Count;

/// One monitor.
#[derive(Debug)]
pub(super) struct Core {
    state: SpinLock<State>,
    /// Whether anybody is on the urgent list. Only holders put somebody there, so to a holder *no* is certain.
    urgent: AtomicBool,
    /// What conditions know it by, or zero until one asks.
    id: AtomicU64,
    /// What [`detect`](crate::detect) knows it by.
    pub(super) object: Object,
}

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State {
    owned: bool,
    /// Those who want to enter, first come first served.
    entry: List,
    /// Those who go before them, the next one first. All of them want the set that is held now.
    urgent: List,
    /// The last one on the urgent list that the present holder has signalled, or null: the next goes behind it.
    signalled: *const Node,
    /// The acceptor that waits for a call, or null, and for which. It holds its set.
    acceptor: *const Node,
    mask: u64,
    /// The number of the last accepted call.
    acceptance: Acceptance,
}

/// An accepted call, by its number: what its acceptor is known by, which may be gone while others wait behind it.
pub(super) type Acceptance = NonZeroU32;

// SAFETY: nodes stay where they are for as long as they are in a list or here, which changes under the lock alone.
unsafe impl Send for State {}

/// A core, for those who keep the monitor borrowed beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreRef(NonNull<Core>);

// SAFETY: it is a shared reference to something that is `Sync`.
unsafe impl Send for CoreRef {}
// SAFETY: as above.
unsafe impl Sync for CoreRef {}

impl CoreRef {
    pub(super) fn of(core: &Core) -> Self {
        Self(NonNull::from(core))
    }

    /// The core.
    ///
    /// # Safety
    /// The monitor is borrowed for as long as the result is used.
    #[inline(always)]
    pub(super) unsafe fn get<'a>(self) -> &'a Core {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }
    }
}

/// What has come of an attempt to enter.
pub(super) enum Entry {
    /// The core is the caller's.
    Own,
    /// The whole set is, and an acceptor waits for the caller.
    Accepted(Acceptance),
    /// The caller has to wait.
    Wait,
    /// The caller has to wait, and this one goes on: an acceptor of the end.
    WaitAnd(WordWaker),
    /// A waker is needed first.
    NoWaker,
}

impl Core {
    pub(super) fn new(object: Object) -> Self {
        Self {
            object,
            state: SpinLock::new(State {
                owned: false,
                entry: List::new(),
                urgent: List::new(),
                signalled: ptr::null(),
                acceptor: ptr::null(),
                mask: 0,
                acceptance: Acceptance::MIN,
            }),
            urgent: AtomicBool::new(false),
            id: AtomicU64::new(0),
        }
    }

    /// A number that no other core has, ever.
    pub(super) fn id(&self) -> u64 {
        static NEXT: Count = Count::new(1);
        match self.id.load(Ordering::Relaxed) {
            0 => {
                let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
                match self.id.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => fresh,
                    Err(id) => id,
                }
            }
            id => id,
        }
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> SpinGuard<'_, State> {
        self.state.lock()
    }

    /// Whether anybody is on the urgent list, for a holder.
    #[inline(always)]
    pub(super) fn has_urgent(&self) -> bool {
        self.urgent.load(Ordering::Relaxed)
    }

    /// Says whether anybody is. The caller has the lock.
    #[inline(always)]
    pub(super) fn note_urgent(&self, state: &State) {
        self.urgent.store(!state.urgent.is_empty(), Ordering::Relaxed);
    }

    /// Whether it is free.
    pub(super) fn is_free(&self) -> bool {
        !self.lock().owned
    }

    /// Enters, or joins the queue. `first` says that this is the leader of the set `cores`, and no other core of it is held yet; `waker` gives a
    /// waker without running a caller's code, if it can.
    ///
    /// # Safety
    /// The node is in no queue, and stays where it is until it has been taken out; so do the cores.
    #[inline(always)]
    pub(super) unsafe fn enter(
        &self,
        node: &Node,
        cores: &[CoreRef],
        op: Op,
        first: bool,
        waker: impl FnOnce() -> Option<WordWaker>,
    ) -> Entry {
        let mut state = self.lock();
        if !state.owned {
            state.owned = true;
            return Entry::Own;
        }
        let accepted = first && op.is_in(state.mask) && state.is_accepted(cores);
        if accepted && op != Op::END {
            let acceptance = state.follow_acceptor(op);
            self.note_urgent(&state);
            return Entry::Accepted(acceptance);
        }
        let Some(waker) = waker() else { return Entry::NoWaker };
        node.fill(Kind::Entry, cores, op);
        node.set_waiting(waker);
        if accepted {
            // The acceptor goes on, and the caller comes last.
            let acceptor = state.take_acceptor(Op::END);
            // SAFETY: the caller's promise.
            unsafe { state.urgent.push_back(node, Place::Urgent) };
            self.note_urgent(&state);
            return Entry::WaitAnd(acceptor);
        }
        // SAFETY: the caller's promise.
        unsafe { state.entry.push_back(node, Place::Entry) };
        // SAFETY: it waits with this lock; the rest is the caller's promise.
        unsafe { watch::queued(node, cores, self) };
        Entry::Wait
    }

    /// Enters if the core is free.
    pub(super) fn try_enter(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.owned, true)
    }

    /// Gives the core to the next one: of the urgent list with all of its set, of the entry queue alone. Gives whom to wake.
    #[inline(always)]
    pub(super) fn release(&self) -> Option<WordWaker> {
        let mut state = self.lock();
        if !state.urgent.is_empty() {
            let waker = state.pass_on();
            self.note_urgent(&state);
            return waker;
        }
        state.release()
    }

    /// Gives the set, whose leader this is, to the next one on the urgent list, if there is one, and gives whom to wake.
    fn pass_on(&self) -> Option<WordWaker> {
        let mut state = self.lock();
        let waker = state.pass_on();
        self.note_urgent(&state);
        waker
    }
}

impl State {
    /// Gives the set to the next one on the urgent list.
    #[inline(always)]
    pub(super) fn pass_on(&mut self) -> Option<WordWaker> {
        let next = self.urgent.pop()?;
        self.signalled = ptr::null();
        // SAFETY: it has just been taken out of this core's list.
        unsafe { next.with(|ticket| ticket.whole = true) };
        // SAFETY: as above; it waits.
        Some(unsafe { next.grant() })
    }

    /// Gives the core to the first of the entry queue, or leaves it free. Nobody is urgent.
    #[inline(always)]
    pub(super) fn release(&mut self) -> Option<WordWaker> {
        self.signalled = ptr::null();
        match self.entry.pop() {
            // SAFETY: it has just been taken out of this core's queue; it waits.
            Some(next) => Some(unsafe { next.grant() }),
            None => {
                self.owned = false;
                None
            }
        }
    }

    /// Puts a node that the holder has signalled behind those that it has signalled before.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    pub(super) unsafe fn push_signalled(&mut self, node: &Node) {
        // SAFETY: the caller's promise; the last signalled one is on the list.
        unsafe { self.urgent.insert(self.signalled, node, Place::Urgent) };
        self.signalled = node;
        watch::signalled(node);
    }

    /// Puts a node first on the urgent list: who gives its set to somebody else and goes on after that one.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    pub(super) unsafe fn push_urgent(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_front(node, Place::Urgent) };
        // Whoever holds the set next begins anew.
        self.signalled = ptr::null();
    }

    /// Takes a node off the urgent list whose wait has been given up. `instead`, which waits with this core's lock and is in no queue, takes its place.
    ///
    /// # Safety
    /// The former is on this core's urgent list.
    pub(super) unsafe fn replace_urgent(&mut self, node: &Node, instead: Option<&Node>) {
        if let Some(instead) = instead {
            // SAFETY: the caller's promise.
            unsafe { self.urgent.insert(node, instead, Place::Urgent) };
        }
        // SAFETY: the caller's promise.
        let before = unsafe { self.urgent.remove(node) };
        if ptr::eq(self.signalled, node) {
            self.signalled = instead.map_or(before, ptr::from_ref);
        }
    }

    /// Takes a node out of the entry queue.
    ///
    /// # Safety
    /// It is in this core's.
    pub(super) unsafe fn remove_entry(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.entry.remove(node) };
    }

    /// The first one in the entry queue that calls one of `ops` on the set that this core leads.
    pub(super) fn caller<'a>(&self, ops: u64, cores: &[CoreRef]) -> Option<&'a Node> {
        self.entry.find(|ticket| ticket.op.is_in(ops) && ticket.wants(cores))
    }

    /// Waits for calls. The node, which holds the set, is in no queue and stays where it is.
    pub(super) fn put_acceptor(&mut self, node: &Node, mask: u64) {
        (self.acceptor, self.mask) = (node, mask);
        // SAFETY: it is in no queue and the caller's, who has the lock.
        unsafe { node.with(|ticket| ticket.place = Place::Mask) };
    }

    /// Waits for calls no more.
    pub(super) fn remove_acceptor(&mut self) {
        (self.acceptor, self.mask) = (ptr::null(), 0);
    }

    /// Whether the acceptor that waits holds this set.
    fn is_accepted(&self, cores: &[CoreRef]) -> bool {
        let acceptor = self.acceptor();
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(|ticket| ticket.wants(cores)) }
    }

    fn acceptor<'a>(&self) -> &'a Node {
        // SAFETY: whoever waits for a call is there until it has been removed from here, under the lock.
        unsafe { self.acceptor.as_ref() }.expect("there is a mask, and so an acceptor")
    }

    /// A number for a call that is accepted now.
    pub(super) fn next_acceptance(&mut self) -> Acceptance {
        self.acceptance = self.acceptance.checked_add(1).unwrap_or(Acceptance::MIN);
        self.acceptance
    }

    /// Lets a call go first that the acceptor has been waiting for.
    fn follow_acceptor(&mut self, op: Op) -> Acceptance {
        let acceptor = self.acceptor();
        self.remove_acceptor();
        let acceptance = self.next_acceptance();
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(|ticket| (ticket.op, ticket.accepted) = (op, Some(acceptance))) };
        // SAFETY: it waits with this core's lock, and is in no queue.
        unsafe { self.push_urgent(acceptor) };
        acceptance
    }

    /// Has the acceptor go on by itself, since `op` has come. Gives its waker.
    fn take_acceptor(&mut self, op: Op) -> WordWaker {
        let acceptor = self.acceptor();
        self.remove_acceptor();
        let note = |ticket: &mut Ticket| {
            (ticket.op, ticket.place, ticket.whole) = (op, Place::Nowhere, true);
        };
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(note) };
        // SAFETY: as above, and it is in no queue.
        unsafe { acceptor.grant() }
    }

    /// Tells the acceptor of this call, if it is still there, that the call has broken off.
    pub(super) fn break_call(&mut self, call: Acceptance) {
        let is_its =
            |ticket: &Ticket| ticket.kind == Kind::Acceptor && ticket.accepted == Some(call);
        if let Some(acceptor) = self.urgent.find(is_its) {
            // SAFETY: it is on this core's list.
            unsafe { acceptor.with(|ticket| ticket.broken = true) };
        }
    }

    /// Puts one that waits for the end of the object behind all others.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    pub(super) unsafe fn push_last(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_back(node, Place::Urgent) };
    }
}

/// Gives a set up that is held: to the next urgent one as a whole, or core by core, the leader last. `broken` is the holder's call, if that has broken off and
/// an acceptor waits for it.
///
/// # Safety
/// The caller holds the set, and its monitors are borrowed meanwhile.
#[inline(always)]
pub(super) unsafe fn leave(cores: &[CoreRef], broken: Option<Acceptance>) {
    // SAFETY: the caller's promise.
    unsafe { watch::left(cores) };
    // SAFETY: the caller's promise.
    let leader = unsafe { cores[0].get() };
    if let Some(call) = broken {
        leader.lock().break_call(call);
    }
    if cores.len() > 1
        && leader.has_urgent()
        && let Some(waker) = leader.pass_on()
    {
        waker.wake();
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { release_all(cores) };
}

/// Releases these cores, the last one first.
///
/// # Safety
/// The caller holds them, and their monitors are borrowed meanwhile.
#[inline(always)]
pub(super) unsafe fn release_all(cores: &[CoreRef]) {
    for core in cores.iter().rev() {
        // SAFETY: the caller's promise.
        let core = unsafe { core.get() };
        if let Some(waker) = core.release() {
            waker.wake();
        }
    }
}
