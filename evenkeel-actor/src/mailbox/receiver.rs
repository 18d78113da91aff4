//! The actor's end of its mailbox.

#![allow(unsafe_code, reason = "the actor reaches its own parts of a shared mailbox")]

use super::orders::note;
use super::ring::Ring;
use super::shared::Rest;
use super::timers::{Taken, Timers};
use super::{DRAIN, DRAINS, Mailbox, ORDERED, ORDERS, QUEUE, STOP, TIMED, WAITING};
use crate::kin::order::{News, Order};
use crate::trace::{Parcel, seal};
use evenkeel::internal::{Own, wake_all};
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The next thing that an actor does.
#[derive(Debug)]
pub(crate) enum Next<M> {
    Message(Parcel<M>),
    Order(Order),
    /// The first order is an event: see [`Receiver::take_event`].
    Event,
    /// The actor drained its mailbox, which is empty.
    Drained,
    /// There is nothing to do after all.
    Nothing,
    /// The actor has no references and no messages left.
    Alone,
}

/// The actor's right to take messages out of its mailbox.
pub(crate) struct Receiver<M: Send + 'static>(Own<Mailbox<M>>);

impl<M: Send + 'static> Receiver<M> {
    /// Creates the receiver of an actor.
    ///
    /// # Safety
    /// It is the only receiver of the mailbox that is used.
    pub(crate) unsafe fn new(own: Own<Mailbox<M>>) -> Self {
        Self(own)
    }

    #[inline(always)]
    pub(crate) fn own(&self) -> &Own<Mailbox<M>> {
        &self.0
    }

    #[inline(always)]
    fn batch(&mut self) -> &mut Ring<Parcel<M>> {
        // SAFETY: only the receiver uses the batch. There is one receiver, and it is borrowed
        // exclusively.
        unsafe { &mut *self.0.batch.get() }
    }

    /// Returns whether there is nothing to do. If so, the actor parks when its poll returns
    /// `Pending`.
    #[inline(always)]
    pub(crate) fn is_idle(&mut self) -> bool {
        let flags = self.0.flags.load(Ordering::Relaxed);
        if !self.0.slots.is_empty() || !self.batch().is_empty() || flags & (QUEUE | ORDERED) != 0 {
            return false;
        }
        if flags & (WAITING | TIMED) != 0 {
            self.see_to_rest(flags);
        }
        if flags & DRAINS != 0 || self.0.is_alone() {
            return false;
        }
        self.0.parks.store(true, Ordering::Relaxed);
        true
    }

    /// Returns the next thing to do.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Next<M> {
        let flags = self.0.flags.load(Ordering::Relaxed);
        if flags & (ORDERED | WAITING) != 0
            && let Some(next) = self.see_to(flags)
        {
            return next;
        }
        if let Some(message) = self.batch().pop() {
            return Next::Message(message);
        }
        // SAFETY: the receiver is the actor's.
        if let Some(message) = unsafe { self.0.slots.take() } {
            return Next::Message(message);
        }
        self.next_of_queue()
    }

    /// Puts a message that the actor has taken back as its next one. It does not count against the
    /// capacity. It counts as received once more, as it is handled once more.
    pub(crate) fn put_back(&mut self, message: M) {
        self.batch().push_front(seal(message));
        let mut shared = self.0.shared.lock();
        let rest = shared.rest();
        rest.received = rest.received.wrapping_add(1);
    }

    /// Returns the next thing to do, if neither batch nor slots have a message.
    ///
    /// An actor that seems to be alone looks once more under the lock, for messages and for
    /// references in one hold. A sender that puts a message in later has its reference then; one
    /// that has put it in before has left it to be found. The first look spares others the lock.
    #[inline(never)]
    fn next_of_queue(&mut self) -> Next<M> {
        if self.0.is_alone() && self.is_deserted() {
            return Next::Alone;
        }
        match self.refill() {
            Some(message) => Next::Message(message),
            None if self.0.has(DRAINS) => Next::Drained,
            None => Next::Nothing,
        }
    }

    /// Returns whether the actor has neither messages nor references. If so, it ends: from then on
    /// no weak reference finds it. Ticks that are due do not keep it, and they may always be due.
    fn is_deserted(&self) -> bool {
        let mut shared = self.0.shared.lock();
        if !self.0.slots.is_empty() || self.0.has(QUEUE | DRAINS | STOP | DRAIN) {
            return false;
        }
        if let Some(rest) = &mut shared.rest {
            if !rest.orders.is_empty() {
                return false;
            }
            rest.counts.emptied = Some(self.0.slots.received().wrapping_add(rest.received));
        }
        self.0.desert(&mut shared.berth)
    }

    /// Takes the whole queue, if all earlier messages have been taken.
    fn refill(&mut self) -> Option<Parcel<M>> {
        // SAFETY: as in `batch`; the borrow is of another field than those used below.
        let batch = unsafe { &mut *self.0.batch.get() };
        let mut shared = self.0.shared.lock();
        // Since the actor looked at the slots, a sender may have put a message into them, and then
        // another into the queue.
        // SAFETY: the receiver is the actor's.
        if let Some(message) = unsafe { self.0.slots.take() } {
            return Some(message);
        }
        let rest = shared.rest.as_mut()?;
        // The queue has only grown since the actor last took it.
        rest.counts.highest = rest.counts.highest.max(rest.queue.len() as u32);
        let received = self.0.slots.received().wrapping_add(rest.received);
        rest.counts.emptied = Some(received.wrapping_sub(rest.queue.len() as u32));
        std::mem::swap(&mut rest.queue, batch);
        self.0.set(QUEUE, false);
        // In the same hold: other senders may fill the queue whenever it is empty.
        let called = if self.0.has(WAITING) { self.0.call(&mut shared) } else { Vec::new() };
        drop(shared);
        wake_all(called);
        batch.pop()
    }

    /// Makes the mailbox refuse further messages. The actor then gets [`Next::Drained`] when it has
    /// none left.
    pub(crate) fn drain(&mut self) {
        self.0.shut();
    }

    /// Takes the event that [`next`](Self::next) has found.
    #[cold]
    pub(crate) fn take_event(&mut self) -> Option<Box<News>> {
        let order = note(&self.0, |_, orders| orders.pop_front());
        let Ok(Some(Order::Event(news))) = order else { return None };
        Some(news)
    }

    /// Calls the senders that wait for room, and takes the first order unless it is an event. If
    /// there is no order, takes a message that is due.
    #[cold]
    #[inline(never)]
    fn see_to(&mut self, flags: u16) -> Option<Next<M>> {
        if flags & WAITING != 0 {
            self.0.call_waiting();
        }
        let mut shared = self.0.shared.lock();
        for (flag, order) in [(DRAIN, Order::Drain), (STOP, Order::Stop)] {
            if self.0.has(flag) {
                self.0.set(flag, false);
                return Some(Next::Order(order));
            }
        }
        let rest = shared.rest.as_mut()?;
        // An order to cease may be for an incarnation that is over, or that has not started.
        let is_late = |rest: &Rest<M>| {
            matches!(rest.orders.front(), Some(Order::Cease))
                && !rest.kin.as_ref().is_some_and(|kin| kin.is_to_cease())
        };
        while is_late(rest) {
            rest.orders.pop_front();
        }
        if let Some(Order::Event(_)) = rest.orders.front() {
            return Some(Next::Event);
        }
        if let Some(order) = rest.orders.pop_front() {
            self.0.set(ORDERS, rest.has_orders());
            return Some(Next::Order(order));
        }
        let rings = std::mem::take(&mut rest.rings);
        self.0.set(ORDERS, false);
        drop(shared);
        if rings { self.take_due().map(Next::Message) } else { None }
    }

    /// Takes a message that is due. The actor looks again until there is none.
    fn take_due(&mut self) -> Option<Parcel<M>> {
        let received = self.0.received();
        let taken = self.with_timers(|timers| {
            let taken = timers.take(received);
            if matches!(taken, Taken::Nothing) {
                timers.settle();
            }
            taken
        });
        if let Taken::Nothing = taken {
            return None;
        }
        let mut shared = self.0.shared.lock();
        let rest = shared.rest();
        rest.rings = true;
        let message = match taken {
            Taken::Message(message) => {
                rest.received = rest.received.wrapping_add(1);
                Some(message)
            }
            _ => None,
        };
        self.0.set(ORDERS, true);
        message
    }

    /// Calls `f` with the actor's timers, without the lock: `f` may ring their bell.
    pub(crate) fn with_timers<R>(&mut self, f: impl FnOnce(&mut Timers<M>) -> R) -> R {
        let mut shared = self.0.shared.lock();
        let rest = shared.rest.as_mut();
        let (timers, last) = rest.map_or((None, 0), |rest| (rest.timers.take(), rest.last_timer));
        drop(shared);
        // SAFETY: the timers are put into the mailbox, which the actor closes and empties before
        // its end, or are dropped here.
        let mut timers = timers.unwrap_or_else(|| unsafe { Timers::new(&self.0, last) });
        let result = f(&mut timers);
        let mut shared = self.0.shared.lock();
        let rest = shared.rest();
        rest.last_timer = timers.last_number();
        rest.timers = Some(timers);
        self.0.set(TIMED, true);
        result
    }

    /// Sets a timer for one message.
    pub(crate) fn send_after(&mut self, duration: Duration, message: M) -> u64 {
        let own = self.0.public();
        self.with_timers(|timers| timers.once(own, duration, message))
    }

    /// Calls the senders that wait for room, and starts the receive timeout, when there is nothing
    /// else to do.
    #[cold]
    #[inline(never)]
    fn see_to_rest(&mut self, flags: u16) {
        if flags & WAITING != 0 {
            self.0.call_waiting();
        }
        if flags & TIMED != 0 {
            let received = self.0.received();
            self.with_timers(|timers| timers.rests(received));
        }
    }
}

impl<M: Send + 'static> fmt::Debug for Receiver<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
