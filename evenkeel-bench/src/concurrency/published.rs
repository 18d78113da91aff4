//! The figures that the thesis gives, as it gives them.

use super::bench::{Bench, Variant};

/// Where they are from, and on what they were measured.
pub(crate) const SOURCE: &str = "published: Thierry Delisle, \"Concurrency in C∀\", MMath thesis, University of Waterloo, 2018, \
    on an AMD Opteron 6380 at 2.5 GHz, ns of processor time: another machine of another time, so nothing here is compared with it";

/// A column of the published tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// C∀.
    Cforall,
    /// µC++.
    Ucpp,
    /// POSIX threads.
    Pthread,
    /// A call of a function in C.
    Call,
}

impl System {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [System; 4] =
        [System::Cforall, System::Ucpp, System::Pthread, System::Call];

    /// The heading of its column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            System::Cforall => "published C∀",
            System::Ucpp => "published µC++",
            System::Pthread => "published pthread",
            System::Call => "published C call",
        }
    }
}

/// Nanoseconds of a round, by experiment, variant, monitors and system.
const FIGURES: [(Bench, Variant, usize, System, f64); 25] = [
    (Bench::Ctxswitch, Variant::CoroutineKept, 0, System::Cforall, 38.0),
    (Bench::Ctxswitch, Variant::CoroutineKept, 0, System::Ucpp, 46.0),
    (Bench::Ctxswitch, Variant::Task, 0, System::Cforall, 102.0),
    (Bench::Ctxswitch, Variant::Task, 0, System::Ucpp, 98.0),
    (Bench::Ctxswitch, Variant::Task, 0, System::Pthread, 239.0),
    (Bench::Mutex, Variant::Only, 1, System::Cforall, 46.0),
    (Bench::Mutex, Variant::Only, 2, System::Cforall, 82.0),
    (Bench::Mutex, Variant::Only, 4, System::Cforall, 165.0),
    (Bench::Mutex, Variant::Only, 1, System::Ucpp, 30.0),
    (Bench::Mutex, Variant::Only, 1, System::Pthread, 31.0),
    (Bench::Mutex, Variant::Only, 1, System::Call, 2.0),
    (Bench::Schedint, Variant::Waiter, 1, System::Cforall, 1145.0),
    (Bench::Schedint, Variant::Waiter, 2, System::Cforall, 1531.0),
    (Bench::Schedint, Variant::Waiter, 4, System::Cforall, 2288.5),
    (Bench::Schedint, Variant::Waiter, 1, System::Ucpp, 322.0),
    (Bench::Schedext, Variant::Acceptor, 1, System::Cforall, 1155.5),
    (Bench::Schedext, Variant::Acceptor, 2, System::Cforall, 1361.0),
    (Bench::Schedext, Variant::Acceptor, 4, System::Cforall, 1941.5),
    (Bench::Schedext, Variant::Acceptor, 1, System::Ucpp, 349.0),
    (Bench::Creation, Variant::CoroutineLazy, 0, System::Cforall, 5.0),
    // Its coroutines are created with their stacks, and not resumed.
    (Bench::Creation, Variant::CoroutineLazy, 0, System::Ucpp, 106.0),
    (Bench::Creation, Variant::CoroutineEager, 0, System::Cforall, 335.0),
    (Bench::Creation, Variant::Task, 0, System::Cforall, 1122.5),
    (Bench::Creation, Variant::Task, 0, System::Ucpp, 525.5),
    (Bench::Creation, Variant::Task, 0, System::Pthread, 26974.5),
];

/// A published figure in nanoseconds, if there is one.
pub(crate) fn figure(
    bench: Bench,
    variant: Variant,
    monitors: usize,
    system: System,
) -> Option<f64> {
    let found = FIGURES
        .iter()
        .find(|(b, v, m, s, _)| (*b, *v, *m, *s) == (bench, variant, monitors, system));
    found.map(|(.., ns)| *ns)
}

/// As the thesis writes it: half nanoseconds are medians of two.
pub(crate) fn text(ns: f64) -> String {
    format!("{ns}")
}
