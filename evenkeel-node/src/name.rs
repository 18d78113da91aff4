//! The names of actors: a node, a place on it, and the generation of the place.

use super::NodeId;
use std::fmt;

/// An actor's place on its node. Places are used again: the generation tells apart the actors that
/// have had the same index.
///
/// Between two nodes the slot alone names an actor, since the frame goes from one of the two to the
/// other: no node can speak in the name of an actor of a third node. Displays as
/// `index.generation`.
///
/// # Examples
/// See [`Name`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The number of the place.
    pub index: u32,
    /// How many actors have had the place before.
    pub generation: u32,
}

/// The name of an actor of any node of the job. It says where the actor is, so no directory is
/// needed.
///
/// Displays as `node:index.generation`.
///
/// # Examples
/// ```
/// use evenkeel_node::{Name, NodeId, Slot};
///
/// let first = Name { node: NodeId::new(3), slot: Slot { index: 14, generation: 0 } };
/// assert_eq!(first.to_string(), "3:14.0");
/// // Another actor has the same place later, and another name.
/// let slot = Slot { generation: 1, ..first.slot };
/// assert_ne!(Name { slot, ..first }, first);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The actor's node.
    pub node: NodeId,
    /// Its place there.
    pub slot: Slot,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, NodeId, Slot};

    #[test]
    fn a_name_shows_its_node_and_its_slot() {
        let name = Name { node: NodeId::new(3), slot: Slot { index: 14, generation: 2 } };
        assert_eq!(name.to_string(), "3:14.2");
    }
}
