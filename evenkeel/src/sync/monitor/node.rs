//! A waiting task's place in a queue.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::{CoreRef, Cores};
use super::reservation::Reservation;
use super::state::Acceptance;
use crate::detect::{self, Site, Waiting};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::list::{self, Link, Linked};
use crate::primitives::wait_word::{WaitWord, Word};
use crate::task::word_waker::WordWaker;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Waiting nodes in order. The lock that guards the list guards the tickets of its nodes too.
pub(super) type List = list::List<Node>;

/// The node of a task that waits. It lies in the task's future, which stays where it is, and takes
/// the node out of its queue when it is dropped.
///
/// A new node has one written word; the ticket is written when the node joins a queue, because most
/// entrants never wait. The future knows whether its node has joined a queue, and does not read the
/// node before.
#[repr(C)]
pub(super) struct Node {
    /// Ends as [`GRANTED`].
    pub(super) word: WaitWord,
    link: Link<Self>,
    /// Initialized from the first queue on. While the node waits, the lock of the core where it
    /// waits guards the ticket; before and after that it belongs to the future.
    ticket: UnsafeCell<MaybeUninit<Ticket>>,
    /// Where the future was made.
    pub(super) site: Site,
}

/// What other tasks can read of a waiting node, and what they write for its future.
pub(super) struct Ticket {
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
    /// The call that its hold is, if an acceptor waits for the end of that call; or that its hold
    /// continues calls.
    pub(super) call: Option<Acceptance>,
    /// For an acceptor: the call that it has accepted.
    pub(super) accepted: Option<Acceptance>,
    /// The reservation with the urgent list that it is on, or null.
    pub(super) reservation: *const Reservation,
}

/// Where a node waits. Once it is granted, this is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
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

/// The mark of a new node, which is not read.
const NEW: usize = 0;

/// The mark of a node that was granted what it has waited for.
const GRANTED: usize = 2;

// SAFETY: it is the node's only link.
unsafe impl Linked for Node {
    #[inline(always)]
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

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
            word: WaitWord::new(NEW),
            link: Link::new(),
            ticket: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Whether it was granted what it has waited for; a *yes* synchronizes with the grant. It has
    /// joined a queue. A *no* is not certain: its future looks again with the lock, by
    /// [`is_over`](Self::is_over).
    #[inline(always)]
    pub(super) fn is_granted(&self) -> bool {
        self.word.mark() == GRANTED
    }

    /// The same, for its future, which has the lock of the core where it waits or has waited. The
    /// answer is certain, and the thread that granted it has released the lock.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        !self.word.is_waiting()
    }

    /// Writes a ticket for a wait at `place`. The node is in no queue, and belongs to the caller.
    #[inline(always)]
    pub(super) fn fill(&self, kind: Kind, place: Place, cores: Cores<'_>, op: Op) {
        let ticket = Ticket {
            leader: cores.leader,
            rest: NonNull::from(cores.rest).cast(),
            count: cores.rest.len() as u32,
            op,
            place,
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

    /// The task that waits.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock of the core where it waits, or of the
    /// reservation with its list.
    pub(super) unsafe fn waiting(&self) -> Option<Waiting> {
        // SAFETY: the caller's promise.
        unsafe { self.word.peek(WordWaker::waiting) }
    }

    /// Ends its wait with success, and returns its waker. After this the future may have freed the
    /// node.
    ///
    /// # Safety
    /// The node waits, is in no queue any more, and the caller has the lock of the core where it
    /// waited.
    #[inline(always)]
    pub(super) unsafe fn grant(&self) -> WordWaker {
        detect::granted(ptr::from_ref(self).cast());
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(self.word.end(GRANTED)) }
    }

    /// Ends its wait without success, and returns its waker. The node is not used any more.
    ///
    /// # Safety
    /// As [`grant`](Self::grant).
    pub(super) unsafe fn give_up(&self) -> WordWaker {
        detect::gone(ptr::from_ref(self).cast());
        // SAFETY: as in `grant`.
        unsafe { WordWaker::from_raw(self.word.waker()) }
    }
}

impl List {
    /// Takes the first node out. Unless it is granted, it stays valid for as long as the lock is
    /// held.
    #[inline(always)]
    pub(super) fn take<'a>(&mut self) -> Option<&'a Node> {
        // SAFETY: it was in the list, so it is there until it is granted or the lock is released.
        self.pop().map(|node| unsafe { node.as_ref() })
    }

    /// Returns the first node with a ticket that `wanted` accepts.
    pub(super) fn find<'a>(&self, wanted: impl Fn(&mut Ticket) -> bool) -> Option<&'a Node> {
        // SAFETY: each is in the list, so it is there until the lock is released.
        let mut nodes = self.iter().map(|node| unsafe { node.as_ref() });
        // SAFETY: the lock that guards the list guards the tickets of its nodes.
        nodes.find(|node| unsafe { node.with(&wanted) })
    }
}
