//! The number of a node.

use std::fmt;

/// A node of a job; the first has the number 0.
///
/// Displays as its number.
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

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
