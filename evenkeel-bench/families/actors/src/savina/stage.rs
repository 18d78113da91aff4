//! How a run learns that all of its actors have ended, and of its first fault.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::finish::Finish;
use suite::kit::fault::Fault;

/// State that all actors of a run share, in every program.
pub(super) struct Stage {
    ended: Finish,
    wrong: OnceLock<String>,
}

/// A part of each actor, which is dropped with the actor.
pub(super) struct Life(Arc<Stage>);

impl Stage {
    /// Makes the stage of a run of `actors` actors.
    pub(super) fn of(actors: usize) -> Arc<Stage> {
        Arc::new(Stage { ended: Finish::of(actors), wrong: OnceLock::new() })
    }

    /// Makes the life of one actor.
    pub(super) fn life(self: &Arc<Self>) -> Life {
        Life(self.clone())
    }

    /// Records a fault, unless one is recorded. The run goes on, so that it ends.
    #[cold]
    pub(super) fn object(&self, what: String) {
        self.wrong.get_or_init(|| what);
    }

    /// Returns the fault, if any.
    pub(super) fn wrong(&self) -> Option<&str> {
        self.wrong.get().map(String::as_str)
    }

    /// Waits for the end of all actors. Returns the time since `started`, or the recorded fault.
    pub(super) async fn over(&self, started: Instant) -> Result<Duration, Fault> {
        let ended = self.ended.wait().await;
        match self.wrong() {
            Some(what) => Fault::check(what),
            None => Ok(ended.saturating_duration_since(started)),
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.ended.one();
    }
}

/// Returns an error unless the two numbers are equal.
pub(super) fn expect(what: &str, found: u64, expected: u64) -> Result<(), Fault> {
    match found == expected {
        true => Ok(()),
        false => Fault::check(format!("{what}: {found} instead of {expected}")),
    }
}
