//! Readers, a porter and an actor with a small mailbox, on several workers.

use super::super::deliver::deliver;
use super::super::inner::Inner;
use super::super::route::{Peer, Standing};
use crate::models::{at_once, join, spawn_in};
use crate::node::in_process::{Faults, network};
use crate::node::policy::Packing;
use crate::node::{NodeId, Slot, payload};
use crate::{Actor, Context, Handled, System};
use evenkeel::Handle;
use evenkeel::internal::check;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// What an actor has been given, in order. Under the lock nobody else has a turn.
type Given = Arc<Mutex<Vec<u64>>>;

struct Notes(Given);

impl Actor for Notes {
    type Message = u64;

    async fn handle(&mut self, number: u64, _context: &mut Context<Self>) -> Handled {
        self.0.lock().expect("nothing panics under it").push(number);
        evenkeel::yield_now().await;
        Ok(())
    }
}

/// A node of two whose transport nobody drives, and what it knows of the other.
fn peer(handle: &Handle) -> (&'static Inner, &'static Peer) {
    let (_control, mut ends) = network(2, Faults::default());
    let packing = Packing { frame: 256, ..Packing::default() };
    let builder = crate::remote::Node::builder().system(System::new()).packing(packing);
    // A host that flushes: so there are no tasks of the node but porters.
    let (node, host) = builder.build(ends.remove(0), handle.clone(), 2, true);
    let inner = node.inner();
    // What is said to the peer is not looked at, and neither leaves.
    std::mem::forget((node, host));
    let peer = inner.peer(NodeId::new(1)).expect("there are two nodes");
    assert!(peer.greets());
    assert_eq!(peer.standing(), Standing::Greeted);
    (inner, peer)
}

async fn read(peer: &'static Peer, to: Slot, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let mut bytes = Vec::new();
        payload::put(&number, &mut bytes).expect("a number can be written");
        deliver(peer, to, None, &bytes);
        shuttle::thread::yield_now();
    }
}

/// How many messages there are of each sender.
const EACH: u64 = 4;

/// Two readers read what two senders have sent.
#[test]
fn shuttle_what_is_parked_comes_once_and_in_order() {
    check(2, |handle| {
        let (inner, peer) = peer(handle);
        let given = Given::default();
        let actor = spawn_in(handle, inner.system, Notes(given.clone()));
        let to = actor.slot_in(&inner.table);
        let before = peer.control.load(Ordering::Relaxed);
        at_once(
            handle,
            [Box::pin(read(peer, to, 0..EACH)), Box::pin(read(peer, to, 100..100 + EACH))],
        );
        join(handle.spawn(async move {
            crate::models::until(|| !peer.parking.any()).await;
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
        assert!(told.is_multiple_of(2), "whoever was told to hold was told to go on");
        assert_eq!(peer.parking.lock().weight, 0);
    });
}

/// The peer is lost while messages are parked; nobody waits for them, and what has come of each sender has come in order.
#[test]
fn shuttle_what_is_parked_ends_with_its_peer() {
    check(2, |handle| {
        let (inner, peer) = peer(handle);
        let given = Given::default();
        let actor = spawn_in(handle, inner.system, Notes(given.clone()));
        let to = actor.slot_in(&inner.table);
        at_once(
            handle,
            [
                Box::pin(read(peer, to, 0..EACH)),
                Box::pin(async move {
                    peer.stand(Standing::Down);
                    peer.parking.clear();
                }),
            ],
        );
        join(handle.spawn(async move {
            actor.stop();
            actor.stopped().await;
            inner.table.note_stopped(to);
        }));
        assert!(!peer.parking.any());
        let given = given.lock().expect("nothing panics under it");
        assert!(given.is_sorted(), "{given:?}");
    });
}
