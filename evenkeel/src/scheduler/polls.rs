//! The polls of two workers, counted over the same time.

use crate::policy::together;
use crate::processor::Processor;

/// The polls of a worker and of another one since a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polls {
    since: u64,
    own: u64,
    theirs: u64,
}

impl Polls {
    /// Begins to count.
    pub(super) fn begin(own: &Processor, other: &Processor, since: u64) -> Self {
        Self { since, own: own.counters.polls.get(), theirs: other.counters.polls.get() }
    }

    /// Returns the time per poll of each until `now`.
    pub(super) fn means(&self, own: &Processor, other: &Processor, now: u64) -> (u64, u64) {
        let end = Self::begin(own, other, now);
        let mean = |polls| together::mean(now.saturating_sub(self.since), polls);
        (mean(end.own.wrapping_sub(self.own)), mean(end.theirs.wrapping_sub(self.theirs)))
    }
}
