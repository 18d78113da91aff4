//! The effort of a session: its repeats, times and sizes.

use std::time::Duration;

/// How much time the user wants to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One short repeat: does everything work?
    Quick,
    /// About six minutes on two cores.
    Usual,
    /// The thesis's 15 repeats, and the experiments beside the five.
    Full,
}

impl Effort {
    /// Returns the repeats of most experiments.
    pub fn repeats(self) -> usize {
        match self {
            Effort::Quick => 1,
            Effort::Usual => 3,
            Effort::Full => 15,
        }
    }

    /// Returns how long a run of an experiment with a rate measures.
    pub fn time(self) -> Duration {
        Duration::from_millis(match self {
            Effort::Quick => 100,
            Effort::Usual => 200,
            Effort::Full => 500,
        })
    }
}
