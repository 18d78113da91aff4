//! References in a value that has come. Each is a lease from when its record is read, even if the
//! value is not. [`lease`](super::lease) says why.
//!
//! `serde` passes no context to the code that reads a reference, so the references lie in a
//! thread-local variable while a record is handled. A parked message takes them along.

use crate::node::{Name, Slot};
use crate::refs::away::Lease;
use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

/// A reference in a value.
#[derive(Clone)]
pub(super) enum Given {
    /// To an actor of this node, with a slot that is counted for the node that gets the value.
    Own(Slot),
    /// To an actor of another node.
    Leased(Arc<Lease>),
}

/// What keeps the actor of a reference while its value waits to be read.
#[derive(Clone)]
pub(super) enum Kept {
    /// The actor itself, of this node.
    Home(Arc<dyn Any + Send + Sync>),
    Leased(Arc<Lease>),
}

/// The references in a value.
pub(super) struct Arrived {
    /// By their names, in order.
    kept: Vec<(Name, Kept)>,
}

impl Arrived {
    /// The references with these names; none if the list is empty.
    pub(super) fn of(mut kept: Vec<(Name, Kept)>) -> Option<Arc<Self>> {
        // A peer names them in order; if it does not, they are not found.
        kept.sort_by_key(|(name, _)| *name);
        (!kept.is_empty()).then(|| Arc::new(Self { kept }))
    }

    /// The references, for the same value as it is passed on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Given> {
        self.kept.iter().map(|(name, kept)| match kept {
            Kept::Home(_) => Given::Own(name.slot),
            Kept::Leased(lease) => Given::Leased(Arc::clone(lease)),
        })
    }

    /// The approximate memory of the references.
    pub(super) fn weight(&self) -> usize {
        self.kept.len() * (mem::size_of::<(Name, Kept)>() + mem::size_of::<Lease>())
    }
}

thread_local! {
    /// The references of the record that this thread handles.
    static CURRENT: RefCell<Option<Arc<Arrived>>> = const { RefCell::new(None) };
}

/// Restores the references of before when it is dropped. References that no code has taken along
/// are given back then.
pub(super) struct Within(Option<Arc<Arrived>>);

impl Drop for Within {
    fn drop(&mut self) {
        let over = CURRENT.replace(self.0.take());
        // Without a borrow: the drop may be that of the last reference to an actor.
        drop(over);
    }
}

/// Makes these the references of the handled value, until the result is dropped.
pub(super) fn within(arrived: Option<Arc<Arrived>>) -> Within {
    Within(CURRENT.replace(arrived))
}

/// The references of the handled value.
pub(super) fn current() -> Option<Arc<Arrived>> {
    CURRENT.with_borrow(Clone::clone)
}

/// What keeps the actor of this name, if its reference was named beside the value.
pub(super) fn find(name: Name) -> Option<Kept> {
    CURRENT.with_borrow(|current| {
        let kept = &current.as_ref()?.kept;
        let at = kept.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(kept[at].1.clone())
    })
}
