//! Handles messages from other nodes to this node.

use super::calls::Outcome;
use super::cast::pass_on;
use super::error::Mismatch;
use super::inner::{Peer, Standing};
use super::scripts::Refusal;
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

/// Handles a message that is not for an actor's mailbox, and adds it to `control` if it is no work.
/// False if nothing more of this frame is to be read.
#[inline(never)]
pub(super) fn take(peer: &'static Peer, message: Message<'_>, control: &mut u64) -> bool {
    let node = peer.node;
    match (message, peer.standing()) {
        (Message::Hello { node: number, nodes, ties, job, name, .. }, _) => {
            *control += 1;
            node.greeted(peer, &Hello { node: number, nodes, ties, job, name });
            peer.standing() == Standing::Greeted
        }
        (Message::Refuse { detail }, _) => {
            node.refused(peer, detail);
            false
        }
        (_, Standing::New) => {
            node.refuse(peer, Mismatch::Silent);
            false
        }
        (_, Standing::Down) => false,
        (message, Standing::Greeted) => {
            *control += u64::from(is_step(&message));
            follow(peer, message)
        }
    }
}

/// Whether the message is a step of a protocol between nodes, which is no work.
fn is_step(message: &Message<'_>) -> bool {
    matches!(
        message,
        Message::Release { .. }
            | Message::Lent { .. }
            | Message::Counted { .. }
            | Message::Hold { .. }
            | Message::Resume { .. }
            | Message::Barrier { .. }
            | Message::Termination(_)
    )
}

/// Handles a message of a node that has introduced itself. False if the node is shut out for it.
fn follow(peer: &'static Peer, message: Message<'_>) -> bool {
    let node = peer.node;
    let is_right = match message {
        Message::Release { to, from, times } => released(peer, to, from, times),
        Message::Lent { to, holder, times, loan } => lent(peer, to, (holder, times), loan),
        Message::Counted { loan } => peer.has_counted(loan),
        Message::Hold { to } => peer.holds.hold(to),
        Message::Resume { to } => peer.holds.resume(to),
        Message::Barrier { barrier, phase, step } => {
            node.collective.barrier(node, peer.id, barrier, phase, step)
        }
        Message::Termination(probe) => node.collective.probe(node, peer.id, probe),
        Message::Cast { members, payload } => pass_on(peer, members, payload),
        Message::Monitor { tie, to } => return ties::monitored(peer, tie, to),
        Message::Link { tie, from, to } => return ties::linked(peer, tie, from, to),
        other => {
            serve(peer, other);
            true
        }
    };
    is_right || node.out_of_turn(peer)
}

/// Handles a message that cannot be out of turn.
fn serve(peer: &'static Peer, message: Message<'_>) {
    let node = peer.node;
    match message {
        Message::Answer { call, payload } => node.close_call(call, Outcome::Answer(payload)),
        Message::Located { call, at } => {
            // Dropped here if no caller waits for it.
            let lease = Arc::new(Lease::new(peer, Name { node: peer.id, slot: at }, peer.id, 1));
            node.close_call(call, Outcome::At(&lease));
        }
        Message::Failed { call, failure, detail } => {
            node.close_call(call, Outcome::Failed(failure, detail));
        }
        Message::Spawn { call, .. } if !node.table.has_room(peer.id, node.limits.actors) => {
            peer.fail(call, Failure::TooManyActors, "");
        }
        Message::Moved { call, to } => node.moved(peer.id, call, to),
        Message::Spawn { call, script, arguments, .. } => {
            located(peer, call, node.scripts.start(peer, script, arguments));
        }
        Message::Locate { call, name, messages } => {
            located(peer, call, node.scripts.locate(&node.table, peer.id, name, messages));
        }
        // The actor handles the messages before it first, so it does not pass what is parked.
        Message::Stop { to, how: StopHow::Drain }
            if peer.parking.any() && peer.parking.drain(peer, to) => {}
        Message::Stop { to, how } => {
            if let Some(target) = node.table.get(to) {
                stop(&target.any(), how);
            }
        }
        Message::Untie { tie, opener } => ties::untied(peer, tie, opener),
        Message::Exit { tie, opener, end } => ties::exited(peer, tie, opener, &end),
        // An `Abandon` changes no answer.
        _ => {}
    }
}

/// Tells a node where an actor is, which is leased to it, or why it gets none.
fn located(peer: &'static Peer, call: u64, found: Result<Slot, Refusal>) {
    match found {
        Ok(at) => {
            if peer.try_say(Message::Located { call, at }).is_err() {
                // The peer is down, and does not give it back.
                peer.node.table.release(peer.id, at, 1);
            }
        }
        Err((failure, detail)) => peer.fail(call, failure, &detail),
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
