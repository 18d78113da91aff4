//! References in a value that has come: each is a lease from when its record is read, whether the
//! value is or not. [`lease`](super::lease) says why.
//!
//! `serde` hands nothing through to what reads a reference, so they are a thread's variable while a
//! record is dealt with. What is parked takes them along.

use super::given::Given;
use super::route::Peer;
use super::table::Target;
use crate::node::wire::References;
use crate::node::{Name, Slot};
use crate::refs::away::Lease;
use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

/// What keeps the actor of a reference while its value waits to be read.
#[derive(Clone)]
pub(super) enum Kept {
    /// The actor itself, of this node.
    Home(Arc<dyn Target>),
    Leased(Arc<Lease>),
}

/// The references in a value.
pub(super) struct Arrived {
    /// By their names, in order.
    kept: Vec<(Name, Kept)>,
}

impl Arrived {
    /// Those in a record of a peer; none if there are none that keep anything.
    fn new(from: &'static Peer, references: References<'_>) -> Option<Arc<Self>> {
        let mut kept: Vec<(Name, Kept)> = Vec::new();
        let mut names = references.iter().peekable();
        while let Some(name) = names.next() {
            let mut times = 1;
            while names.next_if_eq(&name).is_some() {
                times += 1;
            }
            // Where there is no such node the value cannot be read either.
            let Some(owner) = from.node.peer(name.node) else { continue };
            if owner.link.is_some() {
                let lease = Lease::new(owner, name, from.id, times);
                kept.push((name, Kept::Leased(Arc::new(lease))));
            } else if let Some(target) = from.node.table.get(name.slot) {
                kept.push((name, Kept::Home(target)));
            }
        }
        Self::of(kept)
    }

    /// Those in a value that this node writes and reads.
    pub(super) fn at_home(own: &'static Peer, given: &[Given]) -> Option<Arc<Self>> {
        let kept = |given: &Given| match given {
            Given::Own(slot) => {
                let name = Name { node: own.id, slot: *slot };
                own.node.table.get(*slot).map(|target| (name, Kept::Home(target)))
            }
            Given::Leased(lease) => Some((lease.name(), Kept::Leased(Arc::clone(lease)))),
        };
        Self::of(given.iter().filter_map(kept).collect())
    }

    fn of(mut kept: Vec<(Name, Kept)>) -> Option<Arc<Self>> {
        // They come in order; if not, that is a peer's, which has them not found.
        kept.sort_by_key(|(name, _)| *name);
        (!kept.is_empty()).then(|| Arc::new(Self { kept }))
    }

    /// What they are in the same value as it is passed on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Given> {
        self.kept.iter().map(|(name, kept)| match kept {
            Kept::Home(_) => Given::Own(name.slot),
            Kept::Leased(lease) => Given::Leased(Arc::clone(lease)),
        })
    }

    /// The memory that they take, about.
    pub(super) fn weight(&self) -> usize {
        self.kept.len() * (mem::size_of::<(Name, Kept)>() + mem::size_of::<Lease>())
    }
}

thread_local! {
    /// Those of the record that this thread deals with.
    static CURRENT: RefCell<Option<Arc<Arrived>>> = const { RefCell::new(None) };
}

/// Puts things back. What nothing has taken along is given back then.
pub(super) struct Within(Option<Arc<Arrived>>);

impl Drop for Within {
    fn drop(&mut self) {
        let over = CURRENT.replace(self.0.take());
        // Without a borrow: what it drops may be the last reference to an actor.
        drop(over);
    }
}

/// A value is dealt with in which these are, until the result is dropped.
pub(super) fn within(arrived: Option<Arc<Arrived>>) -> Within {
    Within(CURRENT.replace(arrived))
}

/// A record of a peer is dealt with, until the result is dropped.
#[cold]
pub(super) fn come(from: &'static Peer, references: References<'_>) -> Within {
    within(Arrived::new(from, references))
}

/// Those of the value that is dealt with.
pub(super) fn current() -> Option<Arc<Arrived>> {
    CURRENT.with_borrow(Clone::clone)
}

/// What keeps the actor of this name, if its reference was named beside the value.
pub(super) fn find(node: &Peer, slot: Slot) -> Option<Kept> {
    let name = Name { node: node.id, slot };
    CURRENT.with_borrow(|current| {
        let kept = &current.as_ref()?.kept;
        let at = kept.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(kept[at].1.clone())
    })
}
