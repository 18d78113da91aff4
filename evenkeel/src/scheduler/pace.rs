//! The pace of a worker: how long its polls take, and how many of them make a batch.

use crate::policy::overtaking::Lengths;
use crate::policy::{self, batch};

/// Batches between two looks at the size of the queue's buffer: some milliseconds, an estimate that
/// no benchmark sets.
const TRIM: u32 = 1_024;

/// What a worker knows of its polls and batches.
#[derive(Debug)]
pub(super) struct Pace {
    pub(super) polls_per_batch: u32,
    /// The number of next batches that have a single poll.
    pub(super) caution: u32,
    /// The lengths of polls, by the types of tasks.
    pub(super) lengths: Lengths,
    /// The type of the task that the last batch has polled, if it had this one alone.
    pub(super) polled: Option<usize>,
    pub(super) mean_poll: u64,
    pub(super) mean_wait: u64,
    /// Polls and completed tasks of the last batches, each counting three quarters of the one after
    /// it.
    recent: Recent,
    batches: u32,
}

/// Fading sums.
#[derive(Debug, Default)]
struct Recent {
    polls: u64,
    completed: u64,
}

impl Recent {
    fn add(&mut self, polls: u64, completed: u64) {
        self.polls = self.polls / 4 * 3 + polls;
        self.completed = self.completed / 4 * 3 + completed;
    }
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            polls_per_batch: 1,
            caution: 0,
            lengths: Lengths::default(),
            polled: None,
            mean_poll: batch::BATCH,
            mean_wait: 0,
            recent: Recent::default(),
            batches: 0,
        }
    }

    /// Learns how long the first task of a batch has waited.
    #[inline(always)]
    pub(super) fn learn_wait(&mut self, wait: u64) {
        self.mean_wait = policy::smooth(self.mean_wait, wait);
    }

    /// Learns from a batch that has lasted for `elapsed` and was meant to last for `span`. It had
    /// this many `polls`, one at least, and since the last such batch this many tasks have become
    /// complete.
    #[inline(always)]
    pub(super) fn learn(&mut self, elapsed: u64, polls: u32, completed: u64, span: u64) {
        self.mean_poll = policy::smooth(self.mean_poll, elapsed / u64::from(polls));
        let polled = self.polled.take();
        self.caution = batch::caution(self.caution, elapsed, span);
        if self.caution > 0 {
            self.lengths.learn(polled, elapsed);
        }
        self.polls_per_batch =
            if self.caution > 0 { 1 } else { batch::polls(self.mean_poll, span) };
        self.recent.add(u64::from(polls), completed);
    }

    /// Returns the average work in a task.
    #[inline(always)]
    pub(super) fn mean_work(&self) -> u64 {
        batch::work(self.mean_poll, self.recent.polls, self.recent.completed)
    }

    /// Counts a batch, and returns whether it is time to look at the size of the queue's buffer.
    #[inline(always)]
    pub(super) fn count_batch(&mut self) -> bool {
        self.batches = self.batches.wrapping_add(1);
        self.batches.is_multiple_of(TRIM)
    }
}
