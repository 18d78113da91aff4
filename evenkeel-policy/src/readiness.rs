//! How often a processor looks whether its sockets are ready.
//!
//! A processor without work looks at once, and then sleeps until a socket is ready. One that has
//! work looks now and then between two batches. Others look for a processor that does not.

/// How long a processor with work goes on between two looks at its sockets. A look is a system
/// call, some 400 ns: one part in a hundred of this. Tokio looks every 61 polls. An estimate; no
/// benchmark sets it.
pub const LOOK: u64 = 40_000;

/// Others look for a processor that has not looked for this long: it is inside a long poll, or
/// asleep in the look itself. As long as the watch's first sleep.
pub const OVERDUE: u64 = 1_000_000;

/// Returns whether a processor that has work looks, if it has `looked` at that time.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{LOOK, is_due};
/// assert!(!is_due(100_000, 90_000));
/// assert!(is_due(100_000 + LOOK, 100_000));
/// ```
#[inline]
#[must_use]
pub fn is_due(now: u64, looked: u64) -> bool {
    now.saturating_sub(looked) >= LOOK
}

/// Returns whether another processor looks for one that has `looked` at that time.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{OVERDUE, is_overdue};
/// assert!(!is_overdue(OVERDUE, 1));
/// assert!(is_overdue(OVERDUE, 0));
/// ```
#[inline]
#[must_use]
pub fn is_overdue(now: u64, looked: u64) -> bool {
    now.saturating_sub(looked) >= OVERDUE
}
