//! What becomes of operations in place that are looked at.

/// What is made of operations in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Look {
    /// Nothing. Nor where something is being tried: in place would seem slower than it is.
    Nothing,
    /// Their objects get homes.
    Assign,
    /// Their objects lose their homes, if they have any.
    Unassign,
    /// That, and what sharing costs is sampled.
    Observe,
}

impl Look {
    /// The one of this number.
    pub(super) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Assign,
            2 => Self::Unassign,
            _ => Self::Observe,
        }
    }

    /// Whether operations in place are timed.
    pub(super) fn times(self) -> bool {
        matches!(self, Self::Assign | Self::Observe)
    }
}
