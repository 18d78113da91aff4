//! The number of a node.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A node of a job; the first has the number 0.
///
/// Displays as its number, and is written in a message as its number is.
///
/// # Examples
/// The next node of a ring of four:
/// ```
/// use evenkeel_node::NodeId;
///
/// let next = |node: NodeId| NodeId::new((node.number() + 1) % 4);
/// assert_eq!(next(NodeId::new(2)), NodeId::new(3));
/// assert_eq!(next(NodeId::new(3)), NodeId::default());
/// ```
///
/// In a message:
/// ```
/// use evenkeel_node::NodeId;
/// use serde::{Deserialize, Serialize};
///
/// /// Which node has which part of a table.
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Shards(Vec<NodeId>);
///
/// let shards = Shards(vec![NodeId::from(2), NodeId::new(300)]);
/// let bytes = postcard::to_stdvec(&shards).unwrap();
/// assert_eq!(postcard::from_bytes(&bytes), Ok(shards));
/// assert_eq!(u32::from(NodeId::new(300)), 300);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns the node with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the node's number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl From<u32> for NodeId {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl From<NodeId> for u32 {
    fn from(node: NodeId) -> Self {
        node.0
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(Self)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
