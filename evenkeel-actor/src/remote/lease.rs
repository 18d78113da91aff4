//! References that a node was given by another one, and gives back.
//!
//! # Roles
//! The *owner* is the node of an actor, the *holder* a node that has asked it for the actor: by a
//! script, or by a name. What the owner answers (`Located`) is one *lease* of the actor's slot. The
//! holder's references to it share the lease; when the last of them is dropped the holder gives it
//! back (`Release`).
//!
//! # States
//! For each slot the owner counts leases by holder, from before it answers. A slot is *kept* beside
//! that once its name was in a message, whose readers nobody counts: so it is until
//! its actor ends. An actor with a slot that has a lease, or is kept, has a reference; with the
//! last lease of a slot that is not kept the table drops its own, and the actor ends as one on its
//! own node does that has no reference
//! any more.
//!
//! A lease is *pinned* at its holder once its reference is where the holder cannot count it: it was
//! written into a message, or is an [`AnyActor`](crate::AnyActor), or a message went to the actor
//! by way of third
//! nodes. It is not given back then.
//!
//! # Why nothing ends too early
//! What a reference has sent is delivered before its lease is given back: it was put into a lane
//! before the reference was dropped, and before the holder says `Release` it flushes and fences the
//! owner's buffers in [all lanes](crate::node::multiplexer), so that is read after it. What
//! waits for room then has a reference of its own. The same holds for watches and links. A lease that is on its way to its
//! holder is counted already, and
//! the numbers are the owner's: no order between `Located` and `Release` of different leases
//! matters.
//!
//! # Why nothing is kept for ever
//! An answer that nobody waits for is a lease that is dropped where it arrives. One that cannot be
//! sent is taken back at once. All leases of a holder that is down go with it. What is pinned or
//! kept lasts until
//! its actor is stopped.
//!
//! # What a peer can do
//! Give back what it has, and nothing else: a node that gives back more has broken the rules and is
//! shut out.
//!
//! # Rejected
//! A `Release` for each clone: messages for what is counted here. Leases that run out unless they
//! are renewed: messages for as long as a reference is there, and an end by a pause of the network.
//! One
//! count for all holders: then a node that is lost takes its share with it. Counting references in
//! messages as well needs the names in a message beside its payload, since a payload that is not
//! read has references too, and for references to actors of third nodes a word from the receiver to
//! the owner, until which the sender keeps its own.

use super::route::Peer;
use crate::node::Slot;
use crate::node::wire::Message;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long leases are collected before they are given back together, as the
/// owner's buffers in all lanes are flushed for it. A choice; no benchmark sets it.
const COLLECTS: Duration = Duration::from_millis(1);

/// A lease that this node holds.
pub(crate) struct Lease {
    pub(super) peer: &'static Peer,
    pub(super) slot: Slot,
    is_pinned: AtomicBool,
}

impl Lease {
    /// The one that the owner has just given.
    pub(super) fn new(peer: &'static Peer, slot: Slot) -> Self {
        Self { peer, slot, is_pinned: AtomicBool::new(false) }
    }

    /// It is not given back any more.
    pub(crate) fn pin(&self) {
        // Read by the last of the references, which the others are dropped before.
        self.is_pinned.store(true, Ordering::Relaxed);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !*self.is_pinned.get_mut() {
            self.peer.give_back(self.slot);
        }
    }
}

/// Leases that are to be given back to a peer.
#[derive(Debug, Default)]
pub(crate) struct Releases(Mutex<Vec<Slot>>);

impl Peer {
    /// Has a lease given back soon. It may be dropped where a lane is locked, or where no runtime
    /// is.
    fn give_back(&'static self, slot: Slot) {
        if self.is_down() {
            return;
        }
        let mut releases = self.releases.0.lock().unwrap_or_else(PoisonError::into_inner);
        releases.push(slot);
        let is_first = releases.len() == 1;
        drop(releases);
        if is_first {
            self.node.spawn(async move {
                evenkeel::time::sleep(COLLECTS).await;
                self.give_all_back();
            });
        }
    }

    fn give_all_back(&self) {
        let slots = {
            let mut releases = self.releases.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *releases)
        };
        // What their references have sent is read before.
        if let Some(link) = &self.link {
            link.fence();
        }
        for to in slots {
            self.control(Message::Release { to });
        }
    }
}
