//! The runtimes that fork, and what a program asks of one.

mod chili;
mod evenkeel;
#[cfg(feature = "forte")]
mod forte;
mod plain;
mod rayon;
mod serial;

pub(crate) use self::chili::Chili;
pub(crate) use self::evenkeel::{ByArgument, Evenkeel};
#[cfg(feature = "forte")]
pub(crate) use self::forte::Forte;
pub(crate) use self::rayon::Rayon;
pub(crate) use self::serial::Serial;

use std::fmt;
use std::str::FromStr;

use ::evenkeel::metrics::Times;

use super::program::Program;

/// A runtime that forks. Dropping the value ends its workers.
pub(crate) trait Forker: Sized {
    /// What a runtime has its forks pass down. It goes by value, and so do the captures of the halves: what is borrowed has to lie on
    /// the stack, which costs more than some of the forks.
    type Cx<'a, 'w>
    where
        'w: 'a;

    /// Starts as many workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs `f` on a worker and waits for it.
    fn run<R: Send>(&self, f: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> R + Send) -> R;

    /// Runs both.
    fn join<RA: Send, RB: Send>(
        cx: &mut Self::Cx<'_, '_>,
        a: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RB + Send,
    ) -> (RA, RB);

    /// Runs both, which touch so many bytes together: a word to runtimes that care where their data are.
    #[inline(always)]
    fn join_sized<RA: Send, RB: Send>(
        cx: &mut Self::Cx<'_, '_>,
        _bytes: usize,
        a: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RB + Send,
    ) -> (RA, RB) {
        Self::join(cx, a, b)
    }

    /// What each worker has spent its time on until now, if the runtime can tell.
    fn times(&self) -> Vec<Times> {
        Vec::new()
    }

    /// Runs both, and then `then` with the results.
    #[inline(always)]
    fn join_then<RA: Send, RB: Send, R>(
        cx: &mut Self::Cx<'_, '_>,
        a: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RB + Send,
        then: impl FnOnce(RA, RB) -> R,
    ) -> R {
        let (a, b) = Self::join(cx, a, b);
        then(a, b)
    }

    /// Calls `f` with what is passed down, which is there afterwards.
    fn lend<R>(cx: &mut Self::Cx<'_, '_>, f: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> R) -> R;
}

/// Threads that a pool of forte has room for, the calling one among them.
const FORTE_SEATS: usize = 32;

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
    /// forte.
    Forte,
    /// Plain calls in C++.
    SerialCpp,
    /// oneTBB.
    Onetbb,
    /// OpenMP's tasks.
    Openmp,
}

impl Name {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Name; 9] = [
        Name::Serial,
        Name::Evenkeel,
        Name::EvenkeelWorker,
        Name::Rayon,
        Name::Chili,
        Name::Forte,
        Name::SerialCpp,
        Name::Onetbb,
        Name::Openmp,
    ];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Name::Serial => "serial",
            Name::Evenkeel => "evenkeel",
            Name::EvenkeelWorker => "evenkeel-worker",
            Name::Rayon => "rayon",
            Name::Chili => "chili",
            Name::Forte => "forte",
            Name::SerialCpp => "serial-cpp",
            Name::Onetbb => "onetbb",
            Name::Openmp => "openmp",
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
            Name::Forte => "forte: a heartbeat by the clock, the worker passed by argument",
            Name::SerialCpp => "plain calls in C++: the serial one of the next two",
            Name::Onetbb => "oneTBB's parallel_invoke in one context",
            Name::Openmp => "OpenMP's tasks, a task for each fork",
        }
    }

    /// Whether there are no forks.
    pub(crate) fn is_serial(self) -> bool {
        self == self.baseline()
    }

    /// The serial one in the same language, over which the speed-up is counted: compilers differ in leaves.
    pub(crate) fn baseline(self) -> Name {
        match self {
            Name::SerialCpp | Name::Onetbb | Name::Openmp => Name::SerialCpp,
            _ => Name::Serial,
        }
    }

    /// Whether it is this project's, and so no peer.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Name::Evenkeel | Name::EvenkeelWorker)
    }

    /// Whether it is a program of its own, in C++.
    pub(crate) fn is_cpp(self) -> bool {
        self.baseline() == Name::SerialCpp
    }

    /// Why it is not given a program of size `n` on so many workers; `None` if it is.
    pub(crate) fn refusal(self, program: Program, n: usize, workers: usize) -> Option<String> {
        if self == Name::Forte && workers > FORTE_SEATS {
            return Some(format!("its pools have {FORTE_SEATS} seats"));
        }
        let most = self.most(program).filter(|&most| most < n)?;
        Some(format!("it would take too long; {most} is the largest size that it is given"))
    }

    /// The largest size of a program that it is given, if that is less than the program's own, for the time that it
    /// takes: all workers of OpenMP meet at one lock, so that four need 0.3 µs for each fork of the programs that do
    /// little else, where one needs 0.04.
    fn most(self, program: Program) -> Option<usize> {
        match (self, program) {
            (Name::Openmp, Program::Fib) => Some(30),
            (Name::Openmp, Program::Nqueens) => Some(13),
            (Name::Openmp, Program::Skynet) => Some(6),
            (Name::Openmp, Program::Uts) => Some(9),
            _ => None,
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
