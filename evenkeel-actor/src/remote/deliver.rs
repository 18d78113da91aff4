//! Delivers values from other nodes to actors, or parks them.

use super::askers::Askers;
use super::inner::Peer;
use super::tell::{Full, tell_it};
use crate::node::Slot;
use crate::node::wire::Failure;

/// Delivers a value to an actor, or parks it. False if it is parked: then it is counted once it is
/// delivered.
#[inline]
pub(super) fn deliver(peer: &'static Peer, to: Slot, askers: Askers<'_>, payload: &[u8]) -> bool {
    if peer.parking.any() && peer.parking.tell(peer, to, askers, payload) {
        return false;
    }
    let Some(full) = tell(peer, to, askers, payload) else { return true };
    peer.parking.park(peer, to, full, payload.len(), 1);
    false
}

/// Delivers or parks a value that was sent to several actors, and is counted by itself. What is
/// parked shares one copy.
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

/// Delivers a value to an actor. If its mailbox is full, returns what to wait for.
#[inline]
fn tell(peer: &'static Peer, to: Slot, askers: Askers<'_>, payload: &[u8]) -> Option<Full> {
    let Some(target) = peer.node.table.get(to) else {
        peer.node.undelivered(peer, askers, Failure::NoSuchActor, "");
        return None;
    };
    let wait = tell_it(peer, to, &*target, askers, payload)?;
    Some((target, wait))
}
