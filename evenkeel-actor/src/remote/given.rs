//! References in a value that is written. They are counted for the node that the value is for,
//! before the record that names them can arrive there. [`lease`](super::lease) says why.

use super::arrived::{Arrived, Given, Kept};
use super::inner::Peer;
use crate::node::Name;
use crate::node::wire::{References, ReferencesBuf};
use std::sync::Arc;

/// The names of the references in a record for a peer.
pub(super) fn names(peer: &Peer, given: &[Given]) -> ReferencesBuf {
    let name = |given: &Given| match given {
        Given::Own(slot) => Name { node: peer.node.number, slot: *slot },
        Given::Leased(lease) => lease.name(),
    };
    let mut names: Vec<_> = given.iter().map(name).collect();
    // The reader of the value searches them.
    names.sort_unstable();
    let mut references = ReferencesBuf::new();
    names.into_iter().for_each(|name| references.push(name));
    references
}

/// Settles the counts of these references: their record was put in for a peer, or was not.
#[cold]
pub(super) fn settle(peer: &'static Peer, given: Vec<Given>, is_put: bool) {
    for given in given {
        match given {
            Given::Own(slot) if !is_put => {
                peer.node.table.release(peer.id, slot, 1);
            }
            Given::Own(_) => {}
            // At its owner a reference is not counted: the `Release` is read behind the record.
            Given::Leased(lease) if is_put && lease.name().node != peer.id => {
                let owner = peer.node.peer(lease.name().node);
                owner.expect("a lease is of a node of the job").lend(lease, peer.id);
            }
            Given::Leased(_) => {}
        }
    }
}

/// Puts a record with these references in for a peer. They may be put in for others too.
pub(super) fn put<E>(
    peer: &'static Peer,
    given: impl Iterator<Item = Given>,
    put: impl FnOnce(References<'_>) -> Result<(), E>,
) -> Result<(), E> {
    // If its actor has ended, the value alone names a reference.
    let is_counted = |given: &Given| match given {
        Given::Own(slot) => peer.node.table.give(*slot, peer.id),
        Given::Leased(_) => true,
    };
    let given: Vec<_> = given.filter(is_counted).collect();
    let done = put(names(peer, &given).as_references());
    settle(peer, given, done.is_ok());
    done
}

/// The references in a value that this node itself reads, or puts in for several others. Meanwhile
/// references to its own actors are counted for this node.
pub(super) struct Bundle {
    /// This node.
    own: &'static Peer,
    given: Vec<Given>,
}

impl Bundle {
    pub(super) fn new(own: &'static Peer, given: Vec<Given>) -> Self {
        Self { own, given }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Given> {
        self.given.iter().cloned()
    }

    /// The references as they arrive at this node, which reads the value.
    pub(super) fn arrive(&self) -> Option<Arc<Arrived>> {
        let own = self.own;
        let kept = |given: &Given| match given {
            Given::Own(slot) => {
                let name = Name { node: own.id, slot: *slot };
                own.node.table.get(*slot).map(|target| (name, Kept::Home(target)))
            }
            Given::Leased(lease) => Some((lease.name(), Kept::Leased(Arc::clone(lease)))),
        };
        Arrived::of(self.given.iter().filter_map(kept).collect())
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        settle(self.own, std::mem::take(&mut self.given), false);
    }
}
