//! Whether an object should lose its home.

use std::fmt;

/// An object that nobody has used for so many periods loses its home, and with it its place in a cache.
pub const PERIODS: u32 = 2;

/// The period in which it is looked at whether objects are used, in nanoseconds: that of the [first verdict](super::trial::HOLD), so that what comes
/// and goes faster keeps its home. An estimate; no benchmark sets it.
pub const PERIOD: u64 = super::trial::HOLD;

/// What is known of an object that has a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Periods since its last operation.
    pub idle_periods: u32,
    /// What an operation saves there in nanoseconds, the greater of [sharing](super::Sample::sharing_cost) and [capacity](super::Reuse::gain), or `None` as long as neither is known.
    pub saving: Option<u64>,
    /// The chance that an operation comes from elsewhere, in per mille.
    pub remote: u32,
    /// The [cost of a hop](super::Hop::cost), in nanoseconds.
    pub hop: u64,
    /// Whether its home does not get round to it: its worker has been inside one poll for longer than [`STUCK`].
    pub is_stuck: bool,
    /// Whether the caller has chosen the home.
    pub is_pinned: bool,
}

/// A home whose worker has stood still for this long is left, in nanoseconds: the period of rebalancing. An estimate; no benchmark sets it.
pub const STUCK: u64 = super::rebalance::PERIOD;

/// Why an object has lost its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nobody uses it.
    Idle,
    /// A hop costs more than it saves.
    TooCheap,
    /// Its home's worker stands still.
    Stuck,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => write!(f, "not used for {PERIODS} periods"),
            Self::TooCheap => f.write_str("a hop costs more than it saves"),
            Self::Stuck => f.write_str("its home does not get round to it"),
        }
    }
}

/// Decides whether an object loses its home, and why. A pinned one does only while its home stands still.
///
/// Between the hops here and the [1.3 times as much](super::assign::MARGIN) at which it gets a home, nothing changes.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Assigned, unassign, unassign::Reason};
/// let busy = Assigned {
///     idle_periods: 0,
///     saving: Some(300),
///     remote: 500,
///     hop: 58,
///     is_stuck: false,
///     is_pinned: false,
/// };
/// assert_eq!(unassign(&busy), None);
/// assert_eq!(unassign(&Assigned { idle_periods: 2, ..busy }), Some(Reason::Idle));
/// assert_eq!(unassign(&Assigned { saving: Some(20), ..busy }), Some(Reason::TooCheap));
/// assert_eq!(unassign(&Assigned { saving: None, ..busy }), None, "a home is where it is found out");
/// assert_eq!(unassign(&Assigned { idle_periods: 2, is_pinned: true, ..busy }), None);
/// assert_eq!(unassign(&Assigned { is_stuck: true, is_pinned: true, ..busy }), Some(Reason::Stuck));
/// ```
#[must_use]
pub fn unassign(object: &Assigned) -> Option<Reason> {
    if object.is_stuck {
        return Some(Reason::Stuck);
    }
    if object.is_pinned {
        return None;
    }
    if object.idle_periods >= PERIODS {
        return Some(Reason::Idle);
    }
    let hops = u128::from(object.hop) * u128::from(object.remote) / u128::from(super::WHOLE);
    object.saving.is_some_and(|saving| u128::from(saving) < hops).then_some(Reason::TooCheap)
}
