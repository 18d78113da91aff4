//! Handles messages from other nodes to this node.

use super::calls::Outcome;
use super::cast::pass_on;
use super::error::Mismatch;
use super::inner::{Peer, Standing};
use super::standing::Hello;
use super::tell::stop;
use super::ties;
use crate::node::wire::{Failure, Message, StopHow};
use crate::node::{Name, NodeId, Slot};
use crate::refs::away::Lease;
use std::sync::Arc;

/// The call that waits for the result of a message. If handling the message panics, the call fails.
pub(super) fn awaited(message: &Message<'_>) -> Option<u64> {
    match *message {
        Message::Spawn { call, .. } | Message::Locate { call, .. } => Some(call),
        _ => None,
    }
}

/// Handles a message that is not for an actor's mailbox. False if nothing more of this frame is to
/// be read.
#[inline(never)]
pub(super) fn take(peer: &'static Peer, message: Message<'_>, control: &mut u64) -> bool {
    let node = peer.node;
    if let Message::Hello { node: number, nodes, ties, job, name, .. } = message {
        *control += 1;
        node.greeted(peer, &Hello { node: number, nodes, ties, job, name });
        return peer.standing() == Standing::Greeted;
    }
    if let Message::Refuse { detail } = message {
        node.refused(peer, detail);
        return false;
    }
    match peer.standing() {
        Standing::Greeted => {}
        Standing::New => {
            node.refuse(peer, Mismatch::Silent);
            return false;
        }
        Standing::Down => return false,
    }
    match message {
        Message::Answer { call, payload } => node.close_call(call, Outcome::Answer(payload)),
        Message::Located { call, at } => {
            // Dropped here if no caller waits for it.
            let lease = Arc::new(Lease::new(peer, Name { node: peer.id, slot: at }, peer.id, 1));
            node.close_call(call, Outcome::At(&lease));
        }
        Message::Release { to, from, times } => {
            *control += 1;
            return released(peer, to, from, times) || node.out_of_turn(peer);
        }
        Message::Lent { to, holder, times, loan } => {
            *control += 1;
            return lent(peer, to, (holder, times), loan) || node.out_of_turn(peer);
        }
        Message::Counted { loan } => {
            *control += 1;
            return peer.has_counted(loan) || node.out_of_turn(peer);
        }
        Message::Failed { call, failure, detail } => {
            node.close_call(call, Outcome::Failed(failure, detail));
        }
        Message::Spawn { call, .. } if !node.table.has_room(peer.id, node.limits.actors) => {
            peer.fail(call, Failure::TooManyActors, "");
        }
        Message::Moved { call, to } => node.moved(peer.id, call, to),
        Message::Spawn { call, script, arguments, .. } => {
            match node.scripts.start(peer, script, arguments) {
                Ok(at) => located(peer, call, at),
                Err((failure, detail)) => peer.fail(call, failure, &detail),
            }
        }
        Message::Locate { call, name, messages } => {
            match node.scripts.locate(&node.table, peer.id, name, messages) {
                Ok(at) => located(peer, call, at),
                Err((failure, detail)) => peer.fail(call, failure, &detail),
            }
        }
        // The actor handles the messages before it first, so it does not pass what is parked.
        Message::Stop { to, how: StopHow::Drain }
            if peer.parking.any() && peer.parking.drain(peer, to) => {}
        Message::Stop { to, how } => {
            if let Some(target) = node.table.get(to) {
                stop(&target.any(), how);
            }
        }
        // A list of members names each node once.
        Message::Cast { members, .. } if members.len() > node.nodes as usize => {
            return node.out_of_turn(peer);
        }
        Message::Cast { members, payload } => {
            return pass_on(peer, members, payload);
        }
        Message::Hold { to } => {
            *control += 1;
            return peer.holds.hold(to) || node.out_of_turn(peer);
        }
        Message::Resume { to } => {
            *control += 1;
            return peer.holds.resume(to) || node.out_of_turn(peer);
        }
        Message::Barrier { barrier, phase, step } => {
            *control += 1;
            let is_right = node.collective.barrier(node, peer.id, barrier, phase, step);
            return is_right || node.out_of_turn(peer);
        }
        Message::Termination(probe) => {
            *control += 1;
            return node.collective.probe(node, peer.id, probe) || node.out_of_turn(peer);
        }
        Message::Monitor { tie, to } => return ties::monitored(peer, tie, to),
        Message::Link { tie, from, to } => return ties::linked(peer, tie, from, to),
        Message::Untie { tie, opener } => ties::untied(peer, tie, opener),
        Message::Exit { tie, opener, end } => ties::exited(peer, tie, opener, &end),
        // An `Abandon` changes no answer.
        _ => {}
    }
    true
}

/// Tells a node where an actor is, which is leased to it.
fn located(peer: &'static Peer, call: u64, at: Slot) {
    if peer.try_say(Message::Located { call, at }).is_err() {
        // The peer is down, and does not give it back.
        peer.node.table.release(peer.id, at, 1);
    }
}

/// Handles leases that a node gives back, by this lender or another. False if that cannot be.
fn released(peer: &'static Peer, to: Slot, from: NodeId, times: u64) -> bool {
    let node = peer.node;
    if from == node.number {
        return node.table.release(peer.id, to, times);
    }
    let can_be = from != peer.id && node.peer(from).is_some();
    if can_be {
        node.table.release_lent((from, peer.id), to, times);
    }
    can_be
}

/// Handles loans of an actor of this node to a third node, `times` times. False if that cannot be.
fn lent(peer: &'static Peer, to: Slot, (holder, times): (NodeId, u64), loan: u64) -> bool {
    let node = peer.node;
    let Some(third) = node.peer(holder).filter(|_| holder != peer.id) else { return false };
    let is_lost = || third.standing() == Standing::Down;
    if third.link.is_none() || !node.table.lent((peer.id, holder), to, times, is_lost) {
        return false;
    }
    // For an actor that has ended too: the lender keeps a lease until it reads this.
    peer.control(Message::Counted { loan });
    true
}
