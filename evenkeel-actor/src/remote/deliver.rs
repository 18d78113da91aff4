//! What messages from other nodes say to actors.

use super::askers::Askers;
use super::inner::Peer;
use super::tell::{Full, tell_it};
use crate::node::Slot;
use crate::node::wire::Failure;

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
