//! The runtimes that fork, and their interface to the programs.

mod chili;
mod evenkeel;
#[cfg(feature = "forte")]
mod forte;
mod plain;
mod rayon;
mod serial;

pub(crate) use self::chili::Chili;
pub use self::evenkeel::Evenkeel;
pub(crate) use self::evenkeel::{ByArgument, placed};
#[cfg(feature = "forte")]
pub(crate) use self::forte::Forte;
pub use self::rayon::Rayon;
pub use self::serial::Serial;

use ::evenkeel::Locality;
use ::evenkeel::metrics::Times;

use super::program::Program;
use suite::named;
use suite::peer::{Peer, Role};

/// A runtime that forks. Dropping the value ends its workers.
pub trait Forker: Sized {
    /// The context that a runtime passes down its forks. It goes by value, and so do the captures
    /// of the halves: a borrowed value would lie on the stack, which costs more than some of the
    /// forks.
    type Cx<'a, 'w>
    where
        'w: 'a;

    /// Starts a runtime of `workers` workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs `f` on a worker and waits for it.
    fn run<R: Send>(&self, f: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> R + Send) -> R;

    /// Runs both closures.
    fn join<RA: Send, RB: Send>(
        cx: &mut Self::Cx<'_, '_>,
        a: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RB + Send,
    ) -> (RA, RB);

    /// Runs both closures, which touch `bytes` bytes together: a hint for runtimes with locality.
    #[inline(always)]
    fn join_sized<RA: Send, RB: Send>(
        cx: &mut Self::Cx<'_, '_>,
        _bytes: usize,
        a: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> RB + Send,
    ) -> (RA, RB) {
        Self::join(cx, a, b)
    }

    /// The times of each worker so far, if the runtime reports them.
    fn times(&self) -> Vec<Times> {
        Vec::new()
    }

    /// Runs both closures, and then `then` with the results.
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

    /// Calls `f` with the context, which remains usable afterwards.
    fn lend<R>(cx: &mut Self::Cx<'_, '_>, f: impl for<'a, 'w> FnOnce(Self::Cx<'a, 'w>) -> R) -> R;
}

/// Threads for which a pool of forte has room, the calling one among them.
const FORTE_SEATS: usize = 32;

named! {
    /// A runtime of the programs.
    pub(crate) enum Name as "runtime of fork-join programs" {
        /// Plain calls.
        Serial = "serial": "plain calls instead of forks",
        /// This project's `join`.
        Evenkeel = "evenkeel": "this project's join",
        /// The same with the worker passed by argument.
        EvenkeelWorker = "evenkeel-worker": "the same with the worker passed by argument",
        /// rayon.
        Rayon = "rayon": "rayon's join",
        /// chili.
        Chili = "chili": "chili: a heartbeat makes jobs public",
        /// forte.
        Forte = "forte": "forte: a heartbeat by the clock, the worker passed by argument",
        /// Plain calls in C++.
        SerialCpp = "serial-cpp": "plain calls in C++: the serial one of the next two",
        /// oneTBB.
        Onetbb = "onetbb": "oneTBB's parallel_invoke in one context",
        /// OpenMP's tasks.
        Openmp = "openmp": "OpenMP's tasks, a task for each fork",
        /// This project's `join` with [`Locality::Off`].
        EvenkeelOff = "evenkeel-off": "this project's join with locality off (--locality off)",
        /// With [`Locality::Random`].
        EvenkeelRandom = "evenkeel-random": "the same, victims at random (--locality random)",
        /// With [`Locality::Biased`].
        EvenkeelBiased = "evenkeel-biased": "the same, biased (--locality biased)",
        /// With [`Locality::Strict`].
        EvenkeelStrict = "evenkeel-strict": "the same, strict (--locality strict)",
    }
}

impl Peer for Name {
    fn role(self) -> Role {
        match self {
            Name::Evenkeel => Role::Subject,
            Name::EvenkeelWorker => Role::Own,
            name if name.locality().is_some() => Role::Own,
            name if name.is_serial() => Role::Floor,
            _ => Role::Peer,
        }
    }
}

impl Name {
    /// The locality for which it stands. Such a runtime is measured only on request.
    pub(crate) fn locality(self) -> Option<Locality> {
        match self {
            Name::EvenkeelOff => Some(Locality::Off),
            Name::EvenkeelRandom => Some(Locality::Random),
            Name::EvenkeelBiased => Some(Locality::Biased),
            Name::EvenkeelStrict => Some(Locality::Strict),
            _ => None,
        }
    }

    /// Whether it makes plain calls instead of forks.
    pub(crate) fn is_serial(self) -> bool {
        self == self.baseline()
    }

    /// The serial runtime in the same language, the base of the speed-up: compilers differ in
    /// leaves.
    pub(crate) fn baseline(self) -> Name {
        match self {
            Name::SerialCpp | Name::Onetbb | Name::Openmp => Name::SerialCpp,
            _ => Name::Serial,
        }
    }

    /// Whether it is a program of its own, in C++.
    pub(crate) fn is_cpp(self) -> bool {
        self.baseline() == Name::SerialCpp
    }

    /// Why it cannot run a program of size `n` on `workers` workers; `None` if it can.
    pub(crate) fn refusal(self, program: Program, n: usize, workers: usize) -> Option<String> {
        if self == Name::Forte && workers > FORTE_SEATS {
            return Some(format!("its pools have {FORTE_SEATS} seats"));
        }
        let most = self.most(program).filter(|&most| most < n)?;
        Some(format!("it would take too long; {most} is the largest size that it is given"))
    }

    /// The largest size of a program for this runtime, if that is below the program's own. The
    /// reason is time: all workers of OpenMP meet at one lock, so that four need 0.3 µs for each
    /// fork of the programs that do little else, where one needs 0.04.
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
