//! The names of actors: a place on a node, and which of the actors that have had it.

use super::NodeId;
use std::fmt;

/// An actor's place on its node. Places are used again: the generation tells those apart that have
/// had the same index.
///
/// Between two nodes an actor is named by its slot alone, since the frame that names it has come
/// from one of them and goes to the other: nobody can speak in the name of an actor of a third
/// node. Displays as `index.generation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Which place.
    pub index: u32,
    /// How many actors have had it before.
    pub generation: u32,
}

/// An actor of some node of the job. It says where the actor is, so no directory is asked.
///
/// Displays as `node:index.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The node that it lives on.
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
