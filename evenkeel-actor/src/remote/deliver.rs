//! What messages from other nodes say, once they are read: to actors, and to the node.

use super::askers::Askers;
use super::calls::Outcome;
use super::inbound::Wait;
use super::inner::{Counts, Hello, Inner};
use super::route::{Peer, Standing};
use super::table::{Target, Told};
use super::ties;
use crate::kin::control::AnyActor;
use crate::node::Name;
use crate::node::wire::{Failure, Message, StopHow};
use crate::node::{NodeId, Slot};
use crate::refs::away::Lease;
use crate::system::System;
use crate::system::dead_letters;
use crate::words::dead_letter::DeadLetterKind;
use evenkeel::internal::contain;
use std::sync::Arc;

/// Delivers a value to an actor, or parks it. Whether it has been dealt with: if not, it is counted
/// when it is.
#[inline]
pub(super) fn deliver(peer: &'static Peer, to: Slot, askers: Askers<'_>, payload: &[u8]) -> bool {
    if peer.parking.any() && peer.parking.tell(peer, to, askers, payload) {
        return false;
    }
    let Some(full) = tell(peer, to, askers, payload) else { return true };
    peer.parking.park(peer, to, full, payload.len(), 1);
    false
}

/// The same for a value that was sent to several actors, which is counted for itself. There is one
/// copy of what is parked.
pub(super) fn deliver_to_all(peer: &'static Peer, to: impl Iterator<Item = Slot>, payload: &[u8]) {
    let mut copy = None;
    for to in to {
        if peer.parking.any() && peer.parking.cast(peer, to, &mut copy, payload) {
            continue;
        }
        if let Some(full) = tell(peer, to, Askers::default(), payload) {
            peer.parking.park(peer, to, full, payload.len(), 0);
        }
    }
}

/// An actor without room for a message, and the message.
pub(super) type Full = (Arc<dyn Target>, Wait);

/// Delivers a value to an actor. Gives what is to be waited for.
#[inline]
fn tell(peer: &'static Peer, to: Slot, askers: Askers<'_>, payload: &[u8]) -> Option<Full> {
    let Some(target) = peer.node.table.get(to) else {
        peer.node.undelivered(peer, askers, Failure::NoSuchActor, "");
        return None;
    };
    let wait = tell_it(peer, to, &*target, askers, payload)?;
    Some((target, wait))
}

/// The same to the actor of a slot, which the table may have forgotten.
#[inline]
pub(super) fn tell_it(
    peer: &'static Peer,
    to: Slot,
    target: &dyn Target,
    askers: Askers<'_>,
    payload: &[u8],
) -> Option<Wait> {
    let node = peer.node;
    // A caller's code that panics in this is contained where it runs: what reads the value, what a
    // full mailbox drops, and wakers.
    match target.tell(peer, payload) {
        Told::Done => {}
        Told::Waits(wait) => return Some(wait),
        Told::Full(message) => {
            node.undelivered(peer, askers, Failure::MailboxFull, "");
            contain(|| drop(message));
        }
        Told::Stopped(message) => {
            node.undelivered(peer, askers, Failure::NoSuchActor, "");
            contain(|| drop(message));
            node.table.note_stopped(to);
        }
        Told::Unreadable(error) => {
            Counts::add(&node.counts.unreadable);
            node.undelivered(peer, askers, Failure::Unreadable, &error.to_string());
        }
    }
    None
}

impl Inner {
    /// A message has not got to its actor.
    #[cold]
    pub(super) fn undelivered(&self, peer: &Peer, askers: Askers<'_>, why: Failure, detail: &str) {
        Counts::add(&self.counts.undelivered);
        note_dead(self.system, DeadLetterKind::Undelivered);
        askers.fail(peer, why, detail);
    }
}

/// A message from another node is a dead letter, of which only the bytes were there.
pub(crate) fn note_dead(system: System, kind: DeadLetterKind) {
    dead_letters::note::<[u8; 0]>(system, None, kind, 1);
}

/// The call that waits for what a message leads to here. If that panics, it is told so.
pub(super) fn awaited(message: &Message<'_>) -> Option<u64> {
    match *message {
        Message::Spawn { call, .. } | Message::Locate { call, .. } => Some(call),
        _ => None,
    }
}

/// Does what a message says that is not for an actor's mailbox. False if nothing more of this frame
/// is to be read.
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
            node.refuse(peer, super::error::Mismatch::Silent);
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
            return released(peer, to, from, times) || out_of_turn(node, peer);
        }
        Message::Lent { to, holder, times, loan } => {
            *control += 1;
            return lent(peer, to, (holder, times), loan) || out_of_turn(node, peer);
        }
        Message::Counted { loan } => {
            *control += 1;
            return peer.has_counted(loan) || out_of_turn(node, peer);
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
            match node.scripts.locate(node, peer.id, name, messages) {
                Ok(at) => located(peer, call, at),
                Err((failure, detail)) => peer.fail(call, failure, &detail),
            }
        }
        // What comes before it is handled first, so it does not pass what is parked.
        Message::Stop { to, how: StopHow::Drain }
            if peer.parking.any() && peer.parking.drain(peer, to) => {}
        Message::Stop { to, how } => {
            if let Some(target) = node.table.get(to) {
                stop(&target.any(), how);
            }
        }
        // Each node is named once.
        Message::Cast { members, .. } if members.len() > node.nodes as usize => {
            return out_of_turn(node, peer);
        }
        Message::Cast { members, payload } => {
            return super::cast::pass_on(peer, members, payload);
        }
        Message::Hold { to } => {
            *control += 1;
            return peer.holds.hold(to) || out_of_turn(node, peer);
        }
        Message::Resume { to } => {
            *control += 1;
            return peer.holds.resume(to) || out_of_turn(node, peer);
        }
        Message::Barrier { barrier, phase, step } => {
            *control += 1;
            return node.collective.barrier(node, peer, barrier, phase, step);
        }
        Message::Termination(probe) => {
            *control += 1;
            return node.collective.probe(node, peer, probe);
        }
        Message::Monitor { tie, to } => return ties::monitored(peer, tie, to),
        Message::Link { tie, from, to } => return ties::linked(peer, tie, from, to),
        Message::Untie { tie, opener } => ties::untied(peer, tie, opener),
        Message::Exit { tie, opener, end } => ties::exited(peer, tie, opener, &end),
        // Nobody answers less for an `Abandon`.
        _ => {}
    }
    true
}

/// Tells a node where an actor is, which is leased to it.
fn located(peer: &'static Peer, call: u64, at: Slot) {
    if peer.try_say(Message::Located { call, at }).is_err() {
        // It is down, and does not give it back.
        peer.node.table.release(peer.id, at, 1);
    }
}

/// A node gives back what a node has lent it, this one or another. False if that cannot be.
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

/// A node has lent an actor of this one to a third so often. False if that cannot be.
fn lent(peer: &'static Peer, to: Slot, (holder, times): (NodeId, u64), loan: u64) -> bool {
    let node = peer.node;
    let Some(third) = node.peer(holder).filter(|_| holder != peer.id) else { return false };
    let is_lost = || third.standing() == Standing::Down;
    if third.link.is_none() || !node.table.lent((peer.id, holder), to, times, is_lost) {
        return false;
    }
    // Of an actor that has ended too: the lender keeps a lease until it hears this.
    peer.control(Message::Counted { loan });
    true
}

pub(super) fn stop(actor: &AnyActor, how: StopHow) {
    match how {
        StopHow::Drain => actor.stop(),
        StopHow::Stop => actor.stop_now(),
        StopHow::Kill => actor.kill(),
    }
}

/// What a node that breaks the rules of a protocol has done to it.
pub(crate) fn out_of_turn(node: &Inner, peer: &'static Peer) -> bool {
    node.refuse(peer, super::error::Mismatch::OutOfTurn);
    false
}
