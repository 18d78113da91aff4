//! The rate of operations in a window of a [trial](super::trial), or of what comes between two; and what several windows of a mode come to.

use super::trial::{CLEAR, MARGIN, is_more};
use super::verdict::Mode;

/// Windows of each mode in a trial.
pub const ALTERNATIONS: usize = 3;

/// A window of a trial, in nanoseconds.
pub const WINDOW: u64 = 4_000_000;

/// The same after a change, and of a probe.
pub const SHORT: u64 = 1_000_000;

/// The same at home, where only what comes after the rest of it counts: objects without a home get one first, and all come from where they are. Set by the made-up classes of this module's tests: homes that are better by three fifths, but take
/// 1.5 ms to fill, were used for two fifths of the time with [`SHORT`], and with this for nearly all of it.
pub const SHORT_AT_HOME: u64 = 3 * SHORT;

/// A rate that is so many percent of the usual, or the reverse, has changed. Less than the difference between what directories of which a sixteenth is popular make
/// on 16 cores, and what all of them do (`evenkeel-bench simulate --coretime`).
pub const CHANGE: u64 = 124;

/// Fewer operations in a window say nothing; it goes on until there are so many, or for four times its length.
pub const FEWEST: u64 = 200;

/// The time in which operations are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) begin: u64,
    /// When counting began, and with what.
    pub(super) counts_from: Option<(u64, u64)>,
}

impl Window {
    /// The rate in operations per second, at the end of the window, and whether there were enough operations. The first `settle` of it are not counted.
    pub(super) fn step(
        &mut self,
        now: u64,
        ops: u64,
        length: u64,
        settle: u64,
    ) -> Option<(u64, bool)> {
        let Some((from, before)) = self.counts_from else {
            if now.saturating_sub(self.begin) >= settle {
                self.counts_from = Some((now, ops));
            }
            return None;
        };
        let (time, count) = (now.saturating_sub(from), ops.saturating_sub(before));
        let least = (length - settle).max(1);
        let is_over = time >= least && (count >= FEWEST || time >= 4 * least);
        let rate = u128::from(count) * 1_000_000_000 / u128::from(time.max(1));
        is_over.then(|| (u64::try_from(rate).unwrap_or(u64::MAX), count >= FEWEST))
    }
}

/// How long the windows of a trial are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// [`SHORT`] or [`SHORT_AT_HOME`].
    Short,
    /// [`WINDOW`].
    Long,
}

impl Windows {
    /// The length of one in a mode, and how much of it is not counted.
    pub(super) fn of(self, mode: Mode) -> (u64, u64) {
        match (self, mode) {
            (Self::Long, _) => (WINDOW, WINDOW / 2),
            (Self::Short, Mode::InPlace) => (SHORT, SHORT / 2),
            (Self::Short, _) => (SHORT_AT_HOME, SHORT_AT_HOME - SHORT),
        }
    }
}

/// What a mode makes, as its windows say: the median, or the last, if each was more than the one before [by more than noise](MARGIN), and the last [clearly](CLEAR) more than the first. Then caches are still being filled, and
/// what it will make is more yet.
pub(super) fn level<'a>(rates: impl Iterator<Item = &'a u64>) -> u64 {
    let mut sorted = [0; ALTERNATIONS];
    let mut count = 0;
    for (place, rate) in sorted.iter_mut().zip(rates) {
        *place = *rate;
        count += 1;
    }
    let (first, last) = (sorted[0], sorted[count.max(1) - 1]);
    let grows = sorted[..count].windows(2).all(|pair| is_more(pair[1], pair[0], 100 + MARGIN))
        && is_more(last, first, 100 + CLEAR);
    if grows && count == ALTERNATIONS {
        return last;
    }
    sorted[..count].sort_unstable();
    match count {
        // Of two the mean.
        2 => sorted[0] / 2 + sorted[1] / 2,
        _ => sorted[count / 2],
    }
}

/// Whether of all pairs, in which the standing mode is the first, one says [clearly](CLEAR) that one of the two is better, and another one that the other is, by [more than noise](MARGIN): what is in use has changed in between.
pub(super) fn contradict(rates: &[u64; 2 * ALTERNATIONS]) -> bool {
    let says = |better: usize, percent: u64| {
        rates.chunks(2).any(|pair| is_more(pair[better], pair[1 - better], 100 + percent))
    };
    (says(0, CLEAR) && says(1, MARGIN)) || (says(1, CLEAR) && says(0, MARGIN))
}

/// How much a rate has changed: by 2 if by [`CHANGE`], and by 1 if by half as much; less than nothing if it has become less.
pub(super) fn change(usual: u64, rate: u64) -> i32 {
    let of = |a: u64, b: u64| {
        i32::from(is_more(a, b, 50 + CHANGE / 2)) + i32::from(is_more(a, b, CHANGE))
    };
    of(rate, usual) - of(usual, rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_grows_is_worth_what_it_made_last_and_others_their_median() {
        assert_eq!(level([794, 1_144, 1_792].iter()), 1_792);
        assert_eq!(level([1_000, 1_100, 1_200].iter()), 1_100, "that may be noise");
        assert_eq!(level([1_000, 1_001, 1_300].iter()), 1_001, "one good window is none");
        assert_eq!(level([1_144, 794, 1_792].iter()), 1_144);
        assert_eq!(level([1_000, 3_000].iter()), 2_000);
        assert_eq!(level([7].iter()), 7);
        assert_eq!(level([].iter()), 0);
    }
}
