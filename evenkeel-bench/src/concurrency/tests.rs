//! Every cell as it is run, checks that can fail, and a made-up session for the tables.

use std::time::Duration;

use super::cells::{self, Cell};
use super::contended::{self, Contention};
use super::figures::{Quantity, lines};
use super::host::{Host, Threads, Tokio};
use super::monitors::{Conditions, Datum, Monitors};
use super::peer::Peer;
use super::program::{Language, Program};
use super::record::Record;
use super::runner::{self, Runner};
use super::*;
use crate::affinity::confined;

/// Nobody is waited for much longer than this.
const LONG: Duration = Duration::from_secs(60);

fn all() -> Vec<(Peer, Bench, Variant, usize)> {
    let mut all = Vec::new();
    for bench in Bench::ALL {
        for &variant in bench.variants() {
            for &monitors in bench.monitors() {
                all.extend(Peer::ALL.map(|peer| (peer, bench, variant, monitors)));
            }
        }
    }
    all
}

/// Each run checks itself; here it is checked that there is a time.
#[test]
fn every_cell_in_this_process_runs() {
    for (peer, bench, variant, monitors) in all() {
        let name = format!("{peer} {bench} {variant} {monitors}");
        match cells::find(peer, bench, variant, monitors) {
            Some(Cell::Rounds(run)) => {
                for n in [1, 300] {
                    let took = confined(1, || run(n)).unwrap_or_else(|why| panic!("{name}: {why}"));
                    assert!(took > Duration::ZERO && took < LONG, "{name}: {took:?}");
                }
            }
            Some(Cell::Contended(run)) => {
                let time = Duration::from_millis(20);
                let yields = variant == Variant::Yielding;
                let contention = Contention { procs: 2, tasks: 8, time, yields };
                let outcome = run(contention).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert!(outcome.entries > 0, "{name}");
                assert!(outcome.longest < LONG, "{name}: {:?}", outcome.longest);
            }
            Some(Cell::Program(_)) | None => {}
        }
    }
}

#[test]
fn every_cell_of_a_program_runs_where_its_compiler_is_found() {
    for (peer, language) in [(Peer::Pthread, Language::C), (Peer::Go, Language::Go)] {
        if let Some(why) = language.missing() {
            eprintln!("skipped {peer}: {why}");
            continue;
        }
        let program = Program::build(language).unwrap();
        for (_, bench, variant, monitors) in all().into_iter().filter(|cell| cell.0 == peer) {
            if cells::find(peer, bench, variant, monitors).is_none() {
                continue;
            }
            for n in [1, 300] {
                let run = || program.run(bench, variant, monitors, n, Duration::ZERO, LONG);
                let took = confined(1, run).unwrap();
                assert!(took > Duration::ZERO && took < LONG, "{peer} {bench} {variant}");
            }
        }
        let refused = program.run(Bench::Contended, Variant::Tight, 1, 5, Duration::ZERO, LONG);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("no such experiment: contended"), "{error}");
    }
}

/// This project has every cell.
#[test]
fn every_row_has_evenkeel_and_a_peer() {
    for bench in Bench::ALL {
        for row in runner::rows(bench, &Peer::ALL, LONG) {
            assert_eq!(row.peers[0], Peer::Evenkeel, "{}", runner::name(&row));
            let peers =
                row.peers.iter().filter(|peer| **peer != Peer::Evenkeel && !peer.is_floor());
            // Nobody else has external scheduling of several monitors.
            let expected = bench != Bench::Schedext || row.monitors == 1;
            assert_eq!(peers.count() > 0, expected, "{}", runner::name(&row));
        }
    }
}

/// A monitor that anybody may enter at any time, as a lock that is broken.
struct Broken(std::sync::Mutex<u64>);

impl Monitors<1> for Broken {
    /// A copy that nobody else sees.
    type Held<'a> = Datum;

    fn new() -> Self {
        Broken(std::sync::Mutex::new(0))
    }

    async fn enter(&self) -> Datum {
        // Every other entry forgets what was counted before.
        let mut entered = self.0.lock().unwrap();
        *entered += 1;
        Datum { entries: *entered / 2, ..Datum::NEW }
    }

    fn data<'h>(held: &'h mut Self::Held<'_>) -> [&'h mut Datum; 1] {
        [held]
    }
}

#[test]
fn lost_entries_are_a_fault() {
    let parties = Threads::run(1, vec![10], mutex::go::<Broken, 1>).unwrap();
    let fault = mutex::check(10, parties).unwrap_err().to_string();
    assert_eq!(fault, "5 entries of 10 are counted");

    // Long enough for more than a few entries on a machine that is busy: of two none would be missed.
    let time = Duration::from_millis(100);
    let contention = Contention { procs: 1, tasks: 2, time, yields: true };
    let parts = contended::parts::<Threads, Broken>(contention);
    let parties = Threads::run(1, parts, contended::go::<Threads, Broken>).unwrap();
    let fault = contended::check(&parties).unwrap_err().to_string();
    assert!(fault.ends_with("entries are counted"), "{fault}");
    let fault = contended::check(&[]).unwrap_err().to_string();
    assert_eq!(fault, "nobody entered in time: raise --seconds");
}

/// A condition whose waiters come back by themselves.
struct Hasty(monitors::Tokio<1>);

impl Monitors<1> for Hasty {
    type Held<'a> = <monitors::Tokio<1> as Monitors<1>>::Held<'a>;

    fn new() -> Self {
        Hasty(Monitors::new())
    }

    async fn enter(&self) -> Self::Held<'_> {
        self.0.enter().await
    }

    fn data<'h>(held: &'h mut Self::Held<'_>) -> [&'h mut Datum; 1] {
        <monitors::Tokio<1> as Monitors<1>>::data(held)
    }
}

impl Conditions<1> for Hasty {
    async fn wait<'a>(&'a self, held: Self::Held<'a>) -> Self::Held<'a> {
        drop(held);
        Tokio::yield_now().await;
        self.enter().await
    }

    fn signal(&self, _held: &mut Self::Held<'_>) {}
}

#[test]
fn waiters_that_come_back_early_wait_again() {
    let parts = schedint::parts::<Tokio, Hasty, 1>(100);
    let parties = Tokio::run(1, parts, schedint::go::<Tokio, Hasty, 1>).unwrap();
    schedint::check(100, schedint::Role::Waiter, &parties).unwrap();
    let fault = schedint::check(101, schedint::Role::Waiter, &parties).unwrap_err().to_string();
    assert_eq!(fault, "the Waiter has made 100 rounds of 101");
}

#[test]
fn rounds_are_as_many_as_take_the_time_or_as_asked() {
    let runner = Runner::new(0);
    let time = Duration::from_millis(20);
    let rows = runner::rows(Bench::Mutex, &[Peer::Std, Peer::Call], time);
    let mut records = Vec::new();
    let mut keep = |record: Record, _| {
        records.push(record);
        Ok(())
    };
    runner.run(&rows[0], 2, &mut keep).unwrap();
    let asked = runner::Row { n: Some(77), ..rows[1].clone() };
    runner.run(&asked, 1, &mut keep).unwrap();
    let seen: Vec<_> = records.iter().map(|r| (r.runtime.as_str(), r.repeat)).collect();
    assert_eq!(seen, [("std", 0), ("call", 0), ("std", 1), ("call", 1), ("std", 0)]);
    assert!(records[0].ops > 77 && records[4].ops == 77);
    assert_eq!((records[0].monitors, records[4].monitors), (1, 2));
    for record in &records {
        let ns = record.seconds * 1e9 / record.ops as f64;
        assert!((record.ns_per_op_per_proc / ns - 1.0).abs() < 1e-9, "{record:?}");
    }
}

#[test]
fn names_are_read_back() {
    for peer in Peer::ALL {
        assert_eq!(peer.name().parse::<Peer>().unwrap(), peer);
    }
    for bench in Bench::ALL {
        assert_eq!(bench.name().parse::<Bench>().unwrap(), bench);
        for &variant in bench.variants() {
            assert_eq!(variant.name().parse::<Variant>().unwrap(), variant);
        }
    }
}

#[test]
fn tables_show_losses_and_what_was_published() {
    let text = table::render(&example());
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start} is missing in {text}"))
    };
    assert!(line("ctxswitch task").contains("8.70 [8.53-9.13]"), "{text}");
    assert!(line("ctxswitch task").contains("5.4 x faster  evenkeel"), "{text}");
    assert!(line("creation task").contains("1.20 X SLOWER  tokio"), "{text}");
    let two = line("mutex, 2 monitors");
    assert!(two.contains("1.08 x faster ") && two.contains("  82 / 83 ± 1.93  "), "{text}");
    // It guards nothing, so it is not the best.
    assert!(line("mutex, 1 monitor").contains("parking_lot  "), "{text}");
    assert!(line("schedint waiter, 4 monitors").contains("2288.5 / 2326.86 ± 54.73"), "{text}");
    let alone = table::render(&example()[..1]);
    assert!(text.contains("AMD Opteron 6380") && alone.contains("AMD Opteron 6380"));
}

/// A session of these experiments with one variant, one monitor and three runs each: name, variant,
/// who, ns.
fn session(rows: &[(&str, &str, &str, f64)]) -> Vec<Record> {
    let like = example().swap_remove(0);
    let mut records = Vec::new();
    for &(bench, variant, runtime, ns) in rows {
        let monitors = usize::from(bench != "ctxswitch");
        records.extend((0..3).map(|repeat| Record {
            runtime: runtime.to_owned(),
            bench: bench.to_owned(),
            variant: variant.to_owned(),
            monitors,
            repeat,
            ns_per_op_per_proc: ns,
            ..like.clone()
        }));
    }
    records
}

#[test]
fn a_coroutine_that_the_compiler_removes_is_shown_and_not_compared() {
    let records = session(&[
        ("ctxswitch", "coroutine", "evenkeel", 0.6),
        ("ctxswitch", "coroutine", "genawaiter", 3.0),
        ("ctxswitch", "coroutine-kept", "evenkeel", 2.0),
        ("ctxswitch", "coroutine-kept", "genawaiter", 3.0),
    ]);
    let [removed, kept] = &lines(&records)[..] else { panic!("two lines") };
    assert_eq!(removed.verdict().words, "not compared: the compiler removes it");
    assert_eq!((removed.verdict().peer, removed.best()), (None, None));
    assert_eq!(kept.verdict().words, "1.50 x faster");
    assert_eq!(kept.best(), Some(Peer::Evenkeel));
    let text = table::render(&records);
    let row = |start| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(row("ctxswitch coroutine ").contains("0.60"), "{text}");
    assert!(row("ctxswitch coroutine-kept").contains("38 / 38 ± 0"), "{text}");
}

#[test]
fn two_notifies_in_turns_are_a_peer_of_wait_and_signal() {
    let records = session(&[
        ("schedint", "waiter", "evenkeel", 100.0),
        ("schedint", "waiter", "tokio", 300.0),
        ("schedint", "waiter", "tokio-notify", 80.0),
    ]);
    let lines = lines(&records);
    let verdict = lines[0].verdict();
    assert_eq!(verdict.peer.as_deref(), Some("tokio-notify"), "{}", verdict.words);
    assert_eq!(lines[0].best(), Some(Peer::TokioNotify));
    assert!(!table::render(&records).contains("compared with nobody"));
}

#[test]
fn more_throughput_is_better_and_a_longer_wait_is_not() {
    let lines = lines(&example());
    let best =
        |quantity| lines.iter().find(|line| line.quantity == quantity).and_then(|line| line.best());
    assert_eq!(best(Quantity::Throughput), Some(Peer::ParkingLot));
    assert_eq!(best(Quantity::Longest), Some(Peer::Tokio));
}

/// A made-up session.
pub(crate) fn example() -> Vec<Record> {
    type Row = (&'static str, &'static str, usize, usize, &'static str, f64, Option<f64>);
    const ROWS: [Row; 15] = [
        ("ctxswitch", "task", 0, 1, "evenkeel", 8.7, None),
        ("ctxswitch", "task", 0, 1, "tokio", 47.0, None),
        ("ctxswitch", "task", 0, 1, "pthread", 386.0, None),
        ("mutex", "-", 1, 1, "call", 1.0, None),
        ("mutex", "-", 1, 1, "parking_lot", 10.2, None),
        ("mutex", "-", 1, 1, "tokio", 43.0, None),
        ("mutex", "-", 2, 1, "evenkeel", 19.2, None),
        ("mutex", "-", 2, 1, "parking_lot", 20.8, None),
        ("schedint", "waiter", 4, 1, "tokio", 740.0, None),
        ("creation", "task", 0, 1, "evenkeel", 60.0, None),
        ("creation", "task", 0, 1, "tokio", 50.0, None),
        ("contended", "tight", 1, 2, "tokio", 900.0, Some(4.0)),
        ("contended", "tight", 1, 2, "parking_lot", 300.0, Some(90.0)),
        ("contended", "yielding", 1, 2, "tokio", 900.0, Some(4.0)),
        ("contended", "yielding", 1, 2, "parking_lot", 300.0, Some(90.0)),
    ];
    let mut records = Vec::new();
    for (bench, variant, monitors, procs, runtime, ns, longest) in ROWS {
        for (repeat, by) in [1.0, 0.98, 1.05].into_iter().enumerate() {
            let ops = 1_000_000_u64;
            records.push(Record {
                runtime: runtime.to_owned(),
                bench: bench.to_owned(),
                variant: variant.to_owned(),
                monitors,
                procs,
                tasks: procs,
                repeat,
                ops,
                seconds: ns * by * ops as f64 / procs as f64 / 1e9,
                ns_per_op_per_proc: ns * by,
                longest_wait_us: longest.map(|us| us * by),
                line_ns_before: 40.0,
                line_ns_after: 40.0,
                regime: "near".to_owned(),
                cpu_share: 1.0,
            });
        }
    }
    records
}
