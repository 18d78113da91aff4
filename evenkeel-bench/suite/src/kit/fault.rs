//! Why a run has no figure.

use std::time::Duration;

/// A run that failed its own check.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The runtime did not start.
    #[error("the runtime did not start: {0:#}")]
    Start(anyhow::Error),
    /// A task was not there at the start.
    #[error("only {ready} of {tasks} tasks have started after {after:?}")]
    Asleep {
        /// Tasks that have started.
        ready: usize,
        /// Tasks spawned.
        tasks: usize,
        /// How long they had.
        after: Duration,
    },
    /// A task is still there at the end.
    #[error("only {ended} of {tasks} tasks have ended {after:?} after the stop: a wake was lost")]
    Stuck {
        /// Tasks that have ended.
        ended: usize,
        /// Tasks spawned.
        tasks: usize,
        /// How long they had.
        after: Duration,
    },
    /// A task ended without a result.
    #[error(transparent)]
    Lost(#[from] super::runtime::Lost),
    /// The tasks' results contradict each other.
    #[error("{0}")]
    Check(String),
    /// Running it took more than the runtime.
    #[error("{0:#}")]
    Other(anyhow::Error),
}

impl Fault {
    /// A failed check.
    pub fn check<T>(what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Check(what.into()))
    }
}
