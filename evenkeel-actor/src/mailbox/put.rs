//! Puts messages in: at once, or, if there is no room, in the order of tickets.

#![allow(unsafe_code, reason = "the slots have one producer: the sender that holds the lock")]

use super::overflow::{Full, Overflow};
use super::shared::Shared;
use super::waiting::Ticket;
use super::{Mailbox, PLAIN, QUEUE, WAITING, leave};
use crate::policy::room;
use crate::trace::{Parcel, open, seal};
use evenkeel::internal::{Public, detect, wake_all};
use std::task::Waker;

/// The result of putting a message in.
#[derive(Debug)]
pub(crate) enum Put<M> {
    /// The message is in.
    Done,
    /// The message has taken the place of this older one.
    Displaced(M),
    /// The mailbox has no room.
    Full(M),
    /// The actor has stopped.
    Stopped(M),
}

impl<M: 'static> Mailbox<M> {
    /// Returns how many tickets can be called. The caller holds the lock.
    pub(super) fn grants(&self, shared: &Shared<M>) -> usize {
        let Some(rest) = &shared.rest else { return 0 };
        let used = self.slots.len() + rest.queue.len() as u32 + rest.waiting.promised();
        room::grant(shared.capacity, used, rest.waiting.len())
    }
}

impl<M: Send + 'static> Mailbox<M> {
    /// Puts a message in. The caller holds the lock and has found the mailbox open.
    #[inline(always)]
    fn put<P: Overflow>(&self, shared: &mut Shared<M>, message: M) -> Put<M> {
        let message = seal(message);
        // By value, and not by a closure or a reference: the lock is held, and the message must not
        // be fetched from its sender's memory meanwhile. With two workers that send to one actor,
        // a message by reference took a quarter longer in `evenkeel-bench run --bench fanin`.
        if !self.has(QUEUE)
            && !shared.crowded
            && let Some(number) = self.slots.room()
        {
            // SAFETY: the caller holds the lock, and has since there was room.
            unsafe { self.slots.put_at(number, message) };
            return Put::Done;
        }
        let room = shared.capacity - self.slots.len();
        match &mut shared.rest {
            // Inline, so that the message does not go through memory once more: 4 of 19 ns per
            // message of `evenkeel-bench run --bench fanin`.
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
    fn put_behind<P: Overflow>(&self, shared: &mut Shared<M>, message: Parcel<M>) -> Put<M> {
        let room = shared.capacity - self.slots.len();
        let rest = shared.rest();
        if !rest.has_room(room) {
            if P::FULL != Full::DropOldest {
                return Put::Full(open(message));
            }
            // An empty queue takes the message, although others wait for its places or have them
            // promised: there is no older one to drop.
            if let Some(oldest) = rest.queue.pop() {
                rest.queue.push(message);
                return Put::Displaced(open(oldest));
            }
        }
        rest.queue.push(message);
        rest.received = rest.received.wrapping_add(1);
        self.set(QUEUE, true);
        Put::Done
    }

    /// Puts the message of a called ticket into its place.
    fn put_called(&self, shared: &mut Shared<M>, message: M) {
        let rest = shared.rest();
        rest.waiting.settle();
        detect::came((&raw const *self).cast());
        rest.queue.push(seal(message));
        rest.received = rest.received.wrapping_add(1);
        self.set(QUEUE, true);
        self.settle_crowd(shared);
    }

    pub(super) fn settle_crowd(&self, shared: &mut Shared<M>) {
        let waiting = &shared.rest().waiting;
        let (over, waits) = (waiting.is_over(), waiting.len() > 0);
        shared.crowded = !over || self.has(PLAIN);
        self.set(WAITING, waits);
    }

    /// Calls the tickets of senders that may put their messages in, and returns their wakers.
    pub(super) fn call(&self, shared: &mut Shared<M>) -> Vec<Waker> {
        let mut called = Vec::new();
        let amount = self.grants(shared);
        if amount > 0 {
            detect::called((&raw const *self).cast(), amount);
            shared.rest().waiting.call(amount, &mut called);
            self.settle_crowd(shared);
        }
        called
    }

    /// Calls tickets for the actor, which has just made room, and wakes their senders.
    #[cold]
    pub(super) fn call_waiting(&self) {
        let called = self.call(&mut self.shared.lock());
        wake_all(called);
    }
}

/// Puts a message into an actor's mailbox, if there is room.
#[inline(always)]
pub(crate) fn put<M: Send + 'static, P: Overflow>(to: &Public<Mailbox<M>>, message: M) -> Put<M> {
    detect::sends(|| to.task_id());
    let mut shared = to.shared.lock_in_turns();
    if shared.is_shut() {
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
    detect::sends(|| to.task_id());
    let mut shared = to.shared.lock();
    if shared.is_shut() {
        drop(shared);
        return Ok(Put::Stopped(message));
    }
    match to.put::<P>(&mut shared, message) {
        Put::Full(message) => {
            let ticket = shared.rest().waiting.join(waker);
            to.settle_crowd(&mut shared);
            // There may be room for the message all the same: earlier senders have not used their
            // places, or half of the places are free and no sender has been called.
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

/// Puts in the message of a ticket, if the ticket has been called; otherwise keeps its waker.
pub(crate) fn put_with_ticket<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    message: M,
    ticket: Ticket,
    waker: &Waker,
) -> Result<Put<M>, M> {
    let waker = waker.clone();
    detect::sends(|| to.task_id());
    let mut shared = to.shared.lock();
    if shared.is_shut() || shared.rest().waiting.is_void(ticket) {
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

/// Gives back the ticket of a sender that has gone.
pub(crate) fn give_back<M: Send + 'static>(to: &Public<Mailbox<M>>, ticket: Ticket) {
    let mut shared = to.shared.lock();
    if shared.is_shut() {
        return;
    }
    let waiting = &mut shared.rest().waiting;
    if waiting.is_void(ticket) {
        return;
    }
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
