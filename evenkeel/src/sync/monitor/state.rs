//! What a monitor's lock guards: who holds it, who waits for it, and what becomes of them.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::Cores;
use super::held::breaks_off;
use super::node::{Kind, List, Node, Op, Place, Ticket};
use super::watch;
use crate::task::word_waker::WordWaker;
use std::num::NonZeroU32;
use std::ptr;

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State {
    pub(super) owned: bool,
    /// Those who want to enter, first come first served.
    pub(super) entry: List,
    /// Those who go before them, the next one first. All of them want the set that is held now.
    pub(super) urgent: List,
    /// The last one on the urgent list that the present holder has signalled, or null: the next goes behind it. Null if nobody is on the list.
    signalled: *const Node,
    /// The acceptor that waits for a call, or null, and for which. It holds its set.
    acceptor: *const Node,
    pub(super) mask: u64,
    /// The call that the present hold of the set is which this core leads, if an acceptor waits for its end.
    pub(super) call: Option<Acceptance>,
    /// The number of the last accepted call.
    acceptance: Acceptance,
}

/// An accepted call, by its number: what its acceptor is known by, which may be gone while others wait behind it.
pub(super) type Acceptance = NonZeroU32;

// SAFETY: nodes stay where they are for as long as they are in a list or here, which changes under the lock alone.
unsafe impl Send for State {}

impl State {
    /// That of a monitor that nobody holds.
    pub(super) fn new() -> Self {
        Self {
            owned: false,
            entry: List::new(),
            urgent: List::new(),
            signalled: ptr::null(),
            acceptor: ptr::null(),
            mask: 0,
            call: None,
            acceptance: Acceptance::MIN,
        }
    }

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
    pub(super) fn forget_call(&mut self) {
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
    pub(super) fn is_accepted(&self, cores: Cores<'_>) -> bool {
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
    pub(super) fn follow_acceptor(&mut self, op: Op) {
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
    pub(super) fn take_acceptor(&mut self, op: Op) -> WordWaker {
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
    pub(super) fn break_off(&mut self) {
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
