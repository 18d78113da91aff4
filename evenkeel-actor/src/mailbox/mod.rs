//! Mailboxes: bounded queues of messages, in the tasks of their actors.
//!
//! # Roles
//! *Senders* put messages in, under the lock. The *actor* takes them, with its [`Receiver`],
//! without the lock where it can. Other threads give the actor [orders](crate::kin::order::Order),
//! which come before messages.
//!
//! # Where messages lie
//! A few small messages lie in [`Slots`], in the mailbox itself. A message that does not fit there
//! goes to the `queue`, under the lock, until the actor has emptied the slots. Then the actor takes
//! the whole queue at once, as its `batch`. So three queues are one: the batch is older than the
//! slots, and the slots are older than the queue.
//!
//! # Invariants
//! While the queue has messages the flag `QUEUE` is set, and senders put nothing into the slots.
//! Only the actor clears it, under the lock, when the slots are empty and it takes the queue.
//! `ORDERS` is set while orders are queued, or a timer of the actor has rung. `DRAIN` and `STOP`
//! are orders themselves, which need no memory, and are older than all that are queued. An order to
//! stop becomes one of them if no order is queued, and the actor has no relations with others:
//! supervisors, wards and parents look through the queue. `DRAIN` is older than `STOP`, as an order
//! to drain changes nothing after one to stop. All of these are set under the lock. The actor reads
//! them under the lock before it parks ([`Part::after_poll`]), so it parks only when it has nothing
//! to do.
//!
//! # Room
//! The messages in slots and queue count against the capacity; the batch and orders do not. A
//! sender that waits takes a ticket (see [`waiting`]). From then on other senders may not overtake
//! it, which `crowded` says. When `WAITING` is set, the actor calls tickets as it takes messages,
//! at the latest when it finds no more.
//!
//! The actor takes from the slots, and then reads `WAITING`, without the lock. A sender sets
//! `WAITING`, and then reads how much the slots hold. Without a fence between the two steps each
//! may miss the other. So the actor reads both once more under the lock before it parks, and goes
//! on if it can call a ticket: a sender that came before sees to that, and one that comes later
//! sees what the actor has taken, and calls its own ticket. (`primitives/slots.rs` of the library
//! has the model.)
//!
//! # The end
//! `close` marks the berth under the lock, after which senders put nothing in, and takes everything
//! out: messages become dead letters, and waiting senders are told. From then until all witnesses
//! have been told, `TELLING` is set. A witness that registers meanwhile is noted as if the actor
//! were still there, and is told last. If an actor's end concerns no other actor, as is most
//! common, the end is one step, under the lock ([`close_quietly`](Mailbox::close_quietly)). That
//! step takes out the futures that wait for the end, and the life tells them next: nothing else
//! comes before them. One that comes after the step finds the actor ended.
//!
//! # Rejected
//! A lock-free queue of linked nodes: an allocation per message, 20 ns, where this queue allocates
//! nothing.
//!
//! One lock for putting and taking: an additional locked instruction per message, 5 of 20 ns.
//!
//! A ring of the full capacity: a kilobyte per actor before its first message.

#![allow(
    unsafe_code,
    reason = "only the actor uses the batch, and a right goes from the berth to its task"
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

use evenkeel::internal::{After, Berth, Own, Part, Public, Right, Slots, SpinGuard, SpinLock};
use overflow::{Full, Overflow};
use ring::Ring;
use shared::{Door, Shared};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

/// The settings of a new mailbox.
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

    /// Measures the actor's busy time.
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
/// Senders put nothing in, and the actor ends when it has handled the messages that are there.
const DRAINS: u16 = 8;
/// The slots are not used.
const PLAIN: u16 = 16;
/// The actor has children.
const CHILDREN: u16 = 32;
/// A supervised actor is to look at its post.
const DUE: u16 = 64;
/// The actor is supervised.
const POST: u16 = 128;
/// The actor reports its end to the system, which knows it by a name or in a group.
const KNOWN: u16 = 256;
/// The actor has timers.
const TIMED: u16 = 512;
/// Its polls are timed.
const MEASURED: u16 = 1_024;
/// The actor belongs to a system other than the process's.
const APART: u16 = 2_048;
/// The mailbox is closed, and the life is telling others of the end.
const TELLING: u16 = 4_096;
/// The actor is ordered to stop after the present message, and has not taken this order yet.
const STOP: u16 = 8_192;
/// The actor is ordered to stop after the messages that are there, and has not taken this order
/// yet.
const DRAIN: u16 = 16_384;
/// There is something to do before messages.
const ORDERED: u16 = ORDERS | STOP | DRAIN;

/// In this order the header of the task and the fields under the lock share a cache line. The other
/// fields that senders and actor share lie in the next.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Mailbox<M: 'static> {
    shared: SpinLock<Shared<M>>,
    flags: AtomicU16,
    /// Whether the actor has found nothing to do in its current poll, and waits for nothing else.
    parks: AtomicBool,
    system: System,
    slots: Slots<Parcel<M>>,
    /// Used by the actor alone.
    batch: UnsafeCell<Ring<Parcel<M>>>,
}

// SAFETY: only the actor uses `batch`, and one thread at a time runs the actor.
unsafe impl<M: Send + 'static> Sync for Mailbox<M> {}

impl<M: 'static> Mailbox<M> {
    #[inline(always)]
    fn has(&self, flag: u16) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }

    /// Sets or clears a flag. The caller holds the lock, so no other thread does so.
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
        // A sender that drops the oldest message takes from the front, which in the slots is the
        // actor's end.
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

    /// Returns the number of messages that wait.
    pub(crate) fn depth(&self) -> usize {
        let shared = self.shared.lock();
        self.slots.len() as usize + shared.rest.as_ref().map_or(0, |rest| rest.queue.len())
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
        if !self.slots.is_empty() || self.has(QUEUE | ORDERED | DUE) {
            return After::Again;
        }
        // Places that are only promised bring the actor a message, and do not keep it from parking.
        if self.has(WAITING) && self.grants(&shared) > 0 {
            return After::Again;
        }
        shared.berth.park(right)
    }

    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R {
        f(&mut self.shared.lock().berth)
    }
}

/// Releases the lock, and queues the actor if it is parked.
#[inline(always)]
fn leave<M: Send + 'static>(to: &Public<Mailbox<M>>, mut shared: SpinGuard<'_, Shared<M>>) {
    let parked = shared.berth.take();
    drop(shared);
    if let Some(parked) = parked {
        // SAFETY: the right comes from this actor's berth.
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

/// The methods of a [`Subject`] with the feature `tracing`.
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
