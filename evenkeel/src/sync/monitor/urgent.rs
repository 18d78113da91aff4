//! The list of tasks that go before all entrants.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::held::breaks_off;
use super::node::{Kind, List, Node, Place, Ticket};
use super::reservation::Reservation;
use super::state::Acceptance;
use super::watch;
use std::ptr::NonNull;

/// Signalled waiters, and signallers and acceptors that come back, the next one first. All of them
/// want the same set.
///
/// The list belongs to a core, and the core's lock guards it, or to a
/// [reservation](super::reservation). Then the reservation's lock and its leader's lock guard it.
/// The leader's lock guards the tickets in both.
pub(super) struct Urgent {
    list: List,
    /// The last node that the present holder has signalled: the next one goes behind it. None if
    /// the list is empty, and in a reservation.
    signalled: Option<NonNull<Node>>,
}

// SAFETY: nodes stay where they are for as long as they are in the list, which changes under its
// locks alone.
unsafe impl Send for Urgent {}

impl Urgent {
    /// Creates an empty list for a core.
    pub(super) const fn new() -> Self {
        Self { list: List::new(), signalled: None }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The next node.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<NonNull<Node>> {
        self.list.front()
    }

    /// Takes the next node out.
    #[inline(always)]
    pub(super) fn pop<'a>(&mut self) -> Option<&'a Node> {
        self.list.take()
    }

    /// Begins a new batch, since the set goes to another holder.
    #[inline(always)]
    pub(super) fn end_batch(&mut self) {
        self.signalled = None;
    }

    /// Puts a node that the holder signals behind those that it has signalled before.
    ///
    /// # Safety
    /// It waits with the leader's lock, which the caller has, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn push_signalled(&mut self, node: &Node) {
        // SAFETY: the caller's promise; the last signalled node is on the list.
        unsafe { self.insert(self.signalled, node) };
        self.signalled = Some(node.into());
        watch::signalled(node);
    }

    /// Puts a node behind `prev`, or first if that is none.
    ///
    /// # Safety
    /// As [`push_signalled`](Self::push_signalled), and `prev` is on this list.
    #[inline(always)]
    unsafe fn insert(&mut self, prev: Option<NonNull<Node>>, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { node.with(|ticket| ticket.place = Place::Urgent) };
        // SAFETY: as above; its future takes it out before it ends.
        unsafe { self.list.insert(prev, node.into()) };
    }

    /// Puts a node first, which begins a new batch.
    ///
    /// # Safety
    /// As [`push_signalled`](Self::push_signalled).
    #[inline(always)]
    pub(super) unsafe fn push_first(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.insert(None, node) };
        self.end_batch();
    }

    /// Puts a node behind all others.
    ///
    /// # Safety
    /// As [`push_signalled`](Self::push_signalled).
    pub(super) unsafe fn push_last(&mut self, node: &Node) {
        // SAFETY: the caller's promise; the last node is on the list.
        unsafe { self.insert(self.list.back(), node) };
    }

    /// Takes out a node that gives up its wait. `instead` takes its place.
    ///
    /// # Safety
    /// `node` is on this list; `instead` is as for [`push_signalled`](Self::push_signalled).
    pub(super) unsafe fn replace(&mut self, node: &Node, instead: Option<&Node>) {
        if let Some(instead) = instead {
            // SAFETY: the caller's promise.
            unsafe { self.insert(Some(node.into()), instead) };
            // SAFETY: they wait with the leader's lock.
            let there = unsafe { node.with(|ticket| ticket.reservation) };
            // SAFETY: as above.
            unsafe { instead.with(|ticket| mark(ticket, there)) };
            watch::signalled(instead);
        }
        // SAFETY: the caller's promise.
        let before = unsafe { self.list.remove(node.into()) };
        if self.signalled == Some(node.into()) {
            self.signalled = instead.map(NonNull::from).or(before);
        }
    }

    /// Takes out a node that has given its hold away. If that hold is a call that breaks off, the
    /// call's acceptor learns it.
    ///
    /// # Safety
    /// It is on this list, and the caller has the leader's lock.
    pub(super) unsafe fn remove(&mut self, node: &Node) {
        // SAFETY: it waits with the leader's lock.
        if let Some(call) = unsafe { node.with(|ticket| ticket.call) }
            && breaks_off()
        {
            self.break_call(call);
        }
        // SAFETY: the caller's promise.
        unsafe { self.replace(node, None) };
    }

    /// If the acceptor of this call is on the list, tells it that the call has broken off. The
    /// caller has the leader's lock.
    #[cold]
    pub(super) fn break_call(&mut self, call: Acceptance) {
        let is_its =
            |ticket: &mut Ticket| ticket.kind == Kind::Acceptor && ticket.accepted == Some(call);
        if let Some(acceptor) = self.list.find(is_its) {
            // SAFETY: it is on this list.
            unsafe { acceptor.with(|ticket| ticket.broken = true) };
        }
    }

    /// Moves all nodes to the list of reservation `there`, or of a core if that is null. The caller
    /// has the leader's lock.
    pub(super) fn take_for(&mut self, there: *const Reservation) -> Self {
        self.end_batch();
        for node in self.list.iter() {
            // SAFETY: it is on the list, so it is there.
            let node = unsafe { node.as_ref() };
            // SAFETY: it waits with the leader's lock.
            unsafe { node.with(|ticket| mark(ticket, there)) };
        }
        std::mem::replace(self, Self::new())
    }
}

/// Marks a ticket with the list that its node is on: that of reservation `there`, or of a core if
/// that is null.
fn mark(ticket: &mut Ticket, there: *const Reservation) {
    ticket.place = if there.is_null() { Place::Urgent } else { Place::Reserved };
    ticket.reservation = there;
}
