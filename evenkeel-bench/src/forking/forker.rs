//! The runtimes that fork, and what a program asks of one.

mod chili;
mod evenkeel;
mod rayon;
mod serial;

pub(crate) use self::chili::Chili;
pub(crate) use self::evenkeel::{ByArgument, Evenkeel};
pub(crate) use self::rayon::Rayon;
pub(crate) use self::serial::Serial;

use std::fmt;
use std::str::FromStr;

/// A runtime that forks. Dropping the value ends its workers.
pub(crate) trait Forker: Sized {
    /// What a runtime has its forks pass down.
    type Cx<'a>;

    /// Starts as many workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs `f` on a worker and waits for it.
    fn run<R: Send>(&self, f: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> R + Send) -> R;

    /// Runs both.
    fn join<RA: Send, RB: Send>(
        cx: &mut Self::Cx<'_>,
        a: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> RA + Send,
        b: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> RB + Send,
    ) -> (RA, RB);
}

/// One column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// Plain calls.
    Serial,
    /// This project's `join`.
    Evenkeel,
    /// The same with the worker passed by argument.
    EvenkeelWorker,
    /// rayon.
    Rayon,
    /// chili.
    Chili,
}

impl Name {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Name; 5] =
        [Name::Serial, Name::Evenkeel, Name::EvenkeelWorker, Name::Rayon, Name::Chili];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Name::Serial => "serial",
            Name::Evenkeel => "evenkeel",
            Name::EvenkeelWorker => "evenkeel-worker",
            Name::Rayon => "rayon",
            Name::Chili => "chili",
        }
    }

    /// What it is, in half a line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Name::Serial => "plain calls instead of forks",
            Name::Evenkeel => "this project's join",
            Name::EvenkeelWorker => "the same with the worker passed by argument",
            Name::Rayon => "rayon's join",
            Name::Chili => "chili: a heartbeat makes jobs public",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no runtime has.
#[derive(Debug, thiserror::Error)]
#[error("unknown runtime `{0}` for a fork-join program: known are {known}", known = Name::ALL.map(Name::name).join(", "))]
pub(crate) struct UnknownForker(String);

impl FromStr for Name {
    type Err = UnknownForker;

    fn from_str(name: &str) -> Result<Self, UnknownForker> {
        let known = Name::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| UnknownForker(name.to_owned()))
    }
}
