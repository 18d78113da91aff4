//! What a monitor's lock guards: who holds it, who waits for it, and what becomes of them.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::Cores;
use super::held::breaks_off;
use super::node::{List, Node, Op, Place, Ticket};
use super::reservation::{Entry, Reservation, Stack};
use super::urgent::Urgent;
use crate::task::word_waker::WordWaker;
use std::num::NonZeroU32;
use std::ptr;

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State {
    /// Whether a hold has it, or a reservation to which it has come back.
    pub(super) owned: bool,
    /// Those who want to enter, first come first served.
    pub(super) entry: List,
    /// Those who go before them, the next one first. All of them want the set that is held now.
    pub(super) urgent: Urgent,
    /// What the core is reserved for once no task is urgent, the next one on top.
    reservations: Stack,
    /// The acceptor that waits for a call, or null, and for which. It holds its set.
    acceptor: *const Node,
    pub(super) mask: u64,
    /// The call that the present hold of the set is which this core leads, if an acceptor waits for
    /// its end.
    pub(super) call: Option<Acceptance>,
    /// The number of the last accepted call.
    acceptance: Acceptance,
}

/// An accepted call, by its number: what its acceptor is known by, which may be gone while others
/// wait behind it.
pub(super) type Acceptance = NonZeroU32;

// SAFETY: nodes stay where they are for as long as they are in a list or here, which changes under
// the lock alone.
unsafe impl Send for State {}

impl State {
    /// That of a monitor that nobody holds.
    pub(super) fn new() -> Self {
        Self {
            owned: false,
            entry: List::new(),
            urgent: Urgent::new(),
            reservations: Stack::new(),
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

    /// The same, by a part holder that does not borrow the leader: a task is on the list.
    pub(super) fn pass_on_from_part(&mut self) -> WordWaker {
        let next = self.urgent.pop().expect("a task is urgent");
        // SAFETY: it has just been taken out of this core's list.
        unsafe { self.prepare(next) };
        // SAFETY: as above.
        unsafe { next.grant_by_part() }
    }

    /// Gives the set that is held to a node, as the hold that it wants, and gives whom to wake.
    ///
    /// # Safety
    /// The node waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, next: &Node) -> WordWaker {
        // SAFETY: the caller's promise.
        unsafe { self.prepare(next) };
        // SAFETY: the caller's promise.
        unsafe { next.grant() }
    }

    /// Makes the hold that a node wants the present one of the set: the node is to be granted.
    ///
    /// # Safety
    /// As [`give`](Self::give).
    #[inline(always)]
    unsafe fn prepare(&mut self, next: &Node) {
        self.urgent.end_batch();
        let give = |ticket: &mut Ticket| {
            ticket.whole = true;
            ticket.call
        };
        // SAFETY: the caller's promise.
        self.call = unsafe { next.with(give) };
    }

    /// Gives the core to the first of the entry queue, or leaves it free. No task is urgent, and it
    /// is not reserved. Gives whom to wake.
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

    /// The same, once.
    pub(super) fn take_call(&mut self) -> Option<Acceptance> {
        self.call.take()
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
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_signalled(node) };
    }

    /// Puts a node first on the urgent list: who gives its set to somebody else and goes on after
    /// that one.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn push_urgent(&mut self, node: &Node) {
        // Whoever holds the set next begins anew.
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_first(node) };
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
        // SAFETY: whoever waits for a call is there until it has been removed from here, under the
        // lock.
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

    /// Tells the acceptor of the holder's call, if there is one and the call does not come to its
    /// end, that it has broken off.
    #[inline(always)]
    pub(super) fn break_off(&mut self) {
        if let Some(call) = self.call
            && breaks_off()
        {
            self.urgent.break_call(call);
        }
    }

    /// Puts one that waits for the end of the object behind all others.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    pub(super) unsafe fn push_last(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_last(node) };
    }

    /// Reserves the core, which is held: it goes there once it is left and no task is urgent. Gives
    /// what is no longer of account.
    pub(super) fn reserve(&mut self, entry: Box<Entry>) -> Stack {
        self.reservations.push(entry)
    }

    /// Ends the hold of the core, no task being urgent, and gives what it is reserved for. None if
    /// that is nothing: then it is held as before.
    pub(super) fn release_reserved(&mut self) -> Option<Box<Entry>> {
        let entry = self.reservations.take()?;
        self.call = None;
        Some(entry)
    }

    #[inline(always)]
    pub(super) fn is_reserved(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Whether nothing and no task is to have the core next. One comparison for all three: a
    /// release that no task waits for does little else.
    #[inline(always)]
    pub(super) fn is_unclaimed(&self) -> bool {
        let next = self.urgent.front().addr() | self.entry.front().addr();
        next | self.reservations.top().addr() == 0
    }

    /// What the core is reserved for, the next one first.
    pub(super) fn reservations(&self) -> impl Iterator<Item = &Reservation> {
        self.reservations.iter()
    }
}
