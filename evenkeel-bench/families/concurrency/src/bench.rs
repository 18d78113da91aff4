//! The experiments and their variants.

use suite::named;

named! {
    /// An experiment: a table of the thesis, or contended entry.
    pub(crate) enum Bench as "experiment" {
        /// Switches between coroutines, tasks and threads.
        Ctxswitch = "ctxswitch": "context switches of coroutines, tasks and threads",
        /// Entry and exit of uncontended monitors.
        Mutex = "mutex": "entry and exit of 1, 2 and 4 uncontended monitors",
        /// Wait and signal.
        Schedint = "schedint": "wait and signal inside 1, 2 and 4 monitors",
        /// Accept and call.
        Schedext = "schedext": "accept and call of 1, 2 and 4 monitors",
        /// Creation.
        Creation = "creation": "creation of coroutines; spawn and join of tasks and threads",
        /// Entry of one monitor that all parties want.
        Contended = "contended": "8 tasks on 2 processors want one monitor for 100 ns each",
    }
}

named! {
    /// One way of running an experiment.
    pub(crate) enum Variant as "variant" {
        /// The experiment has only one.
        Only = "-",
        /// A coroutine of known type, beside its loop.
        Coroutine = "coroutine",
        /// A coroutine of known type, in memory and behind a call.
        CoroutineKept = "coroutine-kept",
        /// A coroutine of erased type.
        CoroutineBoxed = "coroutine-boxed",
        /// A task or thread alone.
        Task = "task",
        /// Two tasks or threads, in turns.
        TwoTasks = "two-tasks",
        /// The waiter is timed.
        Waiter = "waiter",
        /// The signaller is timed.
        Signaller = "signaller",
        /// The acceptor is timed.
        Acceptor = "acceptor",
        /// The caller is timed.
        Caller = "caller",
        /// A coroutine that never runs.
        CoroutineLazy = "coroutine-lazy",
        /// A coroutine that runs once.
        CoroutineEager = "coroutine-eager",
        /// The same with an erased type.
        CoroutineEagerBoxed = "coroutine-eager-boxed",
        /// Enter again at once.
        Tight = "tight",
        /// Yield before entering again.
        Yielding = "yielding",
    }
}

impl Bench {
    /// The variants, in the order of the tables.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Bench::Ctxswitch => &[
                Variant::Coroutine,
                Variant::CoroutineKept,
                Variant::CoroutineBoxed,
                Variant::Task,
                Variant::TwoTasks,
            ],
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

    /// The numbers of monitors that a party enters together; 0 where there are none.
    pub(crate) fn monitors(self) -> &'static [usize] {
        match self {
            Bench::Mutex | Bench::Schedint | Bench::Schedext => &[1, 2, 4],
            Bench::Contended => &[1],
            Bench::Ctxswitch | Bench::Creation => &[0],
        }
    }

    /// The usual numbers of processors, and of parties on them.
    pub(crate) fn usual(self) -> (usize, usize) {
        if self == Bench::Contended { (2, 8) } else { (1, 1) }
    }
}

impl Variant {
    /// Whether the compiler removes what is measured: it reduces a coroutine beside its loop to an
    /// addition. The tables show such a row, and do not compare it.
    pub(crate) fn is_removed(self) -> bool {
        self == Variant::Coroutine
    }

    /// The number of parties, where the variant determines it.
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
