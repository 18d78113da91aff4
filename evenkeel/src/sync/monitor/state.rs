//! What a monitor's lock guards: whether it is held, the tasks that wait for it, and how it passes
//! on.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::Cores;
use super::held::breaks_off;
use super::node::{List, Node, Op, Ticket};
use super::reservation::{Entry, Reservation, Stack};
use super::urgent::Urgent;
use crate::task::word_waker::WordWaker;
use std::mem;
use std::num::NonZeroU32;
use std::ptr::{self, NonNull};

/// What the lock guards.
pub(super) struct State {
    /// Whether a hold has the core, or a reservation to which it has come back.
    pub(super) owned: bool,
    /// The entrants, first come first served.
    pub(super) entry: List,
    /// The nodes that go before entrants, the next one first. All of them want the set that is held
    /// now.
    pub(super) urgent: Urgent,
    /// The reservations that get the core once no task is urgent, the next one on top.
    reservations: Stack,
    /// The acceptor that waits for a call, or null; `mask` has the operations that it accepts. It
    /// holds its set.
    acceptor: *const Node,
    pub(super) mask: u64,
    /// The numbers of the other cores of the set of the last acceptor that has waited with several.
    /// Another monitor may come to the place of one whose acceptor's future was forgotten. Boxed:
    /// one word of each monitor, most of which never have any.
    others: Option<Box<Others>>,
    /// The call that presently holds the set that this core leads, if an acceptor waits for its
    /// end, or [`CONTINUES`].
    pub(super) call: Option<Acceptance>,
    /// The number of the last accepted call.
    acceptance: Acceptance,
}

/// The number of an accepted call. It identifies the call's acceptor, which may be gone while
/// others wait behind it.
pub(super) type Acceptance = NonZeroU32;

/// In place of a number: the hold continues calls that [reservations](super::reservation) have. Of
/// a set that is held, only the leader says so.
pub(super) const CONTINUES: Acceptance = Acceptance::MIN;

/// The number of a first call.
const FIRST: Acceptance = CONTINUES.saturating_add(1);

// SAFETY: nodes stay where they are for as long as a list or this state points to them, and both
// change only under the lock.
unsafe impl Send for State {}

/// The numbers of all cores of a set but its leader.
pub(super) type Others = Vec<u64>;

/// Returns them; `None` if the leader is alone.
#[inline]
pub(super) fn others_of(cores: Cores<'_>) -> Option<Box<Others>> {
    (!cores.rest.is_empty()).then(|| Box::new(numbers(cores).collect()))
}

fn numbers(cores: Cores<'_>) -> impl Iterator<Item = u64> {
    // SAFETY: the set borrows its monitors.
    cores.rest.iter().map(|core| unsafe { core.get() }.id())
}

impl State {
    /// The state of a free monitor.
    pub(super) const fn new() -> Self {
        Self {
            owned: false,
            entry: List::new(),
            urgent: Urgent::new(),
            reservations: Stack::new(),
            acceptor: ptr::null(),
            mask: 0,
            others: None,
            call: None,
            acceptance: CONTINUES,
        }
    }

    /// Gives the set to the next node on the urgent list, and returns the waker of its task.
    #[inline(always)]
    pub(super) fn pass_on(&mut self) -> Option<WordWaker> {
        let next = self.urgent.pop()?;
        // SAFETY: it has just been taken out of this core's list.
        Some(unsafe { self.give(next) })
    }

    /// Gives the held set to a node, as the hold that it wants, and returns the waker of its task.
    ///
    /// # Safety
    /// The node waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, next: &Node) -> WordWaker {
        self.urgent.end_batch();
        let give = |ticket: &mut Ticket| {
            ticket.whole = true;
            ticket.call
        };
        // SAFETY: the caller's promise.
        self.call = unsafe { next.with(give) };
        // SAFETY: the caller's promise.
        unsafe { next.grant() }
    }

    /// Gives the core to the first entrant, and returns the waker of its task, or leaves the core
    /// free. No task is urgent, and the core is not reserved.
    #[inline(always)]
    pub(super) fn release(&mut self) -> Option<WordWaker> {
        self.call = None;
        match self.entry.take() {
            // SAFETY: it has just been taken out of this core's queue; it waits.
            Some(next) => Some(unsafe { next.grant() }),
            None => {
                self.owned = false;
                None
            }
        }
    }

    /// Returns the call that the present hold is, for a holder that gives the hold away and comes
    /// back.
    #[inline(always)]
    pub(super) fn call(&self) -> Option<Acceptance> {
        self.call
    }

    /// Whether the hold continues calls that reservations have.
    #[inline(always)]
    pub(super) fn continues(&self) -> bool {
        self.call == Some(CONTINUES)
    }

    #[inline(always)]
    pub(super) fn forget_call(&mut self) {
        self.call = None;
    }

    /// Puts a node that the holder signals behind those that it has signalled before.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn push_signalled(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_signalled(node) };
    }

    /// Puts the node of a signaller or an acceptor first on the urgent list: it gives its set away,
    /// and goes on after the task that receives it.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    #[inline(always)]
    pub(super) unsafe fn push_urgent(&mut self, node: &Node) {
        // The next holder begins a new batch.
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_first(node) };
    }

    /// Takes a node out of the entry queue.
    ///
    /// # Safety
    /// It is in this core's entry queue.
    #[inline(always)]
    pub(super) unsafe fn remove_entry(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.entry.remove(node.into()) };
    }

    /// Returns the first entrant that calls one of `ops` on the set that this core leads.
    #[inline]
    pub(super) fn caller<'a>(&self, ops: u64, cores: Cores<'_>) -> Option<&'a Node> {
        self.entry.find(|ticket| ticket.op.is_in(ops) && ticket.wants(cores))
    }

    /// Installs an acceptor that waits for calls. Its future holds the set, with these
    /// [`others`](others_of); the node is in no queue and stays where it is.
    pub(super) fn put_acceptor(
        &mut self,
        node: &Node,
        mask: u64,
        others: &mut Option<Box<Others>>,
    ) {
        (self.acceptor, self.mask) = (node, mask);
        if others.is_some() {
            // The caller drops the last one's, without the lock.
            mem::swap(&mut self.others, others);
        }
    }

    /// Removes the acceptor.
    pub(super) fn remove_acceptor(&mut self) {
        (self.acceptor, self.mask) = (ptr::null(), 0);
    }

    /// Whether the waiting acceptor holds this set.
    pub(super) fn is_accepted(&self, cores: Cores<'_>) -> bool {
        let acceptor = self.acceptor();
        // SAFETY: it waits with this core's lock.
        let is_same = unsafe { acceptor.with(|ticket| ticket.wants(cores)) };
        // By address it is. So it is as long, and the acceptor has left the numbers of these.
        is_same && (cores.rest.is_empty() || self.has_left(cores))
    }

    /// Whether the acceptor has left the numbers of these cores, all but the leader's.
    fn has_left(&self, cores: Cores<'_>) -> bool {
        let others = self.others.iter().flat_map(|others| others.iter().copied());
        others.eq(numbers(cores))
    }

    fn acceptor<'a>(&self) -> &'a Node {
        // SAFETY: the acceptor's node is there until it is removed from here, under the lock.
        unsafe { self.acceptor.as_ref() }.expect("there is a mask, and so an acceptor")
    }

    /// Returns a number for a call that is about to be accepted.
    #[inline(always)]
    pub(super) fn next_acceptance(&mut self) -> Acceptance {
        self.acceptance = self.acceptance.checked_add(1).unwrap_or(FIRST);
        self.acceptance
    }

    /// Gives the acceptor's set to the call that the acceptor has waited for.
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

    /// Lets the acceptor go on at once, since a caller of `op` has come. Returns its waker.
    pub(super) fn take_acceptor(&mut self, op: Op) -> WordWaker {
        let acceptor = self.acceptor();
        self.remove_acceptor();
        let note = |ticket: &mut Ticket| {
            (ticket.op, ticket.whole) = (op, true);
        };
        // SAFETY: it waits with this core's lock.
        unsafe { acceptor.with(note) };
        // SAFETY: as above, and it is in no queue.
        unsafe { acceptor.grant() }
    }

    /// If the holder's call has an acceptor and has not ended, tells the acceptor that the call has
    /// broken off. If the hold continues a call in this core, tells that one's reservation.
    #[inline(always)]
    pub(super) fn break_off(&mut self) {
        if let Some(call) = self.call
            && breaks_off()
        {
            match call {
                CONTINUES => self.reservations.break_off(None),
                call => self.urgent.break_call(call),
            }
        }
    }

    /// Puts a node that waits for the end of the object behind all other urgent nodes.
    ///
    /// # Safety
    /// It waits with this core's lock, and is in no queue.
    pub(super) unsafe fn push_last(&mut self, node: &Node) {
        // SAFETY: the caller's promise.
        unsafe { self.urgent.push_last(node) };
    }

    /// Reserves the held core: the reservation gets it once it is left and no task is urgent.
    /// Returns the entries of closed reservations.
    pub(super) fn reserve(&mut self, entry: Box<Entry>) -> Stack {
        self.reservations.push(entry)
    }

    /// The stack of reservations.
    pub(super) fn stack(&mut self) -> &mut Stack {
        &mut self.reservations
    }

    /// Ends the hold of the core, and returns the top reservation. No task is urgent. Returns None
    /// if the core is not reserved: then it stays held.
    pub(super) fn release_reserved(&mut self) -> Option<Box<Entry>> {
        let entry = self.reservations.take()?;
        self.call = None;
        Some(entry)
    }

    #[inline(always)]
    pub(super) fn is_reserved(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Whether no urgent task, no entrant and no reservation gets the core next. One comparison for
    /// all three: a release that no task waits for does little else.
    #[inline(always)]
    pub(super) fn is_unclaimed(&self) -> bool {
        let address = |node: Option<NonNull<Node>>| node.map_or(0, |node| node.addr().get());
        let next = address(self.urgent.front()) | address(self.entry.front());
        next | self.reservations.top().addr() == 0
    }

    /// The reservations of the core, the next one first.
    pub(super) fn reservations(&self) -> impl Iterator<Item = &Reservation> {
        self.reservations.iter()
    }
}
