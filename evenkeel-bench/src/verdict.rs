//! Who is ahead of whom.

/// Who is ahead; a page marks it by colour as well as by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The subject is ahead of every peer.
    Ahead,
    /// A peer is ahead of the subject.
    Behind,
    /// Equal, or nothing to compare, or their ranges overlap: chance may have made the difference.
    Even,
}

/// What the question mark after a ratio means.
pub(crate) const DOUBT: &str = "?: the ranges overlap, so it may be chance";
