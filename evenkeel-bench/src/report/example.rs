//! An invented session with every case that the page must show.

use super::Session;
use crate::families;
use suite::case::{Case, Fields};
use suite::entry::Measured;
use suite::read;
use suite::record::{Quiet, Record};
use suite::rows::Absent;

/// Medians of an invented machine, one row per bench, variant, processors and tasks per processor;
/// one figure per runtime, 0 for "not measured" and infinite for "did not complete".
type Row = (&'static str, &'static str, usize, usize, [f64; 5]);

const RUNTIMES: [&str; 5] = ["evenkeel", "tokio-hand", "tokio-native", "go-hand", "go-native"];
const DNC: f64 = f64::INFINITY;
const ROWS: [Row; 26] = [
    ("cycle", "-", 1, 100, [18.2, 37.2, 108.5, 126.0, 172.4]),
    ("cycle", "-", 2, 100, [20.4, 41.2, 111.4, 161.0, 192.0]),
    ("cycle", "-", 1, 1, [18.0, 37.3, 106.1, 131.1, 173.4]),
    ("cycle", "-", 2, 1, [24.0, 38.1, 238.0, 163.5, 260.9]),
    ("yield", "-", 1, 100, [9.04, 47.4, 49.8, 103.7, 104.8]),
    ("yield", "-", 2, 100, [10.1, 49.7, 52.3, 225.3, 233.4]),
    ("yield", "-", 1, 1, [9.0, 47.4, 396.8, 111.6, 112.6]),
    ("yield", "-", 2, 1, [10.0, 49.6, 301.0, 205.3, 216.2]),
    ("churn", "-", 1, 100, [22.3, 28.1, 76.4, 83.6, 32.2]),
    ("churn", "-", 2, 100, [57.0, 55.4, 99.2, 177.5, 196.0]),
    ("churn", "-", 1, 2, [41.5, 40.2, 105.6, 35.4, 56.0]),
    ("churn", "-", 2, 2, [80.2, 121.7, 242.5, 183.7, 227.8]),
    ("locality", "share", 1, 100, [30.2, 44.1, 112.3, 139.5, 191.1]),
    ("locality", "share", 2, 100, [50.3, 70.1, 129.9, 217.1, 305.5]),
    ("locality", "noshare", 1, 100, [30.0, 44.0, 113.3, 139.0, 193.2]),
    ("locality", "noshare", 2, 100, [49.7, 68.1, 129.4, 220.1, 306.7]),
    ("transfer", "park", 1, 100, [DNC, DNC, DNC, 55_674.0, 57_956.0]),
    ("transfer", "park", 2, 100, [19.6, 28.1, DNC, 188.2, 170.8]),
    ("transfer", "yield", 1, 100, [DNC, DNC, DNC, 40_165.0, 40_082.0]),
    ("transfer", "yield", 2, 100, [28.4, DNC, DNC, 25_313.0, 25_444.0]),
    ("spawn", "batch", 1, 1, [50.1, 305.0, 302.2, 185.8, 183.3]),
    ("spawn", "batch", 2, 1, [60.3, 274.2, 263.2, 185.5, 173.9]),
    ("spawn", "serial", 1, 1, [80.4, 225.0, 225.8, 308.9, 287.5]),
    ("spawn", "serial", 2, 1, [100.7, 297.5, 293.9, 296.9, 288.1]),
    ("memory", "-", 1, 100_000, [104.0, 449.5, 450.3, 2_636.0, 2_638.0]),
    ("memory", "-", 2, 100_000, [104.0, 449.5, 450.3, 0.0, 2_638.0]),
];

/// Three repeats of every row; some runs are disturbed, mixed, far or incomplete.
fn scheduling() -> Measured {
    let mut records = Vec::new();
    for (bench, variant, workers, load, medians) in ROWS {
        // The spread differs from cell to cell, and the median of the three repeats is the row's
        // figure.
        for (repeat, spread) in [-0.02, 0.0, 0.05].into_iter().enumerate() {
            for (index, median) in medians.into_iter().enumerate().filter(|(_, m)| *m > 0.0) {
                let spread = spread * (1.0 + index as f64 * workers as f64 / 2.0);
                let case = case(bench, variant, workers, load);
                records.push(record(RUNTIMES[index], &case, repeat, median * (1.0 + spread)));
            }
        }
    }
    records[7].quiet.cpu_share = 0.912;
    for record in records.iter_mut().filter(|record| record.case.workers == 2) {
        let is =
            |bench: &str, runtime: &str| record.case.bench == bench && record.runtime == runtime;
        let is_far = is("churn", "go-native") && record.case.settings.number(LOAD) == Some(100.0);
        let (gives_up, is_mixed) = (is("transfer", "go-native"), is("cycle", "tokio-hand"));
        if is_far {
            record.quiet.regime = "far".into();
        }
        if gives_up && record.case.variant == "yield" && record.repeat == 2 {
            record.dnc = true;
        }
        if is_mixed && record.repeat == 2 {
            record.quiet.regime = "mixed".into();
            record.quiet.line_ns_after = 183.0;
        }
    }
    Measured { records, ..Measured::nothing(families::named("scheduling").expect("a family")) }
}

/// The setting for the tasks per processor.
const LOAD: &str = "tasks_per_proc";

/// A case of the scheduling family.
pub(super) fn case(
    bench: &'static str,
    variant: &'static str,
    workers: usize,
    load: usize,
) -> Case {
    let case = Case::new(bench, variant, workers).with(LOAD, load);
    if bench == "locality" { case.with("words", 2).with("touch", 2) } else { case }
}

/// Returns a record with the figure `value`; with an infinite value, the run did not complete.
pub(super) fn record(runtime: &'static str, case: &Case, repeat: usize, value: f64) -> Record {
    let dnc = value.is_infinite();
    let figures = Fields::new().with("seconds", if dnc { 1.0 } else { 0.5 });
    let figures = match case.bench.as_ref() {
        "transfer" => figures.with_some("transfer_us", (!dnc).then_some(value)),
        "memory" => figures.with("bytes_per_task", value).with("future_bytes", 88.0),
        _ => figures
            .with("ops", (0.5e9 * case.workers as f64 / value) as u64)
            .with("ns_per_op_per_proc", value),
    };
    let quiet =
        Quiet { line_ns_before: 41.0, line_ns_after: 43.0, regime: "near".into(), cpu_share: 0.99 };
    Record { runtime: runtime.into(), case: case.clone(), repeat, figures, dnc, quiet }
}

/// Returns all families of a session.
pub(crate) fn session() -> Session {
    let mut forking = stored("fork-join", include_str!("../../tests/data/session/fork-join.jsonl"));
    forking.absent.push(Absent {
        case: Case::new("fib", "-", 2).with("n", 30),
        runtime: "openmp",
        why: "it would take too long".to_owned(),
        runs: 0,
    });
    let actors = include_str!("../../tests/data/session/actors.jsonl");
    let objects = include_str!("../../tests/data/session/objects.jsonl");
    let thesis = include_str!("../../tests/data/session/concurrency.jsonl");
    Session {
        measured: vec![
            scheduling(),
            forking,
            timers(),
            stored("concurrency", thesis),
            stored("actors", actors),
            stored("objects", objects),
        ],
        topology: "machine: 2 cores\n└─ last-level cache 0 (32 MiB): cores 0, 1\n".to_owned(),
        started: "2025-11-20 23:10".to_owned(),
        machine: "AMD EPYC, 2 virtual cores, Linux 6.1".to_owned(),
        commit: "0123456789-dirty".to_owned(),
        notes: vec!["Go 1.26.8 was found; its programs were built before the session.".to_owned()],
    }
}

/// Reads invented runs of a family, in the form in which a session writes them.
fn stored(family: &str, lines: &str) -> Measured {
    let mut measured = Measured::nothing(families::named(family).expect("it is a family"));
    for line in lines.lines() {
        let fields: serde_json::Value = serde_json::from_str(line).expect("it is an object");
        let bench = fields["bench"].as_str().expect("it has a name");
        let experiment = measured.of.experiment(bench).expect("it is declared");
        measured.records.push(read::record(line, experiment.settings).expect("it is a record"));
    }
    measured
}

/// Runs of timers: three repeats for timers that are cancelled, one for those that fire.
fn timers() -> Measured {
    let run = |runtime: &'static str, variant: &'static str, repeat, value: f64| Record {
        runtime: runtime.into(),
        case: Case::new("timers", variant, 1).with("tasks", 1),
        repeat,
        figures: match variant == "cancel" {
            true => Fields::new().with("ns_per_timer", value),
            false => Fields::new().with("late_us_p50", value / 3.0).with("late_us_p99", value),
        },
        dnc: false,
        quiet: Quiet {
            line_ns_before: 0.0,
            line_ns_after: 0.0,
            regime: "one core".into(),
            cpu_share: 1.0,
        },
    };
    let mut records = Vec::new();
    for (repeat, (own, other)) in
        [(26.1, 131.0), (27.7, 129.0), (27.0, 130.0)].into_iter().enumerate()
    {
        records.push(run("evenkeel", "cancel", repeat, own));
        records.push(run("tokio-native", "cancel", repeat, other));
    }
    records.push(run("evenkeel", "long", 0, 2_345.0));
    records.push(run("tokio-one", "long", 0, 3_210.0));
    let entry = families::named("timers").expect("timers are a family");
    Measured { records, ..Measured::nothing(entry) }
}
