//! A waiting task's place in a queue, and the queues.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::{CoreRef, Cores};
use super::reservation::Reservation;
use super::state::Acceptance;
use crate::detect::{self, Site, Waiting};
use crate::primitives::atomic::{AtomicPtr, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
#[cfg(loom)]
use crate::primitives::mutation::is_weak;
use crate::task::word_waker::WordWaker;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// The node of a task that waits. It lies in the task's future, which stays where it is, and takes
/// the node out of its queue when it is dropped.
///
/// A new node has one written word; the ticket is written when the node joins a queue, because most
/// entrants never wait. The future knows whether its node has joined a queue, and does not read the
/// node before.
#[repr(C)]
pub(super) struct Node {
    /// The task's waker while it waits, then [`GRANTED`] or [`GRANTED_BY_PART`].
    word: AtomicPtr<()>,
    /// Initialized from the first queue on. While the node waits, the lock of the core where it
    /// waits guards the ticket; before and after that it belongs to the future.
    ticket: UnsafeCell<MaybeUninit<Ticket>>,
    /// Where the future was made.
    pub(super) site: Site,
}

/// What other tasks can read of a waiting node, and what they write for its future.
pub(super) struct Ticket {
    next: *const Node,
    prev: *const Node,
    /// The set that it wants to hold: the leader, a pointer to the other cores in its future, and
    /// their number.
    leader: CoreRef,
    rest: NonNull<CoreRef>,
    count: u32,
    /// The operation that it calls. For an acceptor that has been granted, the operation that was
    /// called.
    pub(super) op: Op,
    pub(super) place: Place,
    pub(super) kind: Kind,
    /// Whether it was given its whole set at once.
    pub(super) whole: bool,
    /// For an acceptor: whether the call that it has accepted has broken off.
    pub(super) broken: bool,
    /// The call that its hold is, if an acceptor waits for the end of that call.
    pub(super) call: Option<Acceptance>,
    /// For an acceptor: the call that it has accepted.
    pub(super) accepted: Option<Acceptance>,
    /// The reservation with the urgent list that it is on, or null.
    pub(super) reservation: *const Reservation,
}

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
    /// In no queue.
    Nowhere,
    /// In a core's entry queue.
    Entry,
    /// On its leader's urgent list.
    Urgent,
    /// On the urgent list of a reservation.
    Reserved,
    /// In a condition's queue.
    Condition,
    /// The same, at the front: the holder prepares something for it, so its limit has no effect.
    Chosen,
    /// In no queue: an acceptor that waits for a call.
    Mask,
}

/// The role of the node's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Entry,
    Waiter,
    Signaller,
    Acceptor,
}

/// The operation that an entrant calls, by its number, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op(u8);

impl Op {
    pub(super) const NONE: Self = Self(u64::BITS as u8);
    /// The end of the object.
    pub(super) const END: Self = Self(63);

    /// The operation with this number, which is below 64.
    pub(super) fn new(number: u32) -> Self {
        Self(number as u8)
    }

    /// Whether it is one of `ops`.
    #[inline(always)]
    pub(super) fn is_in(self, ops: u64) -> bool {
        ops.checked_shr(self.0.into()).is_some_and(|ops| ops & 1 != 0)
    }
}

impl Ticket {
    /// Whether it wants this set. Its node waits, and the caller has the lock of the core where it
    /// waits.
    #[inline]
    pub(super) fn wants(&self, cores: Cores<'_>) -> bool {
        self.leader == cores.leader && self.count as usize == cores.rest.len() && {
            let mut own = self.rest;
            cores.rest.iter().all(|core| {
                // SAFETY: while the node waits, its future keeps `count` cores there.
                let same = unsafe { own.read() } == *core;
                // SAFETY: this was one of them, so the next address is another one or their end.
                own = unsafe { own.add(1) };
                same
            })
        }
    }
}

/// The word of a node that was granted what it has waited for.
const GRANTED: usize = 2;

/// The same, if the granting thread had the lock of the core without borrowing the core.
const GRANTED_BY_PART: usize = 6;

// SAFETY: one thread at a time reaches the ticket, as `Node::ticket` says, and its pointers are
// followed only under a lock.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new() -> Self {
        Self {
            site: Site::here(),
            word: AtomicPtr::new(ptr::null_mut()),
            ticket: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Whether it was granted what it has waited for; a *yes* synchronizes with the grant. It has
    /// joined a queue. A *no* is not certain: its future looks again with the lock, by
    /// [`is_over`](Self::is_over).
    #[inline(always)]
    pub(super) fn is_granted(&self) -> bool {
        self.word.load(edge(Edge::MonitorGranted, Ordering::Acquire)).addr() == GRANTED
    }

    /// The same, for its future, which has the lock of the core where it waits or has waited. The
    /// answer is certain, and the thread that granted it has released the lock.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        let word = self.word.load(edge(Edge::MonitorGranted, Ordering::Acquire)).addr();
        word == GRANTED || word == GRANTED_BY_PART
    }

    /// Writes a ticket. The node is in no queue, and belongs to the caller.
    #[inline(always)]
    pub(super) fn fill(&self, kind: Kind, cores: Cores<'_>, op: Op) {
        let ticket = Ticket {
            next: ptr::null(),
            prev: ptr::null(),
            leader: cores.leader,
            rest: NonNull::from(cores.rest).cast(),
            count: cores.rest.len() as u32,
            op,
            place: Place::Nowhere,
            kind,
            whole: false,
            broken: false,
            call: None,
            accepted: None,
            reservation: ptr::null(),
        };
        self.ticket.with_mut(|place| {
            // SAFETY: a node that is in no queue belongs to its future.
            unsafe { place.write(MaybeUninit::new(ticket)) };
        });
    }

    /// Reads or changes the ticket.
    ///
    /// # Safety
    /// The ticket has been filled. Either the node waits and the caller has the lock of the core
    /// where it waits, or it does not wait and the caller is its future. `f` does not reach the
    /// same node's ticket in another way.
    #[inline(always)]
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut Ticket) -> R) -> R {
        self.ticket.with_mut(|ticket| {
            // SAFETY: the caller's promise.
            let ticket = unsafe { &mut *ticket };
            // SAFETY: as above.
            f(unsafe { ticket.assume_init_mut() })
        })
    }

    /// Stores a waker: the node waits from now on. The caller has the lock of the core where it
    /// waits.
    #[inline(always)]
    pub(super) fn set_waiting(&self, waker: WordWaker) {
        self.word.store(waker.into_raw(), Ordering::Relaxed);
    }

    /// Whether the stored waker wakes the same task as `waker`.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock of the core where it waits.
    pub(super) unsafe fn has_left(&self, waker: &Waker) -> bool {
        // SAFETY: while the node waits, its word is a waker.
        unsafe { WordWaker::wakes_as(self.word.load(Ordering::Relaxed), waker) }
    }

    /// The task that waits.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock of the core where it waits.
    pub(super) unsafe fn waiting(&self) -> Option<Waiting> {
        // SAFETY: while the node waits, its word is a waker.
        unsafe { WordWaker::waiting(self.word.load(Ordering::Relaxed)) }
    }

    /// Stores another waker and returns the previous one.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock of the core where it waits.
    pub(super) unsafe fn renew(&self, waker: WordWaker) -> WordWaker {
        let before = self.word.load(Ordering::Relaxed);
        self.word.store(waker.into_raw(), Ordering::Relaxed);
        // SAFETY: the node waits, and the caller has the lock.
        detect::renewed(ptr::from_ref(self).cast(), || unsafe { self.waiting() });
        // SAFETY: while the node waits, its word is a waker; this one has been replaced.
        unsafe { WordWaker::from_raw(before) }
    }

    /// Ends its wait with success, and returns its waker. After this the future may have freed the
    /// node.
    ///
    /// # Safety
    /// The node waits, is in no queue any more, and the caller has the lock of the core where it
    /// waited.
    #[inline(always)]
    pub(super) unsafe fn grant(&self) -> WordWaker {
        // SAFETY: the caller's promise.
        unsafe { self.end(GRANTED) }
    }

    /// The same, for a caller that has the core's lock but does not borrow the core. The node's
    /// future takes that lock once before it goes on, and so does not free the core while it is in
    /// use.
    ///
    /// # Safety
    /// As [`grant`](Self::grant).
    pub(super) unsafe fn grant_by_part(&self) -> WordWaker {
        #[cfg(loom)]
        if is_weak(Edge::MonitorGrantedByPart) {
            // SAFETY: the caller's promise.
            return unsafe { self.grant() };
        }
        // SAFETY: the caller's promise.
        unsafe { self.end(GRANTED_BY_PART) }
    }

    /// Ends its wait with this word.
    ///
    /// # Safety
    /// As [`grant`](Self::grant).
    #[inline(always)]
    unsafe fn end(&self, word: usize) -> WordWaker {
        detect::granted(ptr::from_ref(self).cast());
        let waker = self.word.load(Ordering::Relaxed);
        let order = edge(Edge::MonitorGrant, Ordering::Release);
        self.word.store(ptr::without_provenance_mut(word), order);
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(waker) }
    }

    /// Ends its wait without success, and returns its waker. The node is not used any more.
    ///
    /// # Safety
    /// As [`grant`](Self::grant).
    pub(super) unsafe fn give_up(&self) -> WordWaker {
        detect::gone(ptr::from_ref(self).cast());
        let waker = self.word.load(Ordering::Relaxed);
        // SAFETY: as in `grant`.
        unsafe { WordWaker::from_raw(waker) }
    }
}

/// Nodes in order, linked through their tickets. The caller of each function has the lock that
/// guards the list, and that lock guards the tickets of its nodes too.
#[derive(Debug)]
pub(super) struct List {
    front: *const Node,
    back: *const Node,
}

// SAFETY: the nodes stay where they are until they have been taken out, under the lock that guards
// the list.
unsafe impl Send for List {}

impl List {
    pub(super) const fn new() -> Self {
        Self { front: ptr::null(), back: ptr::null() }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.front.is_null()
    }

    /// The first node, by the address with which it was put here, or null. If that address was
    /// derived from a larger structure that begins with the node, it is valid for all of the
    /// structure.
    #[inline(always)]
    pub(super) fn front(&self) -> *const Node {
        self.front
    }

    /// Puts a node last.
    ///
    /// # Safety
    /// It is in no queue, has a ticket, and stays where it is until it has been taken out.
    #[inline(always)]
    pub(super) unsafe fn push_back(&mut self, node: *const Node, place: Place) {
        // SAFETY: the caller's promise; the last node is in the list.
        unsafe { self.insert(self.back, node, place) };
    }

    /// Puts a node first.
    ///
    /// # Safety
    /// As [`push_back`](Self::push_back).
    pub(super) unsafe fn push_front(&mut self, node: &Node, place: Place) {
        // SAFETY: the caller's promise.
        unsafe { self.insert(ptr::null(), node, place) };
    }

    /// Puts a node behind `prev`, or first if that is null.
    ///
    /// # Safety
    /// As [`push_back`](Self::push_back), and `prev` is in this list.
    #[inline(always)]
    pub(super) unsafe fn insert(&mut self, prev: *const Node, node: *const Node, place: Place) {
        // SAFETY: `prev` is in the list, so it is there.
        let next = match unsafe { prev.as_ref() } {
            None => std::mem::replace(&mut self.front, node),
            // SAFETY: it is in the list.
            Some(prev) => unsafe { prev.with(|ticket| std::mem::replace(&mut ticket.next, node)) },
        };
        // SAFETY: the next node is in the list, so it is there.
        match unsafe { next.as_ref() } {
            None => self.back = node,
            // SAFETY: it is in the list.
            Some(next) => unsafe { next.with(|ticket| ticket.prev = node) },
        }
        let fill = |ticket: &mut Ticket| {
            (ticket.prev, ticket.next, ticket.place) = (prev, next, place);
        };
        // SAFETY: the caller's promise.
        let node = unsafe { &*node };
        // SAFETY: as above.
        unsafe { node.with(fill) };
    }

    /// Takes a node out, and returns the one before it.
    ///
    /// # Safety
    /// It is in this list.
    #[inline(always)]
    pub(super) unsafe fn remove(&mut self, node: &Node) -> *const Node {
        let take = |ticket: &mut Ticket| {
            ticket.place = Place::Nowhere;
            (ticket.prev, ticket.next)
        };
        // SAFETY: it is in the list.
        let (prev, next) = unsafe { node.with(take) };
        // SAFETY: the neighbours are in the list, so they are there.
        match unsafe { prev.as_ref() } {
            None => self.front = next,
            // SAFETY: it is in the list.
            Some(prev) => unsafe { prev.with(|ticket| ticket.next = next) },
        }
        // SAFETY: as above.
        match unsafe { next.as_ref() } {
            None => self.back = prev,
            // SAFETY: it is in the list.
            Some(next) => unsafe { next.with(|ticket| ticket.prev = prev) },
        }
        prev
    }

    /// Takes the first node out. Unless it is granted, it stays valid for as long as the lock is
    /// held.
    #[inline(always)]
    pub(super) fn pop<'a>(&mut self) -> Option<&'a Node> {
        // SAFETY: it is in the list, so it is there until the lock is released.
        let node = unsafe { self.front.as_ref()? };
        // SAFETY: it is the first one.
        unsafe { self.remove(node) };
        Some(node)
    }

    /// Changes the tickets of all nodes.
    pub(super) fn for_each(&mut self, change: impl Fn(&mut Ticket)) {
        let mut node = self.front;
        // SAFETY: it is in the list, so it is there until the lock is released.
        while let Some(here) = unsafe { node.as_ref() } {
            let visit = |ticket: &mut Ticket| {
                change(ticket);
                ticket.next
            };
            // SAFETY: it is in the list.
            node = unsafe { here.with(visit) };
        }
    }

    /// Returns the first node with a ticket that `wanted` accepts.
    pub(super) fn find<'a>(&self, wanted: impl Fn(&Ticket) -> bool) -> Option<&'a Node> {
        let mut node = self.front;
        // SAFETY: it is in the list, so it is there until the lock is released.
        while let Some(here) = unsafe { node.as_ref() } {
            // SAFETY: it is in the list.
            let (found, next) = unsafe { here.with(|ticket| (wanted(ticket), ticket.next)) };
            if found {
                return Some(here);
            }
            node = next;
        }
        None
    }
}
