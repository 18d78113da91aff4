//! Parking on one worker: porters and actors run when the test yields.

use super::super::askers::Askers;
use super::super::calls::Outcome;
use super::super::deliver::deliver;
use super::MUCH;
use super::fixture::{Given, Notes, peer, read};
use crate::node::wire::{Failure, PlacesBuf};
use crate::node::{NodeId, payload};
use crate::primitives::oneshot;
use crate::{Builder, DeadLetterKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A runtime with one worker, on which spawned tasks run when the test yields.
fn runtime() -> evenkeel::Runtime {
    evenkeel::Builder::new().workers(1).reliefs(0).build().expect("it has a worker")
}

#[test]
fn a_porter_delivers_nothing_more_once_its_peer_is_down() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async move {
        let (inner, peer) = peer(&handle);
        let (given, may) = (Given::default(), Arc::new(AtomicBool::new(false)));
        let notes = Notes { given: given.clone(), may: may.clone() };
        let actor = Builder::new().capacity(4).system(inner.system).spawn(notes).unwrap();
        let to = actor.slot_in(&inner.table, crate::node::NodeId::new(1)).expect("it is here");
        // Four are in the mailbox, and the porter has all others in one batch.
        (0..40).for_each(|number| read(peer, to, number));
        assert_eq!(peer.parking.len(), 36);
        while peer.parking.lock().by_slot[&to].porter.is_none() {
            evenkeel::yield_now().await;
        }
        assert_eq!(peer.parking.lock().by_slot[&to].items.len(), 0, "it has a batch");
        // There is room, and the porter is on its way.
        let carried = || inner.counts.messages.load(Ordering::SeqCst);
        may.store(true, Ordering::SeqCst);
        while carried() == 0 {
            evenkeel::yield_now().await;
        }
        peer.falls();
        peer.parking.clear(peer);
        let at_end = carried();
        actor.stop();
        actor.stopped().await;
        assert_eq!(carried(), at_end);
        let given = given.lock().unwrap();
        assert!(given.len() as u64 <= 4 + at_end && given.is_sorted(), "{given:?}");
        // Each of the others is a dead letter.
        let undelivered = inner.counts.undelivered.load(Ordering::SeqCst);
        assert_eq!(given.len() as u64 + undelivered, 40);
        let dead = inner.system.dead_letters_of(DeadLetterKind::Undelivered);
        assert_eq!(dead, undelivered);
        drop(given);
        // So is one that a reader has found a full mailbox for just before.
        let notes = Notes { given: Given::default(), may: Arc::default() };
        let actor = Builder::new().capacity(1).system(inner.system).spawn(notes).unwrap();
        let to = actor.slot_in(&inner.table, NodeId::new(1)).expect("it is here");
        let mut bytes = Vec::new();
        payload::put(&1_u64, &mut bytes).unwrap();
        (0..2).for_each(|_| _ = deliver(peer, to, Askers::default(), &bytes));
        assert_eq!(inner.counts.undelivered.load(Ordering::SeqCst), undelivered + 1);
    });
    evenkeel::block_on(task).unwrap();
}

/// A porter has parked messages in its batch, or they are in the line.
#[test]
fn questions_that_a_lost_node_has_handed_on_fail_where_their_messages_are_parked() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async move {
        let (inner, peer) = peer(&handle);
        let (given, may) = (Given::default(), Arc::new(AtomicBool::new(false)));
        let notes = Notes { given: given.clone(), may };
        let actor = Builder::new().capacity(1).system(inner.system).spawn(notes).unwrap();
        let to = actor.slot_in(&inner.table, NodeId::new(1)).expect("it is here");
        // The place of a question of this node, which returns in a message to that actor.
        let hand_on = || {
            let (sender, asker) = oneshot::channel();
            let read = |outcome: Outcome<'_>| match outcome {
                Outcome::Failed(why, _) => Some(why),
                _ => None,
            };
            let call = inner.calls.open(NodeId::new(1), 0, sender, read).unwrap();
            let mut places = PlacesBuf::new();
            places.push(inner.number, call);
            let mut bytes = Vec::new();
            payload::put(&1_u64, &mut bytes).unwrap();
            deliver(peer, to, Askers::handed_on(0, places.as_places()), &bytes);
            asker
        };
        // Of these the actor has one, one is in the mailbox, and one waits for room.
        (0..4).for_each(|number| read(peer, to, number));
        let with_porter = [hand_on(), hand_on()];
        while peer.parking.lock().by_slot[&to].porter.is_none() {
            evenkeel::yield_now().await;
        }
        assert_eq!(peer.parking.lock().by_slot[&to].items.len(), 0, "it has a batch");
        let in_line = [hand_on(), hand_on()];
        assert_eq!(inner.calls.len(), 4);
        peer.falls();
        peer.parking.clear(peer);
        // The porter has its turn, and ends.
        for asker in in_line.into_iter().chain(with_porter) {
            assert_eq!(asker.await.ok(), Some(Some(Failure::Ended)));
        }
        assert_eq!(inner.calls.len(), 0);
    });
    evenkeel::block_on(task).unwrap();
}

/// A reader of another thread may be on its way when the host ends, and then no porter is started.
#[test]
fn what_is_parked_when_no_porter_can_be_started_is_a_dead_letter() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async move {
        let (inner, peer) = peer(&handle);
        let notes = Notes { given: Given::default(), may: Arc::new(AtomicBool::new(true)) };
        let actor = Builder::new().capacity(1).system(inner.system).spawn(notes).unwrap();
        let to = actor.slot_in(&inner.table, NodeId::new(1)).expect("it is here");
        inner.part();
        (0..2).for_each(|number| read(peer, to, number));
        assert!(!peer.parking.any(), "the line has no porter");
        assert_eq!(inner.counts.undelivered.load(Ordering::SeqCst), 1);
        // Nothing of the line keeps the actor, but for what other nodes know.
        inner.table.clear();
        let ended = actor.stopped();
        drop(actor);
        assert!(matches!(ended.await, crate::ExitReason::Unreferenced));
    });
    evenkeel::block_on(task).unwrap();
}

#[test]
fn where_much_is_parked_each_line_is_held_and_no_actor_that_has_room() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async move {
        let (inner, peer) = peer(&handle);
        let given = Given::default();
        let mays = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let actors = mays.each_ref().map(|may| {
            let notes = Notes { given: given.clone(), may: may.clone() };
            Builder::new().capacity(1).system(inner.system).spawn(notes).unwrap()
        });
        let [much, little] = actors.each_ref().map(|actor| {
            actor.slot_in(&inner.table, crate::node::NodeId::new(1)).expect("it is here")
        });
        let is_held = |to| peer.parking.lock().by_slot.get(&to).is_some_and(|line| line.is_held);
        // One message in the mailbox, and one parked.
        (0..2).for_each(|number| read(peer, little, number));
        assert_eq!((peer.parking.len(), is_held(little)), (1, false));
        while peer.parking.lock().weight <= 2 * MUCH {
            read(peer, much, 0);
        }
        assert!(is_held(much) && !is_held(little), "no more has come for it");
        read(peer, little, 2);
        assert!(is_held(little));
        assert!(!peer.parking.lock().holds_all);
        assert_eq!(peer.parking.lock().held, 2);
        // Though much is parked, senders to an actor that has taken all may go on.
        mays[1].store(true, Ordering::SeqCst);
        while peer.parking.lock().by_slot.contains_key(&little) {
            evenkeel::yield_now().await;
        }
        assert!(peer.parking.lock().weight > MUCH);
        assert_eq!(peer.parking.lock().held, 1);
        mays[0].store(true, Ordering::SeqCst);
        while peer.parking.any() {
            evenkeel::yield_now().await;
        }
        let state = peer.parking.lock();
        assert_eq!((state.weight, state.held, state.is_much), (0, 0, false));
    });
    evenkeel::block_on(task).unwrap();
}
