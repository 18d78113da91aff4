//! The experiments and their variants.

use std::fmt;
use std::str::FromStr;

/// An experiment: a table of the thesis, or contended entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bench {
    /// Switches between coroutines, tasks and threads.
    Ctxswitch,
    /// Entry and exit of monitors that nobody else wants.
    Mutex,
    /// Wait and signal.
    Schedint,
    /// Accept and call.
    Schedext,
    /// Creation.
    Creation,
    /// Entry of one monitor that all want.
    Contended,
}

/// One way of running an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The only one.
    Only,
    /// A coroutine whose type is known.
    Coroutine,
    /// A coroutine whose type is erased.
    CoroutineBoxed,
    /// A task or thread alone.
    Task,
    /// Two tasks or threads in turns.
    TwoTasks,
    /// The waiter is timed.
    Waiter,
    /// The signaller is timed.
    Signaller,
    /// The acceptor is timed.
    Acceptor,
    /// The caller is timed.
    Caller,
    /// A coroutine that never runs.
    CoroutineLazy,
    /// A coroutine that runs once.
    CoroutineEager,
    /// The same with its type erased.
    CoroutineEagerBoxed,
    /// Enter again at once.
    Tight,
    /// Yield before entering again.
    Yielding,
}

impl Bench {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Bench; 6] = [
        Bench::Ctxswitch,
        Bench::Mutex,
        Bench::Schedint,
        Bench::Schedext,
        Bench::Creation,
        Bench::Contended,
    ];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Bench::Ctxswitch => "ctxswitch",
            Bench::Mutex => "mutex",
            Bench::Schedint => "schedint",
            Bench::Schedext => "schedext",
            Bench::Creation => "creation",
            Bench::Contended => "contended",
        }
    }

    /// What is measured, in one line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Bench::Ctxswitch => "context switches of coroutines, tasks and threads",
            Bench::Mutex => "entry and exit of 1, 2 and 4 monitors that nobody else wants",
            Bench::Schedint => "wait and signal inside 1, 2 and 4 monitors",
            Bench::Schedext => "accept and call of 1, 2 and 4 monitors",
            Bench::Creation => "creation of coroutines; spawn and join of tasks and threads",
            Bench::Contended => "8 tasks on 2 processors want one monitor for 100 ns each",
        }
    }

    /// The variants, in the order of the tables.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Bench::Ctxswitch => {
                &[Variant::Coroutine, Variant::CoroutineBoxed, Variant::Task, Variant::TwoTasks]
            }
            Bench::Mutex => &[Variant::Only],
            Bench::Schedint => &[Variant::Waiter, Variant::Signaller],
            Bench::Schedext => &[Variant::Acceptor, Variant::Caller],
            Bench::Creation => &[
                Variant::CoroutineLazy,
                Variant::CoroutineEager,
                Variant::CoroutineEagerBoxed,
                Variant::Task,
            ],
            Bench::Contended => &[Variant::Tight, Variant::Yielding],
        }
    }

    /// The numbers of monitors that are entered together; 0 where there are none.
    pub(crate) fn monitors(self) -> &'static [usize] {
        match self {
            Bench::Mutex | Bench::Schedint | Bench::Schedext => &[1, 2, 4],
            Bench::Contended => &[1],
            Bench::Ctxswitch | Bench::Creation => &[0],
        }
    }

    /// Processors, and parties on them, that the experiment is usually run with.
    pub(crate) fn usual(self) -> (usize, usize) {
        if self == Bench::Contended { (2, 8) } else { (1, 1) }
    }
}

impl Variant {
    /// All of them.
    pub(crate) const ALL: [Variant; 14] = [
        Variant::Only,
        Variant::Coroutine,
        Variant::CoroutineBoxed,
        Variant::Task,
        Variant::TwoTasks,
        Variant::Waiter,
        Variant::Signaller,
        Variant::Acceptor,
        Variant::Caller,
        Variant::CoroutineLazy,
        Variant::CoroutineEager,
        Variant::CoroutineEagerBoxed,
        Variant::Tight,
        Variant::Yielding,
    ];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::Only => "-",
            Variant::Coroutine => "coroutine",
            Variant::CoroutineBoxed => "coroutine-boxed",
            Variant::Task => "task",
            Variant::TwoTasks => "two-tasks",
            Variant::Waiter => "waiter",
            Variant::Signaller => "signaller",
            Variant::Acceptor => "acceptor",
            Variant::Caller => "caller",
            Variant::CoroutineLazy => "coroutine-lazy",
            Variant::CoroutineEager => "coroutine-eager",
            Variant::CoroutineEagerBoxed => "coroutine-eager-boxed",
            Variant::Tight => "tight",
            Variant::Yielding => "yielding",
        }
    }

    /// Parties, where the variant says so.
    pub(crate) fn tasks(self, usual: usize) -> usize {
        match self {
            Variant::TwoTasks
            | Variant::Waiter
            | Variant::Signaller
            | Variant::Acceptor
            | Variant::Caller => 2,
            _ => usual,
        }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that nothing here has.
#[derive(Debug, thiserror::Error)]
#[error("unknown {what} `{name}`: known are {known}", known = .known.join(", "))]
pub(crate) struct Unknown {
    pub(super) what: &'static str,
    pub(super) name: String,
    pub(super) known: Vec<&'static str>,
}

impl FromStr for Bench {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let found = Bench::ALL.into_iter().find(|bench| bench.name() == name);
        found.ok_or_else(|| Unknown {
            what: "experiment",
            name: name.to_owned(),
            known: Bench::ALL.map(Bench::name).to_vec(),
        })
    }
}

impl FromStr for Variant {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let found = Variant::ALL.into_iter().find(|variant| variant.name() == name);
        found.ok_or_else(|| Unknown {
            what: "variant",
            name: name.to_owned(),
            known: Variant::ALL[1..].iter().map(|variant| variant.name()).collect(),
        })
    }
}
