//! Counts of a system. Each thread counts apart. An actor counts in its own memory, and adds 64
//! messages at once.

use super::System;
use super::counters::Count;

/// The counts of a system. See [`System::metrics`].
///
/// # Examples
/// See [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemMetrics {
    /// Actors that have been spawned.
    pub spawned: u64,
    /// Spawned actors that have ended, for whatever reason.
    pub ended: u64,
    /// Ended actors that have failed.
    pub failed: u64,
    /// Restarts of actors.
    pub restarts: u64,
    /// Messages that have been handled. Each actor adds 64 at once, and the rest when it stops or
    /// fails. Up to 63 messages of an actor that panics or is killed are not counted.
    pub messages: u64,
    /// Messages that no actor has handled.
    pub dead_letters: u64,
    /// Names that actors have.
    pub names: usize,
}

impl SystemMetrics {
    /// Returns the number of live actors, as exactly as it can be known while actors come and go.
    #[must_use]
    pub fn alive(&self) -> u64 {
        self.spawned.saturating_sub(self.ended)
    }
}

impl System {
    /// Returns the counts so far. They are not of one moment: an event during the call may be in
    /// some of them only.
    ///
    /// # Examples
    /// ```
    /// let before = evenkeel_actor::System::current().metrics();
    /// assert_eq!(before.alive(), before.spawned - before.ended);
    /// ```
    #[must_use]
    pub fn metrics(self) -> SystemMetrics {
        let counters = self.counters();
        // Ended first: no more actors have ended than were spawned, and an ended actor is in the
        // other counts.
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
