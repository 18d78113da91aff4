//! The identity of an actor.

use crate::node::{Name, NodeId, Slot};
use evenkeel::internal::fresh_id;
use evenkeel::task::Id;
use std::fmt;

/// The identity of an actor, unique in this process and on the nodes that this process knows.
///
/// Displays as a number; for an actor of another node, as the actor's [name](crate::node::Name).
///
/// # Examples
/// ```
/// use evenkeel_actor::{ActorId, ActorRef, kit};
/// use std::collections::HashMap;
///
/// kit::run(1, |kit| async move {
///     let probes = [kit.probe::<u32>(), kit.probe::<u32>()];
///     let by_id: HashMap<ActorId, ActorRef<u32>> =
///         probes.iter().map(|probe| (probe.actor().id(), probe.actor())).collect();
///     assert_eq!(by_id.len(), 2);
///     by_id[&probes[1].actor().id()].send(7).await.unwrap();
///     kit.settle().await;
///     assert_eq!(probes[1].drain(), [7]);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActorId(Which);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Which {
    /// An actor of this process, by the number of its task.
    Here(Id),
    /// An actor of another node, by its name, so that this process stores nothing for names that a
    /// peer makes up. `by` tells the nodes of this process apart that know the actor.
    There { by: u16, node: NodeId, slot: Slot },
}

impl ActorId {
    #[inline]
    pub(crate) const fn here(task: Id) -> Self {
        Self(Which::Here(task))
    }

    pub(crate) const fn there(by: u16, name: Name) -> Self {
        Self(Which::There { by, node: name.node, slot: name.slot })
    }

    /// Returns the identity of an actor of which nothing else is known.
    pub(crate) fn fresh() -> Self {
        Self::here(fresh_id())
    }

    /// Returns the number of its task; for an actor of another node, a number that no task has.
    pub(crate) fn task(self) -> Id {
        match self.0 {
            Which::Here(task) => task,
            Which::There { .. } => fresh_id(),
        }
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Which::Here(task) => task.fmt(f),
            Which::There { node, slot, .. } => Name { node, slot }.fmt(f),
        }
    }
}

/// A value that has an actor's identity.
pub(crate) trait HasId {
    fn id(&self) -> ActorId;
}
