//! What is counted in a system: by each thread apart. An actor counts in its own memory, and tells
//! of 64 messages at once.

use super::System;
use super::counters::Count;

/// What has been counted in a system. See [`System::metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemMetrics {
    /// Actors that have been spawned.
    pub spawned: u64,
    /// Those of them that have ended, for whatever reason.
    pub ended: u64,
    /// Those of the ended that have failed.
    pub failed: u64,
    /// How often actors have been started again.
    pub restarts: u64,
    /// Messages that have been handled. Each actor tells of 64 at once, and of the others when it
    /// stops or fails; up to 63 of one that panics or is killed are not counted.
    pub messages: u64,
    /// Messages that nobody has handled.
    pub dead_letters: u64,
    /// Names that actors have now.
    pub names: usize,
}

impl SystemMetrics {
    /// How many actors there are, as far as that can be told while they come and go.
    #[must_use]
    pub fn alive(&self) -> u64 {
        self.spawned.saturating_sub(self.ended)
    }
}

impl System {
    /// What has been counted until now. It is not of one moment: what happens meanwhile is in some
    /// of the numbers.
    ///
    /// # Examples
    /// ```
    /// let before = evenkeel_actor::System::current().metrics();
    /// assert_eq!(before.alive(), before.spawned - before.ended);
    /// ```
    #[must_use]
    pub fn metrics(self) -> SystemMetrics {
        let counters = self.counters();
        // First, so that no more have ended than are spawned, and what has ended is in the others.
        let ended = counters.sum(Count::Ended);
        SystemMetrics {
            spawned: counters.sum(Count::Spawned),
            ended,
            failed: counters.sum(Count::Failed).min(ended),
            restarts: counters.sum(Count::Restarted),
            messages: counters.sum(Count::Messages),
            dead_letters: self.dead_letters(),
            names: self.registry().len(),
        }
    }
}
