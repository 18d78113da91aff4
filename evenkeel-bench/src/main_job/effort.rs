//! How long everything takes: repeats, times and sizes of a session.

use std::time::Duration;

use crate::actors;

/// How much time the user spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// One short repeat: does everything work?
    Quick,
    /// About five minutes on two cores.
    Usual,
    /// The thesis's 15 repeats, and the experiments beside the five.
    Full,
}

impl Effort {
    /// Repeats of most experiments.
    pub(crate) fn repeats(self) -> usize {
        match self {
            Effort::Quick => 1,
            Effort::Usual => 3,
            Effort::Full => 15,
        }
    }

    /// How long a run of an experiment that has a rate measures.
    pub(crate) fn time(self) -> Duration {
        Duration::from_millis(match self {
            Effort::Quick => 100,
            Effort::Usual => 200,
            Effort::Full => 500,
        })
    }

    /// The sizes of the experiments on actors: many, each of some hundredths of a second.
    pub(super) fn actors(self, workers: usize) -> actors::spec::Sizes {
        let (pings, messages, actors) = match self {
            Effort::Quick => (100, 20_000, 2_000),
            Effort::Usual => (2_000, 200_000, 20_000),
            Effort::Full => (40_000, 2_000_000, 200_000),
        };
        actors::spec::Sizes {
            pings: Some(pings),
            messages: Some(messages / (8 * workers as u32)),
            actors: Some(actors),
            ..actors::spec::Sizes::default()
        }
    }

    /// The rounds of a program of Savina.
    pub(super) fn savina(self, program: actors::savina::Program) -> u32 {
        match self {
            Effort::Quick => (program.brief() / 10).max(1),
            Effort::Usual => program.brief(),
            Effort::Full => program.rounds(),
        }
    }
}

/// One disturbed run in so many may be done again: the usual session takes about a fifth longer at most on a
/// machine that is never quiet.
pub(super) const SPARE: usize = 5;
