//! The word of a [`Deque`](super::Deque) that owner and thieves change: tail, split and tag.

/// The word that owner and thieves change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends(pub(super) u64);

impl Ends {
    /// Enough for [`PLACES`](super::PLACES) itself; the tag has the other 30.
    const BITS: u32 = 17;
    const MASK: u64 = (1 << Self::BITS) - 1;
    pub(super) const TAG: u64 = 1 << (2 * Self::BITS);

    pub(super) fn tail(self) -> u32 {
        (self.0 & Self::MASK) as u32
    }

    pub(super) fn split(self) -> u32 {
        (self.0 >> Self::BITS & Self::MASK) as u32
    }

    pub(super) fn with_split(self, split: u32) -> Self {
        Self(self.0 & !(Self::MASK << Self::BITS) | u64::from(split) << Self::BITS)
    }

    pub(super) fn with_tail(self, tail: u32) -> Self {
        Self(self.0 & !Self::MASK | u64::from(tail))
    }
}
