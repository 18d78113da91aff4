//! Messages of one peer that wait for room in mailboxes.
//!
//! # Roles
//! A *reader* that finds a mailbox full parks the message and reads on: the answers, orders, ends
//! and messages for other actors behind it do not wait for that actor. The messages parked for one
//! actor are a *line*. A line's *porter* is a task that puts its messages into the mailbox, one
//! after the other.
//!
//! # Why order is kept
//! While there is a line, all values from this peer for its actor join it, and so does the order to
//! end once all before it is handled. Orders to stop at once and kills do not: they pass the
//! messages in a mailbox too. A reader looks for a line before it delivers a value. The line is
//! there from the step that parks its first message to the step in which its porter, having
//! delivered all before, finds it empty; both steps are under the lock. A reader of a later frame
//! of the same sender got it from the [demultiplexer](crate::node::demultiplexer) after the earlier
//! frame was given back, so it sees the line. A line is found by the actor's slot, so order holds
//! for references of each policy to the actor. Its porter keeps the slot, so a reference that the
//! peer is given later has the same slot.
//!
//! # Why nothing stays, or is lost
//! A line has a porter from the step that makes it. A porter that is dropped, even before its first
//! poll, takes the line along. The porter waits for the mailbox, as a local sender does, and for
//! the loss of the peer, and for nothing else. That loss [clears](Parking::clear) all lines, under
//! the lock under which a porter leaves its waker too. The porter checks before each message
//! whether the lines were cleared. So of its batch it delivers at most the message that it is busy
//! with. A peer that leaves in order is no loss: its lines get nothing more, and their porters go
//! on until they are empty. The porter also keeps the actor: when this node leaves, its table
//! forgets the actors that others know, and messages that came before are handled all the same. A
//! message that joins a line has one of three ends. The porter delivers it; or the actor has ended,
//! the message is a dead letter, and its asker is told; or it is dropped with its node, and is a
//! dead letter too. In the last case askers of third nodes are told, if the lost node has handed
//! their questions on. A message counts as read once it is delivered: for the search for the [end
//! of all work](super::collective) a parked message has not come.
//!
//! # Memory
//! When a line weighs [`HOLD`], the peer is told to [hold](super::holds) messages for this actor,
//! and at half of that to go on. When all lines weigh [`MUCH`], and until they are at half of that,
//! the peer is told to hold for each line at its next message. It is told to go on when the line is
//! empty. So senders to actors with room are not held: what is parked may wait for their messages.
//! All values are held in three cases only. The readers are behind with the peer's frames; or as
//! many actors are held as [may be](super::holds::MOST); or the lines weigh half of what [may be
//! parked](super::Limits::parked), until they are at a quarter of it. Then an actor that asks the
//! peer may wait for an answer that waits for this actor to go on; memory is worth more. Each of
//! these messages is put in under the lock, by the common lane, so a peer hears of them in this
//! order. What is on its way when the peer hears of it is parked all the same. A peer with lines
//! that weigh more than may be parked is shut out. *A peer that was told has not yet heard*: the
//! other half is for what is on its way. This is no more than what [may
//! wait](crate::node::policy::Packing::waiting) at the peer, a frame for each of its lanes, what
//! its transport has taken, and the frames that are not read here. A node does not start if its own
//! packing breaks that. What transports keep is not known here: a user of a transport that keeps
//! more, or of messages of megabytes, allows more to be parked. Values that were sent to many
//! actors at once come by third nodes, which hold nothing. Beyond [`MUCH`], and beyond [as many as
//! may wait](super::Limits::waiting_casts), these are dead letters. They share one copy of their
//! bytes, and each weighs as if it had its own.
//!
//! # Rejected
//! Readers that wait with the message: an actor that asks the node that fills its mailbox then
//! waits for ever for an answer that is read after that message. Values instead of bytes in lines:
//! they take more room, and their size is not known.

#[cfg(test)]
mod fixture;
#[cfg(all(test, shuttle))]
mod model;
mod porter;
#[cfg(all(test, not(shuttle)))]
mod tests;

use super::askers::Askers;
use super::holds;
use super::inner::Peer;
use super::lines::{Delivered, ITEM, Item, Line, Origin, Parking, State};
use super::tell::Full;
use crate::node::Slot;
use crate::node::wire::{Failure, Message, Places};
use crate::primitives::MutexGuard;
use evenkeel::internal::contain;
use porter::{Carried, carry};
use std::collections::hash_map::Entry;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

/// The weight of a line at which its peer is told to hold messages for the actor. An estimate: some
/// thousand small messages, which an actor handles while it is told to go on; no benchmark sets it.
/// In models it is a few messages.
const HOLD: usize = if cfg!(shuttle) { 3 * ITEM } else { 256 << 10 };

/// The weight of all lines at which a peer is told to hold messages for each actor that has a line.
/// A choice; no benchmark sets it. In the library's own tests it is less, as they send small
/// messages until it is reached.
const MUCH: usize = if cfg!(test) { 2 << 20 } else { 16 << 20 };

impl Parking {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No caller's code runs under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is parked.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.lines.load(Ordering::Relaxed) > 0
    }

    /// Parks a value behind others for its actor. False if there is no line, so that the value can
    /// be delivered.
    #[cold]
    pub(super) fn tell(
        &self,
        peer: &'static Peer,
        to: Slot,
        askers: Askers<'_>,
        payload: &[u8],
    ) -> bool {
        self.join(peer, to, |line| {
            let places = askers.places.as_bytes();
            line.bytes.extend_from_slice(places);
            line.bytes.extend_from_slice(payload);
            Item::Tell(askers.call, places.len(), payload.len(), Origin::here())
        })
    }

    /// Parks a value that was sent to several actors. The first that is parked makes the one copy
    /// of it.
    #[cold]
    pub(super) fn cast(
        &self,
        peer: &'static Peer,
        to: Slot,
        copy: &mut Option<Arc<[u8]>>,
        payload: &[u8],
    ) -> bool {
        let is_too_much = {
            let state = self.lock();
            state.casts_are_too_many(peer) && state.by_slot.contains_key(&to)
        };
        if is_too_much {
            peer.node.undelivered(peer, Askers::default(), Failure::MailboxFull, "");
            return true;
        }
        self.join(peer, to, |_| {
            let copy = copy.get_or_insert_with(|| payload.into());
            Item::Shared(Arc::clone(copy), Origin::here())
        })
    }

    /// Parks the order to end once all before it is handled.
    #[cold]
    pub(super) fn drain(&self, peer: &'static Peer, to: Slot) -> bool {
        self.join(peer, to, |_| Item::Drain)
    }

    fn join(&self, peer: &'static Peer, to: Slot, item: impl FnOnce(&mut Line) -> Item) -> bool {
        let mut state = self.lock();
        let Some(line) = state.by_slot.get_mut(&to) else { return false };
        let item = item(line);
        let (weight, is_cast) = (item.weight(), item.is_cast());
        line.items.push(item);
        state.casts += usize::from(is_cast);
        self.added(peer, to, weight, state);
        true
    }

    /// Parks a value of `length` bytes that was read before its mailbox was found full. It counts
    /// as `counts` messages.
    #[cold]
    pub(super) fn park(
        &'static self,
        peer: &'static Peer,
        to: Slot,
        (target, wait): Full,
        length: usize,
        counts: u64,
    ) {
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            contain(|| drop(wait));
            return peer.node.count_undelivered(1);
        }
        let weight = ITEM + length;
        let item = Item::Waits(wait, counts, weight);
        if item.is_cast() {
            if state.casts_are_too_many(peer) {
                drop(state);
                peer.node.undelivered(peer, Askers::default(), Failure::MailboxFull, "");
                contain(|| drop(item));
                return;
            }
            state.casts += 1;
        }
        let is_new = match state.by_slot.entry(to) {
            Entry::Occupied(line) => {
                line.into_mut().items.push(item);
                false
            }
            Entry::Vacant(none) => {
                none.insert(Line::default()).items.push(item);
                self.lines.fetch_add(1, Ordering::Relaxed);
                true
            }
        };
        self.added(peer, to, weight, state);
        if is_new {
            peer.node.spawn(carry(target, Carried::new(peer, to)));
        }
    }

    fn added(
        &self,
        peer: &'static Peer,
        to: Slot,
        weight: usize,
        mut state: MutexGuard<'_, State>,
    ) {
        state.weight += weight;
        state.look();
        let State { by_slot, held, is_much, .. } = &mut *state;
        if let Some(line) = by_slot.get_mut(&to) {
            line.weight += weight;
            line.parked += 1;
            // Once `MOST` actors are held, all values are held, or are about to be.
            let is_due = line.weight >= HOLD || *is_much;
            if is_due && !line.is_held && *held < holds::MOST {
                line.is_held = true;
                *held += 1;
                peer.control(Message::Hold { to: Some(to) });
            }
        }
        state.tell_of_all(peer);
        let bytes = state.weight;
        if bytes > peer.node.limits.parked {
            drop(state);
            peer.node.refuse(peer, super::error::Mismatch::Parked { bytes });
        }
    }

    /// The number of parked messages.
    pub(super) fn len(&self) -> usize {
        self.lock().by_slot.values().map(|line| line.parked).sum()
    }

    /// Takes account of what the porter of a line has delivered.
    fn removed(&self, peer: &'static Peer, to: Slot, delivered: Delivered) {
        let Delivered { messages, weight, casts } = delivered;
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        state.weight -= weight;
        state.casts -= casts;
        state.look();
        let State { by_slot, held, is_much, .. } = &mut *state;
        if let Some(line) = by_slot.get_mut(&to) {
            line.weight -= weight;
            line.parked -= messages;
            let most = if *is_much { 0 } else { HOLD / 2 };
            if line.is_held && line.weight <= most {
                line.is_held = false;
                *held -= 1;
                peer.control(Message::Resume { to: Some(to) });
            }
        }
        state.tell_of_all(peer);
    }

    /// Notes whether the readers are behind with the peer's frames.
    #[cold]
    pub(super) fn frames_pile_up(&self, peer: &'static Peer, is_behind: bool) {
        let mut state = self.lock();
        state.is_behind = is_behind;
        state.tell_of_all(peer);
    }

    /// Takes all that is in a line, for its porter. Removes an empty line, and returns None.
    fn take(&self, to: Slot) -> Option<(Vec<Item>, Vec<u8>)> {
        let mut state = self.lock();
        let line = state.by_slot.get_mut(&to)?;
        if line.items.is_empty() {
            state.by_slot.remove(&to);
            self.lines.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        line.porter = None;
        Some((mem::take(&mut line.items), mem::take(&mut line.bytes)))
    }

    /// Leaves the waker of a line's porter. False if the lines were cleared.
    fn waits(&self, to: Slot, waker: &Waker) -> bool {
        let mut state = self.lock();
        let Some(line) = state.by_slot.get_mut(&to) else { return false };
        if !line.porter.as_ref().is_some_and(|porter| porter.will_wake(waker)) {
            // The drop runs no caller's code: the old value is a task's waker.
            line.porter = Some(waker.clone());
        }
        true
    }

    /// Drops what is left of a line whose porter is gone.
    #[cold]
    fn abandon(&self, peer: &'static Peer, to: Slot) {
        while let Some((items, bytes)) = self.take(to) {
            let mut gone = Delivered::default();
            items.iter().for_each(|item| gone.add(Delivered::of(item)));
            self.removed(peer, to, gone);
            drop_all(peer, items, &bytes);
        }
    }

    /// Drops what is parked, as dead letters, tells the askers of third nodes, and lets nothing be
    /// parked any more. The peer is down, and was marked so before.
    pub(super) fn clear(&self, peer: &Peer) {
        let lines = {
            let mut state = self.lock();
            state.is_closed = true;
            self.is_cleared.store(true, Ordering::Release);
            state.weight = 0;
            state.casts = 0;
            state.held = 0;
            self.lines.store(0, Ordering::Relaxed);
            mem::take(&mut state.by_slot)
        };
        for line in lines.into_values() {
            drop_all(peer, line.items, &line.bytes);
            if let Some(porter) = line.porter {
                porter.wake();
            }
        }
    }
}

impl State {
    /// Whether no more messages of collective sends are parked.
    fn casts_are_too_many(&self, peer: &Peer) -> bool {
        self.weight >= MUCH || self.casts >= peer.node.limits.waiting_casts
    }

    /// Updates whether each line is to be held.
    fn look(&mut self) {
        self.is_much = self.weight > if self.is_much { MUCH / 2 } else { MUCH };
    }

    /// Tells the peer to hold all values or to go on, if it was told the opposite last.
    fn tell_of_all(&mut self, peer: &'static Peer) {
        let parked = peer.node.limits.parked;
        let (most, most_held) = match self.holds_all {
            false => (parked / 2, holds::MOST),
            true => (parked / 4, holds::MOST / 2),
        };
        let holds_all = self.is_behind || self.weight > most || self.held >= most_held;
        if holds_all == self.holds_all || self.is_closed {
            return;
        }
        self.holds_all = holds_all;
        peer.control(if holds_all {
            Message::Hold { to: None }
        } else {
            Message::Resume { to: None }
        });
    }
}

/// Drops messages of a peer that is lost; `bytes` has the values that are not shared. Each value is
/// a dead letter, in one record for all. An unread message may contain places for answers: their
/// askers are told, since they do not end with the peer. The `Drop` of a message that was read is a
/// caller's code.
fn drop_all(peer: &Peer, items: impl IntoIterator<Item = Item>, bytes: &[u8]) {
    let (mut at, mut values) = (0, 0);
    for item in items {
        values += u64::from(!matches!(item, Item::Drain));
        if let Item::Tell(_, places, length, _) = item {
            let places = &bytes[at..at + places];
            at += places.len() + length;
            let askers = Askers { call: None, places: Places::from_bytes(places) };
            askers.fail(peer, Failure::Ended, "");
        }
        contain(|| drop(item));
    }
    peer.node.count_undelivered(values);
}
