//! Mailboxes: bounded queues of messages, in the tasks of their actors.
//!
//! # Roles
//! *Senders* put messages in, under the lock. The *actor* takes them, by its [`Receiver`], without
//! the lock where it can. Others give the actor [orders](crate::kin::order::Order), which come
//! before messages.
//!
//! # Where messages lie
//! A few small ones lie in [`Slots`], in the mailbox itself. What does not fit there goes to the
//! `queue`, under the lock, until the actor has taken all that is in the slots; then it takes the
//! whole queue at once, as its `batch`. So three queues are one: the batch is older than the slots,
//! and the slots are older than the queue.
//!
//! # Invariants
//! While the queue has messages the flag `QUEUE` is set, and then nothing is put into the slots. It
//! is cleared by the actor alone, under the lock, when the slots are empty and it takes the queue.
//! `ORDERS` is set while there are orders, or a timer of the actor has rung. Both are set under the
//! lock, and read by the actor before it parks, under the lock ([`Part::after_poll`]), so it parks
//! only when there is nothing.
//!
//! # Room
//! The messages in slots and queue count against the capacity, the batch does not; nor do orders. A
//! sender that waits takes a ticket (see [`waiting`]); from then on others may not overtake it:
//! `crowded` says so. The actor calls tickets when it takes something and `WAITING` is set, at the
//! latest when it finds nothing more, so a sender that waits is called before the actor parks.
//!
//! # The end
//! `close` marks the berth under the lock, after which nothing is put in, and takes everything out:
//! messages become dead letters, and who waits is told. From then until all have been told
//! `TELLING` is set: who asks for the end meanwhile is noted as if the actor were there still, and
//! told last. Of an actor of which nobody is to be told anything, which is most, the end is one
//! step, under the lock.
//!
//! # Rejected
//! A lock-free queue of linked nodes: an allocation per message, 20 ns, where this takes none. One
//! lock for putting and taking: a locked instruction more per message, 5 of 20 ns. A ring of the
//! full capacity: a kilobyte per actor before its first message.

#![allow(
    unsafe_code,
    reason = "the batch has one party, and a right goes from the berth to its task"
)]

mod close;
mod counts;
mod orders;
pub(crate) mod overflow;
mod put;
mod receiver;
mod ring;
mod shared;
pub(crate) mod timers;
mod waiting;

pub(crate) use close::Left;
pub(crate) use orders::{attend, look_at_timers, note, order, tell};
pub(crate) use put::{Put, give_back, put, put_or_wait, put_with_ticket};
pub(crate) use receiver::{Next, Receiver};
pub(crate) use ring::MOST;
pub(crate) use waiting::Ticket;

use crate::policy::Priority;
use crate::system::System;
use crate::trace::{Parcel, Subject};
use crate::words::id::{ActorId, HasId};

use evenkeel::internal::{
    After, Berth, Own, Part, Public, Right, Slots, SpinGuard, SpinLock, contain,
};
use overflow::{Full, Overflow};
use ring::Ring;
use shared::{Door, Shared};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::task::Waker;

/// What a mailbox begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    capacity: u32,
    full: Full,
    measured: bool,
    pub(crate) priority: Priority,
}

impl Settings {
    pub(crate) fn new<P: Overflow>(capacity: u32) -> Self {
        Self { capacity, full: P::FULL, measured: false, priority: Priority::Normal }
    }

    /// Has the actor's busy time be measured.
    pub(crate) fn measured(self) -> Self {
        Self { measured: true, ..self }
    }
}

/// There are messages in the queue.
const QUEUE: u16 = 1;
/// There are orders.
const ORDERS: u16 = 2;
/// Senders wait for room.
const WAITING: u16 = 4;
/// Nothing more is put in, and the actor ends when it has handled what is there.
const DRAINS: u16 = 8;
/// The slots are not used.
const PLAIN: u16 = 16;
/// The actor has children.
const CHILDREN: u16 = 32;
/// A supervised actor is to look at its post.
const DUE: u16 = 64;
/// The actor is supervised.
const POST: u16 = 128;
/// The system is to be told of the end: it knows the actor by a name or in a group.
const KNOWN: u16 = 256;
/// The actor has timers.
const TIMED: u16 = 512;
/// Its polls are timed.
const MEASURED: u16 = 1_024;
/// Its system is another than that of the process.
const APART: u16 = 2_048;
/// The mailbox is closed, and others are being told of the end.
const TELLING: u16 = 4_096;

/// In this order the header of the task and what the lock guards share a cache line, and what
/// senders and actor share besides lies in the next.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Mailbox<M: 'static> {
    shared: SpinLock<Shared<M>>,
    flags: AtomicU16,
    /// Whether the actor has found nothing in its present poll and waits for nothing else.
    parks: AtomicBool,
    system: System,
    slots: Slots<Parcel<M>>,
    /// The actor's own.
    batch: UnsafeCell<Ring<Parcel<M>>>,
}

// SAFETY: `batch` is used by the actor alone, which is in one place at a time.
unsafe impl<M: Send + 'static> Sync for Mailbox<M> {}

impl<M: 'static> Mailbox<M> {
    #[inline(always)]
    fn has(&self, flag: u16) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }

    /// Sets or clears a flag. The caller holds the lock, so nobody else does.
    #[inline(always)]
    fn set(&self, flag: u16, on: bool) {
        let flags = self.flags.load(Ordering::Relaxed);
        self.flags.store(if on { flags | flag } else { flags & !flag }, Ordering::Relaxed);
    }
}

impl<M: Send + 'static> Mailbox<M> {
    #[inline]
    pub(crate) fn new(settings: Settings, system: System) -> Self {
        let Settings { capacity, full, measured, priority: _ } = settings;
        // Whoever drops the oldest takes from the other end, which in the slots is the actor's.
        let plain = full == Full::DropOldest || capacity < Slots::<Parcel<M>>::PLACES;
        let flags = [(plain, PLAIN), (measured, MEASURED), (!system.is_of_process(), APART)];
        let flags = flags.into_iter().fold(0, |all, (on, flag)| if on { all | flag } else { all });
        let shared =
            Shared { berth: Berth::new(), door: Door::Open, crowded: plain, capacity, rest: None };
        Self {
            shared: SpinLock::new(shared),
            slots: Slots::new(),
            batch: UnsafeCell::new(Ring::new()),
            system,
            flags: AtomicU16::new(flags),
            parks: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.shared.lock().berth.is_closed()
    }

    pub(crate) fn system(&self) -> System {
        self.system
    }

    pub(crate) fn capacity(&self) -> usize {
        self.shared.lock().capacity as usize
    }

    /// How many messages wait.
    pub(crate) fn depth(&self) -> usize {
        let shared = self.shared.lock();
        self.slots.len() as usize + shared.rest.as_ref().map_or(0, |rest| rest.queue.len())
    }
}

/// Wakes, outside of the lock: foreign wakers are a caller's code, and one that panics keeps
/// neither the others nor an end from those they concern.
fn wake_all(wakers: Vec<Waker>) {
    for waker in wakers {
        contain(|| waker.wake());
    }
}

impl<M: 'static> Part for Mailbox<M> {
    #[inline(always)]
    fn after_poll(&self, right: Right<'_>) -> After {
        if !self.parks.load(Ordering::Relaxed) {
            return After::Wait;
        }
        self.parks.store(false, Ordering::Relaxed);
        let mut shared = self.shared.lock();
        if !self.slots.is_empty() || self.has(QUEUE | ORDERS | DUE) {
            return After::Again;
        }
        shared.berth.park(right)
    }

    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R {
        f(&mut self.shared.lock().berth)
    }
}

/// Leaves the lock, and queues the actor if it is parked.
#[inline(always)]
fn leave<M: Send + 'static>(to: &Public<Mailbox<M>>, mut shared: SpinGuard<'_, Shared<M>>) {
    let parked = shared.berth.take();
    drop(shared);
    if let Some(parked) = parked {
        // SAFETY: the right has lain in this actor's berth.
        unsafe { to.resume(parked) };
    }
}

impl<M: Send + 'static> HasId for Public<Mailbox<M>> {
    fn id(&self) -> ActorId {
        ActorId::here(self.task_id())
    }
}

impl<M: Send + 'static> HasId for Own<Mailbox<M>> {
    fn id(&self) -> ActorId {
        ActorId::here(self.task_id())
    }
}

/// As traces have it.
#[cfg(feature = "tracing")]
macro_rules! subject {
    () => {
        fn name(&self) -> Option<std::sync::Arc<str>> {
            self.called()
        }

        fn node(&self) -> Option<u32> {
            self.system().node()
        }
    };
}
#[cfg(not(feature = "tracing"))]
macro_rules! subject {
    () => {};
}

impl<M: Send + 'static> Subject for Public<Mailbox<M>> {
    subject!();
}

impl<M: Send + 'static> Subject for Own<Mailbox<M>> {
    subject!();
}
