//! A hand-driven peer's claims about references, and their consequences.

use crate::bad_peers::{NODE, PEER, Pair};
use crate::ending::ends;
use evenkeel_actor::node::wire::{Envelope, Message as Wire, ReferencesBuf};
use evenkeel_actor::node::{Name, NodeId, Slot};
use evenkeel_actor::remote::{Limits, Mismatch, NodeEvent};

/// Has the actor answer with a reference to itself.
fn ask_who(pair: &mut Pair, to: Slot, call: u8) {
    pair.send(&[Wire::Ask { to, call: call.into(), limit: 0, payload: &[3, 1, call] }]);
    pair.receive(|message| match message {
        Wire::Answer { call: of, .. } if *of == u64::from(call) => Some(()),
        _ => None,
    });
}

/// Whether the node still knows the actor, once all earlier messages are read.
fn is_known(pair: &mut Pair, to: Slot) -> bool {
    pair.send(&[Wire::Ask { to, call: 1, limit: 0, payload: &[1, 1, 1] }]);
    pair.receive(|message| match message {
        Wire::Answer { call: 1, .. } => Some(true),
        Wire::Failed { call: 1, .. } => Some(false),
        _ => None,
    })
}

fn release(times: u64, to: Slot) -> Wire<'static> {
    Wire::Release { to, from: NODE, times }
}

/// The answer leaves before the release of an earlier reference arrives.
#[test]
fn a_reference_that_crosses_with_the_release_of_others_keeps_the_actor() {
    ends(|| {
        let (mut pair, to) = Pair::with_actor(1, Limits::default());
        ask_who(&mut pair, to, 10);
        ask_who(&mut pair, to, 11);
        pair.send(&[release(2, to)]);
        assert!(is_known(&mut pair, to));
        pair.send(&[release(1, to)]);
        assert!(!is_known(&mut pair, to));
    });
}

#[test]
fn a_peer_that_gives_back_more_references_than_it_was_sent_is_shut_out() {
    ends(|| {
        for times in [3, u64::MAX] {
            let (mut pair, to) = Pair::with_actor(1, Limits::default());
            ask_who(&mut pair, to, 10);
            pair.send(&[release(times, to)]);
            let event = pair.event();
            let why = Mismatch::OutOfTurn;
            assert_eq!(event, NodeEvent::Refused { node: PEER, why });
        }
    });
}

/// There are two nodes, so none to lend to, and the node has lent nothing.
#[test]
fn a_peer_that_says_of_loans_what_cannot_be_is_shut_out() {
    ends(|| {
        let none = NodeId::new(2);
        for holder in [NODE, PEER, none] {
            breaks_a_rule(|to| Wire::Lent { to, holder, times: 1, loan: 1 });
        }
        for from in [PEER, none] {
            breaks_a_rule(|to| Wire::Release { to, from, times: 1 });
        }
        breaks_a_rule(|_| Wire::Counted { loan: 1 });
    });
}

fn breaks_a_rule(say: impl Fn(Slot) -> Wire<'static>) {
    let (mut pair, to) = Pair::with_actor(1, Limits::default());
    pair.send(&[say(to)]);
    let why = Mismatch::OutOfTurn;
    assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why });
}

/// The peer names its own actor twice beside the value, and once in it, where it is dropped.
#[test]
fn a_peer_is_given_back_as_many_references_as_it_has_named() {
    ends(|| {
        let (mut pair, to) = Pair::with_actor(1, Limits::default());
        let slot = Slot { index: 40, generation: 2 };
        let mut references = ReferencesBuf::new();
        (0..2).for_each(|_| references.push(Name { node: PEER, slot }));
        let tell = Wire::Tell { to, payload: &[2, 1, 40, 2, 5] };
        let unread = Wire::Tell { to: Slot { index: 999, generation: 0 }, payload: &[] };
        let answer = Wire::Answer { call: 77, payload: &[] };
        for message in [tell, unread, answer] {
            let references = references.as_references();
            pair.send_envelope(&Envelope { references, ..Envelope::from(message) });
            pair.receive(|message| match *message {
                Wire::Release { to, from: PEER, times: 2 } if to == slot => Some(()),
                _ => None,
            });
        }
    });
}

/// A reference that is not named beside the value is not counted, so there is nothing to give back.
#[test]
fn a_reference_that_is_not_named_beside_its_value_is_none_of_a_peers() {
    ends(|| {
        let (mut pair, to) = Pair::with_actor(1, Limits::default());
        // It is told to send that actor a number, and does.
        pair.send(&[Wire::Tell { to, payload: &[2, 1, 40, 2, 5] }]);
        let is_released = pair.receive(|message| match *message {
            Wire::Release { .. } => Some(true),
            Wire::Tell { to, .. } => Some(to != Slot { index: 40, generation: 2 }),
            _ => None,
        });
        assert!(!is_released);
        assert!(is_known(&mut pair, to));
    });
}
