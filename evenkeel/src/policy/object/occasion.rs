//! When something is tried again, why, and how far that has come.

use super::verdict::Mode;

/// How long a verdict is held at first, and at most.
pub const HOLD: u64 = 60_000_000;
/// See [`HOLD`].
pub const LONGEST_HOLD: u64 = HOLD << 6;

/// Why something is tried, and how far that has come: first one mode is tried against that which stands, and then perhaps the third.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occasion {
    /// Whether it answers a change.
    pub(super) answers: bool,
    /// The mode that stood when it began.
    pub(super) before: Mode,
    pub(super) challenger: Mode,
    pub(super) is_second: bool,
    /// Whether it has gone on because it contradicted itself.
    pub(super) is_repeated: bool,
    /// How far behind that which stands the best was that was tried, in percent of it: [`u64::MAX`] before there is one.
    pub(super) ahead: u64,
}

impl Occasion {
    /// One that arises while this mode stands.
    pub(super) fn new(before: Mode, answers: bool) -> Self {
        let challenger = before.challenger();
        Self { answers, before, challenger, is_second: false, is_repeated: false, ahead: u64::MAX }
    }

    /// The next one in which the third mode is tried.
    pub(super) fn third(self, challenger: Mode) -> Self {
        Self { challenger, is_second: true, is_repeated: false, ..self }
    }

    pub(super) fn note_probe(&mut self, standing: u64, rate: u64) {
        let ahead = u128::from(standing) * 100 / u128::from(rate.max(1));
        self.ahead = self.ahead.min(u64::try_from(ahead).unwrap_or(u64::MAX));
    }

    /// Notes that one was tried for longer: it was not far behind.
    pub(super) fn note_trial(&mut self) {
        self.ahead = 100;
    }
}

/// How long a verdict is held that has stood so often in a row.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::trial::{HOLD, LONGEST_HOLD, hold};
/// assert_eq!(hold(0), HOLD);
/// assert_eq!(hold(1), 2 * HOLD);
/// assert_eq!(hold(60), LONGEST_HOLD);
/// ```
#[must_use]
pub fn hold(stood: u32) -> u64 {
    (HOLD << stood.min(6)).min(LONGEST_HOLD)
}
