//! The rate of operations in a window of a [trial](super::trial), or of what comes between two.

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
