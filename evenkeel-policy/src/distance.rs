//! The names of distances.

/// What two hardware threads share, nearest first.
///
/// Packages outrank nodes: firmware can lay one memory node over several packages, and a cache line
/// still has to cross the link between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// The same hardware thread.
    Same,
    /// Two hardware threads of one core.
    SmtSibling,
    /// Two cores with a common second-level cache.
    SharedL2,
    /// Two cores with a common last-level cache.
    SharedLlc,
    /// One memory node of one package, but no common cache.
    SameNode,
    /// One package, but another memory node.
    SamePackage,
    /// Another package.
    Remote,
}

impl Distance {
    /// All distances, nearest first.
    pub const ALL: [Self; 7] = [
        Self::Same,
        Self::SmtSibling,
        Self::SharedL2,
        Self::SharedLlc,
        Self::SameNode,
        Self::SamePackage,
        Self::Remote,
    ];
}
