//! For how long a [trial](super::trial) does not answer changes, because those before have left the verdict as it was.

use super::trial::SHORT;

/// The longest time for which no change is looked at, in nanoseconds, because those before it have left the verdict as it was: the rate of some programs goes up and down by itself. Shorter than the time from one
/// change of what is in use to the next in CoreTime's experiment as `evenkeel-bench` has it, 40 ms. An estimate; no benchmark sets it.
pub const DEAF: u64 = 24_000_000;

/// How long only [great](GREAT) changes are looked at, counted from the same time, where the mode that stands was [far ahead](FAR_AHEAD) of all others: one of them would have to gain as much as
/// never before. Smaller changes are looked at when that is over. An estimate; no benchmark sets it.
pub const DULL: u64 = 4 * DEAF;

/// See [`DULL`]: in percent.
pub const FAR_AHEAD: u64 = 200;

/// In percent. Less than the mode that stands was ahead. Measured: on a machine whose cores others make slower and faster again every 30 ms, by 1.7 times, 150 had each of these changes answered
/// (`evenkeel-bench run --bench counters --objects 1 --runtime automatic`).
pub const GREAT: u64 = 190;
const _: () = assert!(GREAT < FAR_AHEAD);

/// What has come of the changes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deafness {
    /// Changes in a row that have left the verdict as it was, and until when there is no look at others.
    fruitless: u32,
    until: u64,
    /// Until when only [great](GREAT) ones are looked at.
    dull_until: u64,
}

impl Deafness {
    /// Whether no change is looked at.
    pub(super) fn is_deaf(&self, now: u64) -> bool {
        now < self.until
    }

    /// Whether only great changes are looked at.
    pub(super) fn is_dull(&self, now: u64) -> bool {
        now < self.dull_until
    }

    /// Notes that a change has left the verdict as it was, and how far that which stands was ahead of all others, in percent of them.
    pub(super) fn note_fruitless(&mut self, now: u64, ahead: u64) {
        self.fruitless = self.fruitless.saturating_add(1);
        let deaf = deaf(self.fruitless);
        self.until = now.saturating_add(deaf);
        let is_far = ahead > FAR_AHEAD;
        self.dull_until = if is_far { now.saturating_add(deaf * (DULL / DEAF)) } else { 0 };
    }

    /// Has small changes looked at again.
    pub(super) fn sharpen(&mut self) {
        self.dull_until = 0;
    }

    /// Has no change looked at until then, because what was tried has moved something.
    pub(super) fn settle(&mut self, until: u64) {
        self.until = self.until.max(until);
    }

    /// Notes that no change has been answered for a while.
    pub(super) fn forgive(&mut self) {
        self.fruitless = 0;
    }
}

/// How long no change is looked at after so many in a row that have left the verdict as it was.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::deafness::{DEAF, deaf};
/// use evenkeel::policy::object::trial::SHORT;
/// assert_eq!((deaf(1), deaf(3), deaf(60)), (2 * SHORT, 8 * SHORT, DEAF));
/// ```
#[must_use]
pub fn deaf(fruitless: u32) -> u64 {
    (SHORT << fruitless.min(6)).min(DEAF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_deaf_for_longer_each_time_and_dull_only_if_far_ahead() {
        let mut deafness = Deafness::default();
        assert!(!deafness.is_deaf(0) && !deafness.is_dull(0));
        deafness.note_fruitless(100, FAR_AHEAD);
        assert!(deafness.is_deaf(100 + deaf(1) - 1) && !deafness.is_deaf(100 + deaf(1)));
        assert!(!deafness.is_dull(100));
        deafness.note_fruitless(100, FAR_AHEAD + 1);
        assert!(deafness.is_deaf(100 + deaf(2) - 1));
        let dull = deaf(2) * (DULL / DEAF);
        assert!(deafness.is_dull(100 + dull - 1));
        assert!(!deafness.is_dull(100 + dull));
        deafness.sharpen();
        assert!(!deafness.is_dull(100) && deafness.is_deaf(100));
        deafness.forgive();
        deafness.note_fruitless(DEAF, 100);
        assert!(!deafness.is_deaf(DEAF + deaf(1)), "it begins anew");
        deafness.settle(2 * DEAF);
        assert!(deafness.is_deaf(2 * DEAF - 1) && !deafness.is_deaf(2 * DEAF));
    }
}
