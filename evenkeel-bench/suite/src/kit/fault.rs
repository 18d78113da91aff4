//! The reasons why a run has no figure.

use std::time::Duration;

/// A run that failed its own check.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The runtime did not start.
    #[error("the runtime did not start: {0:#}")]
    Start(anyhow::Error),
    /// A task had not started in time.
    #[error("only {ready} of {tasks} tasks have started after {after:?}")]
    Asleep {
        /// The number of tasks that started.
        ready: usize,
        /// The number of tasks spawned.
        tasks: usize,
        /// The time that they had.
        after: Duration,
    },
    /// A task had not ended in time.
    #[error("only {ended} of {tasks} tasks have ended {after:?} after the stop: a wake was lost")]
    Stuck {
        /// The number of tasks that ended.
        ended: usize,
        /// The number of tasks spawned.
        tasks: usize,
        /// The time that they had.
        after: Duration,
    },
    /// A task ended without a result.
    #[error(transparent)]
    Lost(#[from] super::runtime::Lost),
    /// The tasks' results contradict each other.
    #[error("{0}")]
    Check(String),
    /// Something beside the runtime failed.
    #[error("{0:#}")]
    Other(anyhow::Error),
}

impl Fault {
    /// Returns a failed check.
    pub fn check<T>(what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Check(what.into()))
    }
}
