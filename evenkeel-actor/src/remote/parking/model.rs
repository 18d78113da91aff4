//! Readers, a porter and an actor with a small mailbox, on several workers.

use super::super::inner::Peer;
use super::fixture::{Given, Notes, peer, read};
use crate::models::{at_once, join, spawn_in, until};
use crate::node::Slot;
use evenkeel::internal::check;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

async fn read_all(peer: &'static Peer, to: Slot, numbers: std::ops::Range<u64>) {
    for number in numbers {
        read(peer, to, number);
        shuttle::thread::yield_now();
    }
}

/// The number of messages of each sender.
const EACH: u64 = 4;

/// Two readers read what two senders have sent.
#[test]
fn shuttle_what_is_parked_comes_once_and_in_order() {
    // Where the actor takes nothing before all is read, so much is parked that the peer has to be
    // told.
    check(2, |handle| comes_once_and_in_order(handle, true));
    check(2, |handle| comes_once_and_in_order(handle, false));
}

fn comes_once_and_in_order(handle: &evenkeel::Handle, has_to_wait: bool) {
    let (inner, peer) = peer(handle);
    let (given, may) = (Given::default(), Arc::new(AtomicBool::new(!has_to_wait)));
    let notes = Notes { given: given.clone(), may: may.clone() };
    let actor = spawn_in(handle, inner.system, notes);
    let to = actor.slot_in(&inner.table, crate::node::NodeId::new(1)).expect("it is here");
    let before = peer.control.load(Ordering::Relaxed);
    at_once(
        handle,
        [Box::pin(read_all(peer, to, 0..EACH)), Box::pin(read_all(peer, to, 100..100 + EACH))],
    );
    may.store(true, Ordering::SeqCst);
    join(handle.spawn(async move {
        until(|| !peer.parking.any()).await;
        actor.stop();
        actor.stopped().await;
        inner.table.note_stopped(to);
    }));
    let given = given.lock().expect("nothing panics under it");
    for first in [0, 100] {
        let of_one = given.iter().copied().filter(|number| number / 100 == first / 100);
        assert!(of_one.eq(first..first + EACH), "{given:?}");
    }
    assert_eq!(given.len() as u64, 2 * EACH);
    let told = peer.control.load(Ordering::Relaxed) - before;
    assert!(told.is_multiple_of(2), "each `Hold` has its `Resume`");
    assert!(told > 0 || !has_to_wait, "the peer was not told to hold");
    assert_eq!(peer.parking.lock().weight, 0);
}

/// The peer is lost while messages are parked. No task waits for them, and each sender's messages
/// have come in order. After the loss comes at most the message that the porter was busy with.
#[test]
fn shuttle_what_is_parked_ends_with_its_peer() {
    check(2, |handle| {
        let (inner, peer) = peer(handle);
        let (given, may) = (Given::default(), Arc::new(AtomicBool::new(true)));
        let actor = spawn_in(handle, inner.system, Notes { given: given.clone(), may });
        let to = actor.slot_in(&inner.table, crate::node::NodeId::new(1)).expect("it is here");
        let carried = || inner.counts.messages.load(Ordering::SeqCst);
        let at_end = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let noted = at_end.clone();
        at_once(
            handle,
            [
                Box::pin(read_all(peer, to, 0..2 * EACH)),
                Box::pin(async move {
                    peer.falls();
                    peer.parking.clear(peer);
                    noted.store(carried(), Ordering::SeqCst);
                }),
            ],
        );
        join(handle.spawn(async move {
            actor.stop();
            actor.stopped().await;
            inner.table.note_stopped(to);
        }));
        assert!(!peer.parking.any());
        assert!(carried() <= at_end.load(Ordering::SeqCst) + 1, "a porter has gone on");
        let given = given.lock().expect("nothing panics under it");
        assert!(given.is_sorted(), "{given:?}");
    });
}
