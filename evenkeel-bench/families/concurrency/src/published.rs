//! The figures of the thesis, in its own form.

use std::fmt;

use super::bench::{Bench, Variant};

/// Their source, and the machine.
pub(crate) const SOURCE: &str = "\
    Published by Thierry Delisle, \"Concurrency in C∀\", MMath thesis, University of Waterloo, 2018, on \
    an AMD Opteron 6380 at 2.5 GHz: ns of processor time, median / average ± standard deviation. It \
    is another machine of another time, so no verdict rests on it.";

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
    /// All systems, in the order of the tables.
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

/// The thesis's figures for an experiment, in nanoseconds per round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) median: f64,
    pub(crate) average: f64,
    /// The standard deviation.
    pub(crate) deviation: f64,
}

/// The thesis's notation: half nanoseconds are medians of two.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} ± {}", self.median, self.average, self.deviation)
    }
}

const fn of(median: f64, average: f64, deviation: f64) -> Figure {
    Figure { median, average, deviation }
}

/// All figures, by experiment, variant, monitors and system.
#[expect(clippy::approx_constant, reason = "a deviation of 3.14 ns is no π")]
const FIGURES: [(Bench, Variant, usize, System, Figure); 25] = [
    (Bench::Ctxswitch, Variant::CoroutineKept, 0, System::Cforall, of(38.0, 38.0, 0.0)),
    (Bench::Ctxswitch, Variant::CoroutineKept, 0, System::Ucpp, of(46.0, 46.68, 0.47)),
    (Bench::Ctxswitch, Variant::Task, 0, System::Cforall, of(102.0, 102.39, 1.57)),
    (Bench::Ctxswitch, Variant::Task, 0, System::Ucpp, of(98.0, 99.39, 1.52)),
    (Bench::Ctxswitch, Variant::Task, 0, System::Pthread, of(239.0, 242.57, 5.54)),
    (Bench::Mutex, Variant::Only, 1, System::Cforall, of(46.0, 46.14, 0.74)),
    (Bench::Mutex, Variant::Only, 2, System::Cforall, of(82.0, 83.0, 1.93)),
    (Bench::Mutex, Variant::Only, 4, System::Cforall, of(165.0, 161.15, 54.04)),
    (Bench::Mutex, Variant::Only, 1, System::Ucpp, of(30.0, 30.0, 0.0)),
    (Bench::Mutex, Variant::Only, 1, System::Pthread, of(31.0, 31.86, 0.99)),
    (Bench::Mutex, Variant::Only, 1, System::Call, of(2.0, 2.0, 0.0)),
    (Bench::Schedint, Variant::Waiter, 1, System::Cforall, of(1145.0, 1163.64, 27.52)),
    (Bench::Schedint, Variant::Waiter, 2, System::Cforall, of(1531.0, 1550.75, 32.77)),
    (Bench::Schedint, Variant::Waiter, 4, System::Cforall, of(2288.5, 2326.86, 54.73)),
    (Bench::Schedint, Variant::Waiter, 1, System::Ucpp, of(322.0, 322.57, 2.77)),
    (Bench::Schedext, Variant::Acceptor, 1, System::Cforall, of(1155.5, 1142.04, 25.23)),
    (Bench::Schedext, Variant::Acceptor, 2, System::Cforall, of(1361.0, 1376.75, 28.81)),
    (Bench::Schedext, Variant::Acceptor, 4, System::Cforall, of(1941.5, 1957.07, 34.7)),
    (Bench::Schedext, Variant::Acceptor, 1, System::Ucpp, of(349.0, 339.32, 3.14)),
    (Bench::Creation, Variant::CoroutineLazy, 0, System::Cforall, of(5.0, 5.0, 0.0)),
    // µC++ creates coroutines with their stacks, and does not resume them.
    (Bench::Creation, Variant::CoroutineLazy, 0, System::Ucpp, of(106.0, 107.04, 1.61)),
    (Bench::Creation, Variant::CoroutineEager, 0, System::Cforall, of(335.0, 357.67, 34.2)),
    (Bench::Creation, Variant::Task, 0, System::Cforall, of(1122.5, 1109.86, 36.54)),
    (Bench::Creation, Variant::Task, 0, System::Ucpp, of(525.5, 533.04, 11.14)),
    (Bench::Creation, Variant::Task, 0, System::Pthread, of(26974.5, 26977.0, 124.12)),
];

/// A published figure, if the thesis has it.
pub(crate) fn figure(
    bench: Bench,
    variant: Variant,
    monitors: usize,
    system: System,
) -> Option<Figure> {
    let found = FIGURES
        .iter()
        .find(|(b, v, m, s, _)| (*b, *v, *m, *s) == (bench, variant, monitors, system));
    found.map(|(.., figure)| *figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thesis's tables, one line for each row: median, average and deviation by system.
    const TABLES: &str = "\
ctxswitch coroutine-kept 0: C∀ 38 / 38 ± 0; µC++ 46 / 46.68 ± 0.47
ctxswitch task 0: C∀ 102 / 102.39 ± 1.57; µC++ 98 / 99.39 ± 1.52; pthread 239 / 242.57 ± 5.54
mutex - 1: C∀ 46 / 46.14 ± 0.74; µC++ 30 / 30 ± 0; pthread 31 / 31.86 ± 0.99; C call 2 / 2 ± 0
mutex - 2: C∀ 82 / 83 ± 1.93
mutex - 4: C∀ 165 / 161.15 ± 54.04
schedint waiter 1: C∀ 1145 / 1163.64 ± 27.52; µC++ 322 / 322.57 ± 2.77
schedint waiter 2: C∀ 1531 / 1550.75 ± 32.77
schedint waiter 4: C∀ 2288.5 / 2326.86 ± 54.73
schedext acceptor 1: C∀ 1155.5 / 1142.04 ± 25.23; µC++ 349 / 339.32 ± 3.14
schedext acceptor 2: C∀ 1361 / 1376.75 ± 28.81
schedext acceptor 4: C∀ 1941.5 / 1957.07 ± 34.7
creation coroutine-lazy 0: C∀ 5 / 5 ± 0; µC++ 106 / 107.04 ± 1.61
creation coroutine-eager 0: C∀ 335 / 357.67 ± 34.2
creation task 0: C∀ 1122.5 / 1109.86 ± 36.54; µC++ 525.5 / 533.04 ± 11.14; pthread 26974.5 / 26977 ± 124.12
";

    #[test]
    fn each_published_row_has_its_medians_averages_and_deviations() {
        let mut lines = String::new();
        for bench in Bench::ALL {
            for &variant in bench.variants() {
                for &monitors in bench.monitors() {
                    let shown = System::ALL.into_iter().filter_map(|system| {
                        let name = system.name().trim_start_matches("published ");
                        Some(format!("{name} {}", figure(bench, variant, monitors, system)?))
                    });
                    let shown: Vec<String> = shown.collect();
                    if !shown.is_empty() {
                        let row = format!("{bench} {variant} {monitors}");
                        lines.push_str(&format!("{row}: {}\n", shown.join("; ")));
                    }
                }
            }
        }
        assert_eq!(lines, TABLES);
    }
}
