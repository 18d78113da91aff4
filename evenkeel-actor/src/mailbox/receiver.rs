//! The actor's end of its mailbox.

#![allow(unsafe_code, reason = "the actor's own parts of the mailbox are reached by sharing it")]

use super::{DRAINS, Mailbox, ORDERS, Order, QUEUE, Ring, WAITING};
use evenkeel::internal::Own;
use std::fmt;
use std::sync::atomic::Ordering;

/// What an actor has to do next.
#[derive(Debug)]
pub(crate) enum Next<M> {
    Message(M),
    Order(Order),
    /// It was to handle what was there, and there is nothing left.
    Drained,
    /// There is nothing after all.
    Nothing,
    /// Nobody has a reference to it any more, and there is nothing left.
    Alone,
}

/// The right to take messages out of a mailbox: the actor's.
pub(crate) struct Receiver<M: Send + 'static>(Own<Mailbox<M>>);

impl<M: Send + 'static> Receiver<M> {
    /// The receiver of an actor.
    ///
    /// # Safety
    /// It is the only one that is used.
    pub(crate) unsafe fn new(own: Own<Mailbox<M>>) -> Self {
        Self(own)
    }

    #[inline(always)]
    pub(crate) fn own(&self) -> &Own<Mailbox<M>> {
        &self.0
    }

    #[inline(always)]
    fn batch(&mut self) -> &mut Ring<M> {
        // SAFETY: the batch is the receiver's, which there is one of, and which is borrowed exclusively.
        unsafe { &mut *self.0.batch.get() }
    }

    /// Whether there is nothing to do: then the actor parks when its poll returns `Pending`.
    #[inline(always)]
    pub(crate) fn is_idle(&mut self) -> bool {
        let flags = self.0.flags.load(Ordering::Relaxed);
        if self.0.slots.len() > 0 || !self.batch().is_empty() || flags & (QUEUE | ORDERS) != 0 {
            return false;
        }
        if flags & WAITING != 0 {
            self.0.call_waiting();
        }
        if flags & DRAINS != 0 || self.0.is_alone() {
            return false;
        }
        self.0.parks.store(true, Ordering::Relaxed);
        true
    }

    /// The next thing to do.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Next<M> {
        let flags = self.0.flags.load(Ordering::Relaxed);
        if flags & (ORDERS | WAITING) != 0
            && let Some(order) = self.see_to(flags)
        {
            return Next::Order(order);
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

    /// The same, if neither batch nor slots have anything.
    #[inline(never)]
    fn next_of_queue(&mut self) -> Next<M> {
        match self.refill() {
            Some(message) => Next::Message(message),
            None if self.0.has(DRAINS) => Next::Drained,
            None if self.0.is_alone() => Next::Alone,
            None => Next::Nothing,
        }
    }

    /// Takes the whole queue, if all that came before it has been taken.
    fn refill(&mut self) -> Option<M> {
        // SAFETY: as in `batch`; the borrow is of another field than those used below.
        let batch = unsafe { &mut *self.0.batch.get() };
        let mut shared = self.0.shared.lock();
        // Something may have been put into the slots, and then something into the queue, since the slots were looked at.
        // SAFETY: the receiver is the actor's.
        if let Some(message) = unsafe { self.0.slots.take() } {
            return Some(message);
        }
        let rest = shared.rest.as_mut()?;
        std::mem::swap(&mut rest.queue, batch);
        self.0.set(QUEUE, false);
        drop(shared);
        batch.pop()
    }

    /// Takes nothing more in, and says so when it has nothing left.
    pub(crate) fn drain(&mut self) {
        self.0.shut();
    }

    /// Calls those that wait for room, and takes the first order.
    #[cold]
    #[inline(never)]
    fn see_to(&mut self, flags: u8) -> Option<Order> {
        if flags & WAITING != 0 {
            self.0.call_waiting();
        }
        let mut shared = self.0.shared.lock();
        let rest = shared.rest.as_mut()?;
        let order = rest.orders.pop_front();
        let more = !rest.orders.is_empty();
        self.0.set(ORDERS, more);
        order
    }
}

impl<M: Send + 'static> fmt::Debug for Receiver<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
