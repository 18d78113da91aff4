//! The task that puts the messages of a line into its actor's mailbox.

use super::super::askers::Askers;
use super::super::inner::Peer;
use super::super::lines::{Delivered, Item};
use super::super::table::{Target, Wait};
use super::super::tell::{stop, tell_it};
use super::super::turn::Turn;
use super::drop_all;
use crate::node::Slot;
use crate::node::wire::{Failure, Places, StopHow};
use evenkeel::internal::contain;
use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::vec;

/// Keeps a slot while a line is found by it, as a reference of this node does. Otherwise the actor
/// could get another slot, and messages sent by that slot would overtake the line.
struct Kept(&'static Peer, Slot);

impl Kept {
    /// None if the actor has ended.
    fn new(peer: &'static Peer, slot: Slot) -> Option<Self> {
        peer.node.table.give(slot, peer.node.number).then_some(Self(peer, slot))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let node = self.0.node;
        node.table.release(node.number, self.1, 1);
    }
}

/// The porter of the line for this actor.
pub(super) async fn carry(target: Arc<dyn Target<Peer>>, mut carried: Carried) {
    let Carried { peer, to, .. } = carried;
    let parking = &peer.parking;
    let mut turn = Turn::new();
    while let Some((items, bytes)) = parking.take(to) {
        (carried.items, carried.bytes, carried.at) = (items.into_iter(), bytes, 0);
        loop {
            if parking.is_cleared.load(Ordering::Acquire) {
                return;
            }
            let Some(item) = carried.items.next() else { break };
            let (one, counts) = (Delivered::of(&item), item.counts());
            let wait = match item {
                Item::Waits(wait, ..) => Some(wait),
                Item::Tell(call, places, length, origin) => {
                    let at = carried.at;
                    let bytes = &carried.bytes[at..at + places + length];
                    let (places, payload) = bytes.split_at(places);
                    carried.at += bytes.len();
                    let _within = origin.within();
                    let askers = Askers { call, places: Places::from_bytes(places) };
                    tell_it(peer, to, &*target, askers, payload)
                }
                Item::Shared(payload, origin) => {
                    let _within = origin.within();
                    tell_it(peer, to, &*target, Askers::default(), &payload)
                }
                Item::Drain => {
                    stop(&target.any(), StopHow::Drain);
                    None
                }
            };
            if let Some(wait) = wait {
                parking.removed(peer, to, mem::take(&mut carried.delivered));
                carried.waiting = Some(one);
                let is_done = room(peer, to, wait).await;
                carried.waiting = None;
                if !is_done {
                    return;
                }
                turn = Turn::new();
            }
            carried.delivered.add(one);
            peer.node.counts.messages.fetch_add(counts, Ordering::SeqCst);
            if turn.is_over() {
                parking.removed(peer, to, mem::take(&mut carried.delivered));
                evenkeel::yield_now().await;
                turn = Turn::new();
            }
        }
        parking.removed(peer, to, mem::take(&mut carried.delivered));
    }
    carried.is_over = true;
}

/// What a porter has of its line. If the porter does not come to the line's end, because the lines
/// were cleared or the runtime has ended, the rest of the line goes with it, as dead letters. So it
/// is made before the porter: the runtime may drop a task that it has never polled.
pub(super) struct Carried {
    peer: &'static Peer,
    to: Slot,
    items: vec::IntoIter<Item>,
    bytes: Vec<u8>,
    /// How many of the bytes are those of former items.
    at: usize,
    /// What is in the mailbox, and still counted as parked.
    delivered: Delivered,
    /// The message that waits for room.
    waiting: Option<Delivered>,
    is_over: bool,
    /// Given back once the line is gone.
    _kept: Option<Kept>,
}

impl Carried {
    /// For a new line. The reader makes it before it comes to a `Release` of the peer that gives
    /// the slot back.
    pub(super) fn new(peer: &'static Peer, to: Slot) -> Self {
        let (items, bytes) = (Vec::new().into_iter(), Vec::new());
        let (delivered, waiting) = (Delivered::default(), None);
        let _kept = Kept::new(peer, to);
        Self { peer, to, items, bytes, at: 0, delivered, waiting, is_over: false, _kept }
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut gone = mem::take(&mut self.delivered);
        if let Some(waiting) = self.waiting.take() {
            gone.add(waiting);
            self.peer.node.count_undelivered(1);
        }
        self.items.as_slice().iter().for_each(|item| gone.add(Delivered::of(item)));
        self.peer.parking.removed(self.peer, self.to, gone);
        drop_all(self.peer, self.items.by_ref(), &self.bytes[self.at..]);
        self.peer.parking.abandon(self.peer, self.to);
    }
}

/// Waits until a message is in its mailbox, or its actor has stopped. Then the message is dropped
/// here: its `Drop` is a caller's code, and a panic of it is contained. False if the lines were
/// cleared, which ends the wait.
async fn room(peer: &'static Peer, to: Slot, mut wait: Wait) -> bool {
    let arrived = poll_fn(|context| {
        if peer.parking.is_cleared.load(Ordering::Acquire) {
            return Poll::Ready(None);
        }
        match contain(|| wait.as_mut().poll(context)) {
            Some(Poll::Ready(arrived)) => Poll::Ready(Some(arrived)),
            None => Poll::Ready(Some(false)),
            Some(Poll::Pending) if peer.parking.waits(to, context.waker()) => Poll::Pending,
            Some(Poll::Pending) => Poll::Ready(None),
        }
    });
    let arrived = arrived.await;
    contain(|| drop(wait));
    if arrived == Some(false) {
        peer.node.undelivered(peer, Askers::default(), Failure::Ended, "");
        peer.node.table.note_stopped(to);
    }
    if arrived.is_none() {
        peer.node.count_undelivered(1);
    }
    arrived.is_some()
}
