//! How a run learns that all of its actors have ended, and what was wrong with it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::finish::Finish;
use suite::kit::fault::Fault;

/// What all actors of a run have in common, whatever the program.
pub(super) struct Stage {
    ended: Finish,
    wrong: OnceLock<String>,
}

/// A part of each actor, dropped with it.
pub(super) struct Life(Arc<Stage>);

impl Stage {
    /// A run of so many actors.
    pub(super) fn of(actors: usize) -> Arc<Stage> {
        Arc::new(Stage { ended: Finish::of(actors), wrong: OnceLock::new() })
    }

    /// The life of one of the actors.
    pub(super) fn life(self: &Arc<Self>) -> Life {
        Life(self.clone())
    }

    /// Notes that something is wrong, unless something has been noted. The run goes on, so that it
    /// ends.
    #[cold]
    pub(super) fn object(&self, what: String) {
        self.wrong.get_or_init(|| what);
    }

    /// What is wrong.
    pub(super) fn wrong(&self) -> Option<&str> {
        self.wrong.get().map(String::as_str)
    }

    /// Waits for the end of all actors. Gives the time since `started`, unless something was wrong.
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

/// An error unless there are as many as there should be.
pub(super) fn expect(what: &str, found: u64, expected: u64) -> Result<(), Fault> {
    match found == expected {
        true => Ok(()),
        false => Fault::check(format!("{what}: {found}, where {expected} are right")),
    }
}
