//! The polls of two workers, counted over the same time; and what a worker keeps from one batch to
//! the next to see whether one of them polls their tasks faster.

use crate::policy::together::{self, Past};
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

/// A steal on trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) victim: usize,
    /// The mean length of a poll at the victim before the steal, in nanoseconds.
    pub(super) before: u64,
    pub(super) until: u64,
    pub(super) polls: Polls,
}

/// What a worker knows of the [gathering](super::gathering) of its tasks at another.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// When the next step is due.
    pub(super) next: u64,
    pub(super) past: Past,
    pub(super) step: Step,
}

#[derive(Debug, Default)]
pub(super) enum Step {
    /// Each worker has its tasks.
    #[default]
    Apart,
    /// The polls of the giver and of this taker are counted.
    Counts(usize, Polls),
    /// The tasks are with this taker.
    Gathered(usize),
}

/// What a worker knows of the mark on its queue.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// The end of the mark, by which the taker tells one from the next.
    pub(super) until: u64,
    /// When the present count of polls began, and the count of all polls at that time.
    pub(super) since: u64,
    pub(super) polls: u64,
    /// The time per poll in the count before.
    pub(super) before: u64,
}
