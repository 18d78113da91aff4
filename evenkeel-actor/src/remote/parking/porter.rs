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
use std::iter;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// Keeps a slot while a line is found by it, as a reference of this node does. Otherwise the actor
/// could get another slot, and messages sent by that slot would overtake the line.
pub(super) struct Kept(&'static Peer, Slot);

impl Kept {
    /// None if the actor has ended.
    pub(super) fn new(peer: &'static Peer, slot: Slot) -> Option<Self> {
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
pub(super) async fn carry(
    peer: &'static Peer,
    to: Slot,
    target: Arc<dyn Target<Peer>>,
    _kept: Option<Kept>,
) {
    let parking = &peer.parking;
    let mut turn = Turn::new();
    while let Some((items, bytes)) = parking.take(to) {
        let (mut at, mut delivered) = (0, Delivered::default());
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            if parking.is_cleared.load(Ordering::Acquire) {
                return drop_all(peer, iter::once(item).chain(items), &bytes[at..]);
            }
            let (weight, counts, is_cast) = (item.weight(), item.counts(), item.is_cast());
            let wait = match item {
                Item::Waits(wait, ..) => Some(wait),
                Item::Tell(call, places, length, origin) => {
                    let (places, payload) = bytes[at..at + places + length].split_at(places);
                    at += places.len() + length;
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
                parking.removed(peer, to, mem::take(&mut delivered));
                if !room(peer, to, wait).await {
                    return drop_all(peer, items, &bytes[at..]);
                }
                turn = Turn::new();
            }
            delivered.messages += 1;
            delivered.weight += weight;
            delivered.casts += usize::from(is_cast);
            peer.node.counts.messages.fetch_add(counts, Ordering::SeqCst);
            if turn.is_over() {
                parking.removed(peer, to, mem::take(&mut delivered));
                evenkeel::yield_now().await;
                turn = Turn::new();
            }
        }
        parking.removed(peer, to, delivered);
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
