//! Mailboxes: bounded queues of messages, in the tasks of their actors.
//!
//! # Roles
//! *Senders* put messages in, under the lock. The *actor* takes them, by its [`Receiver`], without the lock where it can. Others give the actor
//! [orders](Order), which come before messages.
//!
//! # Where messages lie
//! A few small ones lie in [`Slots`], in the mailbox itself. What does not fit there goes to the `queue`, under the lock, until the actor has taken
//! all that is in the slots; then it takes the whole queue at once, as its `batch`. So three queues are one: the batch is older than the slots,
//! and the slots are older than the queue.
//!
//! # Invariants
//! While the queue has messages the flag `QUEUE` is set, and then nothing is put into the slots. It is cleared by the actor alone, under the lock, when the slots
//! are empty and it takes the queue. `ORDERS` is set while there are orders. Both are set under the lock, and read by the actor before it parks, under
//! the lock ([`Part::after_poll`]), so it parks only when there is nothing.
//!
//! # Room
//! The messages in slots and queue count against the capacity, the batch does not; nor do orders. A sender that waits takes a ticket (see
//! [`waiting`]); from then on others may not overtake it: `crowded` says so. The actor calls tickets when it takes something and
//! `WAITING` is set, at the latest when it finds nothing more, so a sender that waits is called before the actor parks.
//!
//! # The end
//! `close` marks the berth under the lock, after which nothing is put in, and takes everything out: messages become dead letters, and who waits is told.
//!
//! # Rejected
//! A lock-free queue of linked nodes: an allocation per message, 20 ns, where this takes none. One lock for putting and taking: a locked instruction more per message,
//! 5 of 20 ns. A ring of the full capacity: a kilobyte per actor before its first message.

#![allow(
    unsafe_code,
    reason = "the slots have two parties, and a right goes from the berth to its task"
)]

pub(crate) mod overflow;
mod receiver;
mod ring;
mod waiting;

pub(crate) use receiver::{Next, Receiver};
pub(crate) use ring::MOST;
pub(crate) use waiting::Ticket;

use crate::control::ActorId;
use crate::counters::Count;
use crate::metrics::ActorMetrics;
use crate::policy::{Priority, room};
use crate::system::System;
use crate::timers::Timers;
use evenkeel::internal::detect;
use evenkeel::internal::{After, Berth, Own, Part, Public, Right, Slots, SpinGuard, SpinLock};
use overflow::{Full, Overflow};
use ring::Ring;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::task::Waker;
use std::time::Duration;
use waiting::Waiting;

/// What an actor is told to do, before its messages.
#[derive(Debug)]
pub(crate) enum Order {
    /// Stop after the present message.
    Stop,
    /// Stop when the messages that came before this order are handled.
    Drain,
}

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
/// The system is to be told of the end: it knows the actor by a name or in a group.
const KNOWN: u16 = 256;
/// The actor has timers.
const TIMED: u16 = 512;
/// Its polls are timed.
const MEASURED: u16 = 1_024;

/// In this order the header of the task and what the lock guards share a cache line, and what senders and actor share besides lies in the next.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Mailbox<M: 'static> {
    shared: SpinLock<Shared<M>>,
    flags: AtomicU16,
    /// Whether the actor has found nothing in its present poll and waits for nothing else.
    parks: AtomicBool,
    /// Whether the actor has begun a life. The actor's own.
    started: AtomicBool,
    system: System,
    slots: Slots<M>,
    /// The actor's own.
    batch: UnsafeCell<Ring<M>>,
}

// SAFETY: `batch` is used by the actor alone, which is in one place at a time.
unsafe impl<M: Send + 'static> Sync for Mailbox<M> {}

/// What the lock guards.
#[derive(Debug)]
struct Shared<M: 'static> {
    berth: Berth,
    /// Whether nothing is put in any more.
    shut: bool,
    /// Whether nothing is put into the slots: somebody waits for room or has it promised, or the mailbox does without them.
    crowded: bool,
    capacity: u32,
    /// What most mailboxes never need.
    rest: Option<Box<Rest<M>>>,
}

#[derive(Debug)]
struct Rest<M: 'static> {
    queue: Ring<M>,
    waiting: Waiting,
    orders: VecDeque<Order>,
    /// How many messages have come into the queue, or from a timer.
    received: u32,
    /// None while the actor is busy with them, too.
    timers: Option<Box<Timers<M>>>,
    /// Whether the actor is to look at its timers.
    rings: bool,
    counts: Counts,
}

/// Counts of what happens seldom.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// The most messages that have lain in the queue at once.
    highest: u32,
    restarts: u32,
    /// Messages that were there at the end.
    left: u32,
    busy: u64,
    /// Messages handled, as of some time ago, but fewer ago than 32 bits tell.
    handled: u64,
    /// How many had been handled when the actor took out the queue, as far as 32 bits tell.
    emptied: Option<u32>,
}

impl<M: Send + 'static> Default for Rest<M> {
    fn default() -> Self {
        Self {
            queue: Ring::new(),
            waiting: Waiting::default(),
            orders: VecDeque::new(),
            received: 0,
            timers: None,
            rings: false,
            counts: Counts::default(),
        }
    }
}

impl<M: 'static> Rest<M> {
    /// Whether the queue takes a message that has no ticket, where slots and queue have `room` places together.
    #[inline(always)]
    fn has_room(&self, room: u32) -> bool {
        self.waiting.len() == 0 && (self.queue.len() as u32) + self.waiting.promised() < room
    }
}

impl<M: Send + 'static> Shared<M> {
    fn rest(&mut self) -> &mut Rest<M> {
        self.rest.get_or_insert_with(Box::default)
    }
}

/// What became of a message.
#[derive(Debug)]
pub(crate) enum Put<M> {
    /// It is in.
    Done,
    /// It has taken the place of an older one.
    Displaced(M),
    /// There is no room.
    Full(M),
    /// The actor has stopped.
    Stopped(M),
}

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
        let plain = full == Full::DropOldest || capacity < Slots::<M>::PLACES;
        let shared =
            Shared { berth: Berth::new(), shut: false, crowded: plain, capacity, rest: None };
        Self {
            shared: SpinLock::new(shared),
            slots: Slots::new(),
            batch: UnsafeCell::new(Ring::new()),
            system,
            flags: AtomicU16::new(
                if plain { PLAIN } else { 0 } | if measured { MEASURED } else { 0 },
            ),
            parks: AtomicBool::new(false),
            started: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.shared.lock().berth.is_closed()
    }

    /// Has nothing put in any more; what is in the mailbox stays.
    pub(crate) fn shut(&self) {
        let mut shared = self.shared.lock();
        shared.shut = true;
        self.set(DRAINS, true);
        let waiting = match &mut shared.rest {
            Some(rest) => std::mem::take(&mut rest.waiting),
            None => return,
        };
        self.set(WAITING, false);
        drop(shared);
        wake_all(waiting.dissolve());
    }

    /// Has the system be told of the end, as it keeps something for the actor. False if the actor has stopped.
    pub(crate) fn make_known(&self) -> bool {
        let shared = self.shared.lock();
        let open = !shared.berth.is_closed();
        if open {
            self.set(KNOWN, true);
        }
        open
    }

    /// Notes that the actor begins a life. True if it has had one before.
    #[inline(always)]
    pub(crate) fn starts_again(&self) -> bool {
        let again = self.started.load(Ordering::Relaxed);
        self.started.store(true, Ordering::Relaxed);
        if again {
            self.shared.lock().rest().counts.restarts += 1;
            self.system.counters().add(Count::Restarted, 1);
        }
        again
    }

    /// Notes that the actor has handled `more` messages, and `since` of which the mailbox does not know.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_handled(&self, more: u16, since: &mut u16) {
        self.system.counters().add(Count::Messages, u64::from(more));
        let mut shared = self.shared.lock();
        // Most actors handle too few for a box of their own.
        if shared.rest.is_some() || *since >= u16::MAX / 2 {
            shared.rest().counts.handled += u64::from(*since & !63);
            *since %= 64;
        }
    }

    /// Whether the actor's polls are timed.
    #[inline(always)]
    pub(crate) fn is_measured(&self) -> bool {
        self.has(MEASURED)
    }

    /// Notes that a poll has taken so many nanoseconds.
    #[cold]
    pub(crate) fn note_busy(&self, nanos: u64) {
        self.shared.lock().rest().counts.busy += nanos;
    }

    /// What has been counted.
    pub(crate) fn metrics(&self) -> ActorMetrics {
        let shared = self.shared.lock();
        let in_slots = self.slots.len();
        let (behind, counts) = match &shared.rest {
            Some(rest) => (rest.received, rest.counts),
            None => (0, Counts::default()),
        };
        let depth = in_slots + shared.rest.as_ref().map_or(0, |rest| rest.queue.len() as u32);
        // What has come in since is less than 32 bits tell.
        let known = self.slots.received().wrapping_add(behind);
        let received = counts.handled + u64::from(known.wrapping_sub(counts.handled as u32));
        let taken = received - u64::from(depth);
        let handled = match counts.emptied {
            // It has nothing in hand.
            _ if shared.berth.is_taken() || shared.berth.is_closed() => {
                taken - u64::from(counts.left)
            }
            Some(emptied) => {
                let since = known.wrapping_sub(emptied);
                counts.handled.max(received.saturating_sub(u64::from(since)))
            }
            None => taken.saturating_sub(1),
        };
        ActorMetrics {
            received,
            handled,
            depth: depth as usize,
            highest_depth: counts.highest.max(depth).max(u32::from(received > 0)) as usize,
            waiting_senders: shared.rest.as_ref().map_or(0, |rest| rest.waiting.len()),
            busy: self.is_measured().then(|| Duration::from_nanos(counts.busy)),
            restarts: counts.restarts,
        }
    }

    /// Whether the system is to be told of the end, which is final once the mailbox is closed.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.has(KNOWN)
    }

    pub(crate) fn system(&self) -> System {
        self.system
    }

    /// How many messages wait.
    pub(crate) fn depth(&self) -> usize {
        let shared = self.shared.lock();
        self.slots.len() as usize + shared.rest.as_ref().map_or(0, |rest| rest.queue.len())
    }

    /// How many messages have come in, of slots, queue and timers, as far as 32 bits tell.
    pub(crate) fn received(&self) -> u32 {
        let shared = self.shared.lock();
        let behind = shared.rest.as_ref().map_or(0, |rest| rest.received);
        self.slots.received().wrapping_add(behind)
    }

    /// Puts a message in; the caller holds the lock and has found the mailbox open.
    #[inline(always)]
    fn put<P: Overflow>(&self, shared: &mut Shared<M>, message: M) -> Put<M> {
        let message = if self.has(QUEUE) || shared.crowded {
            message
        } else {
            // SAFETY: the caller holds the lock.
            match unsafe { self.slots.put(message) } {
                Ok(()) => return Put::Done,
                Err(message) => message,
            }
        };
        let room = shared.capacity - self.slots.len();
        match &mut shared.rest {
            // In line, so that the message does not go through memory once more: 4 of 19 ns per message of `evenkeel-bench run --bench fanin`.
            Some(rest) if rest.has_room(room) => {
                rest.queue.push(message);
                rest.received = rest.received.wrapping_add(1);
                self.set(QUEUE, true);
                Put::Done
            }
            _ => self.put_behind::<P>(shared, message),
        }
    }

    /// Puts a message into the queue, if there is room.
    #[cold]
    #[inline(never)]
    fn put_behind<P: Overflow>(&self, shared: &mut Shared<M>, message: M) -> Put<M> {
        let room = shared.capacity - self.slots.len();
        let rest = shared.rest();
        if !rest.has_room(room) {
            if P::FULL != Full::DropOldest {
                return Put::Full(message);
            }
            rest.queue.push(message);
            return match rest.queue.pop() {
                Some(oldest) => Put::Displaced(oldest),
                None => Put::Done,
            };
        }
        rest.queue.push(message);
        rest.received = rest.received.wrapping_add(1);
        self.set(QUEUE, true);
        Put::Done
    }

    /// Puts the message of a ticket that has been called into its place.
    fn put_called(&self, shared: &mut Shared<M>, message: M) {
        let rest = shared.rest();
        rest.waiting.settle();
        detect::came((&raw const *self).cast());
        rest.queue.push(message);
        rest.received = rest.received.wrapping_add(1);
        self.set(QUEUE, true);
        self.settle_crowd(shared);
    }

    fn settle_crowd(&self, shared: &mut Shared<M>) {
        let waiting = &shared.rest().waiting;
        let (over, waits) = (waiting.is_over(), waiting.len() > 0);
        shared.crowded = !over || self.has(PLAIN);
        self.set(WAITING, waits);
    }

    /// Calls those that may put their messages in now.
    fn call(&self, shared: &mut Shared<M>) -> Vec<Waker> {
        let capacity = shared.capacity;
        let in_slots = self.slots.len();
        let rest = shared.rest();
        let used = in_slots + rest.queue.len() as u32 + rest.waiting.promised();
        let mut called = Vec::new();
        let amount = room::grant(capacity, used, rest.waiting.len());
        if amount > 0 {
            detect::called((&raw const *self).cast(), amount);
            rest.waiting.call(amount, &mut called);
            self.settle_crowd(shared);
        }
        called
    }

    /// The same for the actor, which has just made room.
    #[cold]
    fn call_waiting(&self) {
        let called = self.call(&mut self.shared.lock());
        wake_all(called);
    }

    /// Closes the mailbox and gives what is left in it, in order. For the actor.
    ///
    /// # Safety
    /// The caller is the actor, and does not use its receiver any more.
    pub(crate) unsafe fn close(&self) -> Vec<M> {
        let mut left = Vec::new();
        // SAFETY: the caller is the actor.
        let batch = unsafe { &mut *self.batch.get() };
        left.extend(std::iter::from_fn(|| batch.pop()));
        let mut shared = self.shared.lock();
        shared.berth.close();
        detect::closed((&raw const *self).cast());
        shared.shut = true;
        // SAFETY: the caller is the actor.
        left.extend(std::iter::from_fn(|| unsafe { self.slots.take() }));
        let behind = shared.rest.as_ref().map_or(0, |rest| rest.queue.len());
        if left.len() + behind > 0 {
            shared.rest().counts.left = (left.len() + behind) as u32;
        }
        // The counts stay.
        let rest = shared.rest.as_deref_mut().map(|rest| {
            let counts = rest.counts;
            std::mem::replace(rest, Rest { counts, received: rest.received, ..Rest::default() })
        });
        self.flags.store(self.flags.load(Ordering::Relaxed) & KNOWN, Ordering::Relaxed);
        drop(shared);
        if let Some(mut rest) = rest {
            left.extend(std::iter::from_fn(|| rest.queue.pop()));
            wake_all(rest.waiting.dissolve());
        }
        left
    }
}

/// Wakes, outside of the lock: foreign wakers are a caller's code.
fn wake_all(wakers: Vec<Waker>) {
    for waker in wakers {
        waker.wake();
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
        if !self.slots.is_empty() || self.has(QUEUE | ORDERS) {
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

/// Puts a message into an actor's mailbox, if there is room.
#[inline(always)]
pub(crate) fn put<M: Send + 'static, P: Overflow>(to: &Public<Mailbox<M>>, message: M) -> Put<M> {
    detect::sends(|| to.task().id());
    let mut shared = to.shared.lock_in_turns();
    if shared.shut {
        return Put::Stopped(message);
    }
    let put = to.put::<P>(&mut shared, message);
    leave(to, shared);
    put
}

/// Puts a message in, or takes a ticket for it.
pub(crate) fn put_or_wait<M: Send + 'static, P: Overflow>(
    to: &Public<Mailbox<M>>,
    message: M,
    waker: Waker,
) -> Result<Put<M>, (M, Ticket)> {
    detect::sends(|| to.task().id());
    let mut shared = to.shared.lock();
    if shared.shut {
        drop(shared);
        return Ok(Put::Stopped(message));
    }
    match to.put::<P>(&mut shared, message) {
        Put::Full(message) => {
            let ticket = shared.rest().waiting.join(waker);
            to.settle_crowd(&mut shared);
            // There may be room for it all the same: those before it have not used their places, or half is free and none was told.
            let called = to.call(&mut shared);
            leave(to, shared);
            wake_all(called);
            Err((message, ticket))
        }
        put => {
            leave(to, shared);
            Ok(put)
        }
    }
}

/// Puts in the message of a ticket, if that has been called; or keeps its waker.
pub(crate) fn put_with_ticket<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    message: M,
    ticket: Ticket,
    waker: &Waker,
) -> Result<Put<M>, M> {
    let waker = waker.clone();
    detect::sends(|| to.task().id());
    let mut shared = to.shared.lock();
    if shared.shut {
        drop(shared);
        return Ok(Put::Stopped(message));
    }
    if let Some(kept) = shared.rest().waiting.waker(ticket) {
        let before = std::mem::replace(kept, waker);
        drop(shared);
        drop(before);
        return Err(message);
    }
    to.put_called(&mut shared, message);
    leave(to, shared);
    Ok(Put::Done)
}

/// Gives a ticket back whose sender has gone.
pub(crate) fn give_back<M: Send + 'static>(to: &Public<Mailbox<M>>, ticket: Ticket) {
    let mut shared = to.shared.lock();
    if shared.shut {
        return;
    }
    let waiting = &mut shared.rest().waiting;
    let left = waiting.leave(ticket);
    if left.is_none() {
        waiting.settle();
        detect::came((&raw const **to).cast());
    }
    to.settle_crowd(&mut shared);
    let called = to.call(&mut shared);
    drop(shared);
    drop(left);
    wake_all(called);
}

/// Gives an actor an order. False if it has stopped.
pub(crate) fn order<M: Send + 'static>(to: &Public<Mailbox<M>>, order: Order) -> bool {
    let mut shared = to.shared.lock();
    if shared.berth.is_closed() {
        return false;
    }
    shared.rest().orders.push_back(order);
    to.set(ORDERS, true);
    leave(to, shared);
    true
}

/// Has an actor look at its timers.
pub(crate) fn look_at_timers<M: Send + 'static>(to: &Public<Mailbox<M>>) {
    let mut shared = to.shared.lock();
    if shared.berth.is_closed() {
        return;
    }
    shared.rest().rings = true;
    to.set(ORDERS, true);
    leave(to, shared);
}

/// What is known of an actor by its mailbox.
impl<M: Send + 'static> Mailbox<M> {
    pub(crate) fn capacity(&self) -> usize {
        self.shared.lock().capacity as usize
    }
}

/// An actor's number.
pub(crate) trait HasId {
    fn id(&self) -> ActorId;
}

impl<M: Send + 'static> HasId for Public<Mailbox<M>> {
    fn id(&self) -> ActorId {
        ActorId(self.task().id())
    }
}

impl<M: Send + 'static> HasId for Own<Mailbox<M>> {
    fn id(&self) -> ActorId {
        self.public().id()
    }
}
