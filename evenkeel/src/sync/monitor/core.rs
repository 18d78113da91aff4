//! A monitor without its data: who holds it, and who waits for it.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::Cores;
use super::held::breaks_off;
use super::members::Members;
use super::node::{Kind, List, Node, Op, Place, Ticket};
use super::set::Set;
use super::watch;
use crate::detect::Object;
use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use crate::task::word_waker::WordWaker;
use std::num::NonZeroU32;
use std::ptr;
use std::sync::atomic::AtomicU64 as Count;
use std::task::Waker;

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
    /// The last one on the urgent list that the present holder has signalled, or null: the next goes behind it. Null if nobody is on the list.
    signalled: *const Node,
    /// The acceptor that waits for a call, or null, and for which. It holds its set.
    acceptor: *const Node,
    mask: u64,
    /// The call that the present hold of the set is which this core leads, if an acceptor waits for its end.
    call: Option<Acceptance>,
    /// The number of the last accepted call.
    acceptance: Acceptance,
}

/// An accepted call, by its number: what its acceptor is known by, which may be gone while others wait behind it.
pub(super) type Acceptance = NonZeroU32;

// SAFETY: nodes stay where they are for as long as they are in a list or here, which changes under the lock alone.
unsafe impl Send for State {}

/// What has come of an attempt to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The core is the caller's.
    Own,
    /// The whole set is, as the call that an acceptor has been waiting for.
    Accepted,
    /// The caller has to wait.
    Wait,
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
                call: None,
                acceptance: Acceptance::MIN,
            }),
            urgent: AtomicBool::new(false),
            id: AtomicU64::new(0),
        }
    }

    /// A number that no other core has, ever.
    #[inline(always)]
    pub(super) fn id(&self) -> u64 {
        match self.id.load(Ordering::Relaxed) {
            0 => self.fresh_id(),
            id => id,
        }
    }

    #[cold]
    fn fresh_id(&self) -> u64 {
        static NEXT: Count = Count::new(1);
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.id.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(id) => id,
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

    /// Enters, or joins the queue, and then says so in `queued`. `first` says that this is the leader of the set `cores`, and no other core of it is held
    /// yet.
    ///
    /// # Safety
    /// The node is in no queue, and stays where it is until it has been taken out; so do the cores.
    #[inline(always)]
    pub(super) unsafe fn enter(
        &self,
        node: &Node,
        cores: Cores<'_>,
        op: Op,
        first: bool,
        waker: &Waker,
        queued: &mut bool,
    ) -> Entry {
        let mut state = self.lock();
        if !state.owned {
            state.owned = true;
            return Entry::Own;
        }
        // SAFETY: the caller's promise.
        unsafe { self.enter_owned(state, node, cores, op, first, waker, queued) }
    }

    /// The same, of a core that somebody holds.
    ///
    /// # Safety
    /// As [`enter`](Self::enter).
    #[expect(clippy::too_many_arguments, reason = "the rest of `enter`, out of line")]
    #[inline(never)]
    unsafe fn enter_owned<'a>(
        &'a self,
        state: SpinGuard<'a, State>,
        node: &Node,
        cores: Cores<'_>,
        op: Op,
        first: bool,
        waker: &Waker,
        queued: &mut bool,
    ) -> Entry {
        let mut spare = None;
        // Declared after the spare waker, and so released before that is dropped.
        let mut state = state;
        loop {
            if !state.owned {
                state.owned = true;
                return Entry::Own;
            }
            let accepted = first && op.is_in(state.mask) && state.is_accepted(cores);
            if accepted && op != Op::END {
                state.follow_acceptor(op);
                self.note_urgent(&state);
                return Entry::Accepted;
            }
            let Some(waker) = spare.take().or_else(|| WordWaker::of_task(waker)) else {
                // Its clone is a caller's code, which has no place under the lock.
                drop(state);
                spare = Some(WordWaker::boxed(waker));
                state = self.lock();
                continue;
            };
            node.fill(Kind::Entry, cores, op);
            node.set_waiting(waker);
            // Before anything that may panic.
            *queued = true;
            if !accepted {
                // SAFETY: the caller's promise.
                unsafe { state.entry.push_back(node, Place::Entry) };
                // SAFETY: it waits with this lock; the rest is the caller's promise.
                unsafe { watch::queued(node, cores, self) };
                return Entry::Wait;
            }
            // The acceptor goes on, and the caller comes last.
            let acceptor = state.take_acceptor(Op::END);
            // SAFETY: the caller's promise.
            unsafe { state.urgent.push_back(node, Place::Urgent) };
            self.note_urgent(&state);
            drop(state);
            acceptor.wake();
            return Entry::Wait;
        }
    }

    /// Enters if the core is free.
    pub(super) fn try_enter(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.owned, true)
    }

    /// Gives the core to the next one: of the urgent list with all of its set, of the entry queue alone. If the holder's call breaks off, its acceptor is told.
    #[inline(always)]
    pub(super) fn release(&self) {
        let mut state = self.lock();
        if state.urgent.is_empty() && state.entry.is_empty() {
            (state.owned, state.call) = (false, None);
        } else {
            self.hand_over(state);
        }
    }

    #[inline(never)]
    fn hand_over(&self, mut state: SpinGuard<'_, State>) {
        let next = if state.urgent.is_empty() {
            state.release()
        } else {
            state.break_off();
            let next = state.pass_on();
            self.note_urgent(&state);
            next
        };
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Has the holder's call, which has just been accepted, count as whole whenever it is left, if this thread is within the cancellation of another call, or within a
    /// panic: it is made by a destructor.
    #[inline(always)]
    pub(super) fn excuse(&self) {
        if breaks_off() {
            self.lock().forget_call();
        }
    }

    /// Gives the set, whose leader this is, to the next one on the urgent list. False if there is none.
    #[inline(never)]
    fn pass_on(&self) -> bool {
        let mut state = self.lock();
        state.break_off();
        let next = state.pass_on();
        self.note_urgent(&state);
        drop(state);
        next.map(WordWaker::wake).is_some()
    }
}

impl State {
    /// Gives the set to the next one on the urgent list, and gives whom to wake.
    #[inline(always)]
    pub(super) fn pass_on(&mut self) -> Option<WordWaker> {
        let next = self.urgent.pop()?;
        // SAFETY: it has just been taken out of this core's list.
        Some(unsafe { self.give(next) })
    }

    /// Gives the set that is held to a node, as the hold that it wants, and gives whom to wake.
    ///
    /// # Safety
    /// The node waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, next: &Node) -> WordWaker {
        self.signalled = ptr::null();
        let give = |ticket: &mut Ticket| {
            ticket.whole = true;
            ticket.call
        };
        // SAFETY: the caller's promise.
        self.call = unsafe { next.with(give) };
        // SAFETY: the caller's promise.
        unsafe { next.grant() }
    }

    /// Gives the core to the first of the entry queue, or leaves it free. Nobody is urgent. Gives whom to wake.
    #[inline(always)]
    pub(super) fn release(&mut self) -> Option<WordWaker> {
        self.call = None;
        match self.entry.pop() {
            // SAFETY: it has just been taken out of this core's queue; it waits.
            Some(next) => Some(unsafe { next.grant() }),
            None => {
                self.owned = false;
                None
            }
        }
    }

    /// The call that the present hold is, for who gives it away and comes back.
    #[inline(always)]
    pub(super) fn call(&self) -> Option<Acceptance> {
        self.call
    }

    #[cold]
    fn forget_call(&mut self) {
        self.call = None;
    }

    /// Puts a node that the holder has signalled behind those that it has signalled before.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    #[inline(always)]
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
    #[inline(always)]
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
            watch::signalled(instead);
        }
        // SAFETY: the caller's promise.
        let before = unsafe { self.urgent.remove(node) };
        if ptr::eq(self.signalled, node) {
            self.signalled = instead.map_or(before, ptr::from_ref);
        }
    }

    /// Takes a node off the urgent list that has given its hold away. If that hold is a call that breaks off, its acceptor is told.
    ///
    /// # Safety
    /// It is on this core's urgent list.
    pub(super) unsafe fn remove_urgent(&mut self, node: &Node) {
        // SAFETY: it waits with this core's lock.
        if let Some(call) = unsafe { node.with(|ticket| ticket.call) }
            && breaks_off()
        {
            self.break_call(call);
        }
        // SAFETY: the caller's promise.
        unsafe { self.replace_urgent(node, None) };
    }

    /// Takes a node out of the entry queue.
    ///
    /// # Safety
    /// It is in this core's.
    #[inline(always)]
    pub(super) unsafe fn remove_entry(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.entry.remove(node) };
    }

    /// The first one in the entry queue that calls one of `ops` on the set that this core leads.
    #[inline]
    pub(super) fn caller<'a>(&self, ops: u64, cores: Cores<'_>) -> Option<&'a Node> {
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
    fn is_accepted(&self, cores: Cores<'_>) -> bool {
        let acceptor = self.acceptor();
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(|ticket| ticket.wants(cores)) }
    }

    fn acceptor<'a>(&self) -> &'a Node {
        // SAFETY: whoever waits for a call is there until it has been removed from here, under the lock.
        unsafe { self.acceptor.as_ref() }.expect("there is a mask, and so an acceptor")
    }

    /// A number for a call that is accepted now.
    #[inline(always)]
    pub(super) fn next_acceptance(&mut self) -> Acceptance {
        self.acceptance = self.acceptance.checked_add(1).unwrap_or(Acceptance::MIN);
        self.acceptance
    }

    /// Lets a call have the set that the acceptor has been waiting for.
    fn follow_acceptor(&mut self, op: Op) {
        let acceptor = self.acceptor();
        self.remove_acceptor();
        let acceptance = Some(self.next_acceptance());
        self.call = acceptance;
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(|ticket| (ticket.op, ticket.accepted) = (op, acceptance)) };
        // SAFETY: it waits with this core's lock, and is in no queue.
        unsafe { self.push_urgent(acceptor) };
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

    /// Tells the acceptor of the holder's call, if there is one and the call does not come to its end, that it has broken off.
    #[inline(always)]
    fn break_off(&mut self) {
        if let Some(call) = self.call
            && breaks_off()
        {
            self.break_call(call);
        }
    }

    /// Tells the acceptor of this call, if it is still there, that the call has broken off.
    #[cold]
    fn break_call(&mut self, call: Acceptance) {
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

/// Gives a set up that is held: to the next urgent one as a whole, or core by core, the leader last. If the hold is a call that breaks off, its acceptor is told.
///
/// # Safety
/// The caller holds the set.
#[inline(always)]
pub(super) unsafe fn leave<S: Set>(members: &Members<S>) {
    // SAFETY: the set borrows its monitors.
    unsafe { watch::left(members) };
    // SAFETY: as above.
    let leader = unsafe { members.leader().get() };
    if S::SINGLE {
        leader.release();
    } else if !leader.has_urgent() || !leader.pass_on() {
        // SAFETY: the caller's promise.
        unsafe { release_all(members) };
    }
}

/// Releases a set core by core, the leader last.
///
/// # Safety
/// The caller holds it, and nobody is urgent.
#[inline]
pub(super) unsafe fn release_all<S: Set>(members: &Members<S>) {
    let mut place = S::place();
    let cores = members.cores(&mut place);
    // SAFETY: the caller's promise; the set borrows its monitors.
    unsafe { release(cores, cores.len()) };
}

/// Releases so many of these cores, the last one first.
///
/// # Safety
/// The caller holds them, and their monitors are borrowed meanwhile.
#[inline(always)]
pub(super) unsafe fn release(cores: Cores<'_>, count: usize) {
    for index in (0..count).rev() {
        // SAFETY: the caller's promise.
        unsafe { cores.get(index).get() }.release();
    }
}
