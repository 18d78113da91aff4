//! Every cell as it is run, checks that can fail, and a made-up session for the tables.

use std::time::{Duration, Instant};

use super::bench::{Bench, Variant};
use super::cells::{self, Cell};
use super::contended::{self, Contention};
use super::family::{CONTENDED, Concurrency};
use super::host::{Host, Threads, Tokio};
use super::monitors::{Conditions, Datum, Monitors};
use super::peer::Peer;
use super::program::{Language, Program};
use super::spec::{Spec, specs};
use super::*;
use suite::affinity::confined;
use suite::case::{Case, Fields};
use suite::effort::Effort;
use suite::family::{Family, Has, Ran, Spec as _, describe};
use suite::kit::fake::quiet;
use suite::peer::{Peer as _, Role};
use suite::record::Record;
use suite::rows::rows;
use suite::table;
use suite::verdict::Verdict;

/// The tests wait little longer than this.
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

/// Whether a run that began after `start` can have taken this long.
fn is_part(took: Duration, start: Instant) -> bool {
    took > Duration::ZERO && took < start.elapsed()
}

/// Each run checks itself; this checks that there is a time.
#[test]
fn every_cell_in_this_process_runs() {
    for (peer, bench, variant, monitors) in all() {
        let name = format!("{peer} {bench} {variant} {monitors}");
        match cells::find(peer, bench, variant, monitors) {
            Some(Cell::Rounds(run)) => {
                for n in [1, 300] {
                    let start = Instant::now();
                    let took = confined(1, || run(n)).unwrap_or_else(|why| panic!("{name}: {why}"));
                    assert!(is_part(took, start), "{name}: {took:?}");
                }
            }
            Some(Cell::Contended(run)) => {
                let time = Duration::from_millis(20);
                let yields = variant == Variant::Yielding;
                let contention = Contention { procs: 2, tasks: 8, time, yields };
                let start = Instant::now();
                let outcome = run(contention).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert!(outcome.entries > 0, "{name}");
                assert!(outcome.longest < start.elapsed(), "{name}: {:?}", outcome.longest);
            }
            Some(Cell::Program(_)) | None => {}
        }
    }
}

#[test]
fn every_cell_of_a_program_runs_where_its_compiler_is_found() {
    for (peer, language) in [(Peer::Pthread, Language::C), (Peer::Go, Language::Go)] {
        if let Err(why) = language.look() {
            eprintln!("skipped {peer}: {why}");
            continue;
        }
        let program = Program::build(language).unwrap();
        for (_, bench, variant, monitors) in all().into_iter().filter(|cell| cell.0 == peer) {
            if cells::find(peer, bench, variant, monitors).is_none() {
                continue;
            }
            for n in [1, 300] {
                let run = || program.run(bench, variant, monitors, n, LONG);
                let start = Instant::now();
                let took = confined(1, run).unwrap();
                assert!(is_part(took, start), "{peer} {bench} {variant}: {took:?}");
            }
        }
        let refused = program.run(Bench::Contended, Variant::Tight, 1, 5, LONG);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("no such experiment: contended"), "{error}");
    }
}

/// This project has every cell.
#[test]
fn every_row_has_evenkeel_and_a_peer() {
    for bench in Bench::ALL {
        for spec in specs(bench, LONG) {
            let has = |peer: &Peer| Concurrency::has(*peer, &spec) == Has::Yes;
            assert!(has(&Peer::Evenkeel), "{}", spec.case());
            let is_peer = |peer: &Peer| peer.role() == Role::Peer && has(peer);
            // No peer has external scheduling of several monitors.
            let expected = bench != Bench::Schedext || spec.monitors == 1;
            assert_eq!(Peer::ALL.iter().any(is_peer), expected, "{}", spec.case());
        }
    }
}

#[test]
fn the_tables_of_the_thesis_are_measured_as_far_as_the_cores_go() {
    let benches = |cores| {
        let specs = Concurrency::plan(Effort::Quick, cores);
        let mut benches: Vec<_> = specs.iter().map(|spec| spec.bench.name()).collect();
        benches.dedup();
        benches
    };
    let thesis = ["ctxswitch", "mutex", "schedint", "schedext", "creation"];
    assert_eq!(benches(1), thesis);
    assert_eq!(benches(2), [&thesis[..], &["contended"]].concat());
}

/// A monitor that any party may enter at any time, like a broken lock.
struct Broken(std::sync::Mutex<u64>);

impl Monitors<1> for Broken {
    /// A private copy.
    type Held<'a> = Datum;

    fn new() -> Self {
        Broken(std::sync::Mutex::new(0))
    }

    async fn enter(&self) -> Datum {
        // Every second entry is lost.
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

    // Long enough for more than a few entries on a busy machine: of two entries none would be
    // missed.
    let time = Duration::from_millis(100);
    let contention = Contention { procs: 1, tasks: 2, time, yields: true };
    let parts = contended::parts::<Threads, Broken>(contention);
    let parties = Threads::run(1, parts, contended::go::<Threads, Broken>).unwrap();
    let fault = contended::check(&parties).unwrap_err().to_string();
    assert!(fault.ends_with("entries are counted"), "{fault}");
    let fault = contended::check(&[]).unwrap_err().to_string();
    assert_eq!(fault, "no party entered in time: raise --seconds");
}

/// A condition with waits that return without a signal.
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
    let family = Concurrency::new();
    let of_mutex: Vec<Spec> = specs(Bench::Mutex, Duration::from_millis(20)).collect();
    let asked = Spec { n: Some(77), ..of_mutex[1].clone() };
    for (spec, peer) in [(&of_mutex[0], Peer::Std), (&of_mutex[0], Peer::Call), (&asked, Peer::Std)]
    {
        let mut rounds = family.ready(spec, peer).unwrap();
        let Ran::Done(figures) = family.once(spec, peer, &mut rounds, 1).unwrap() else {
            panic!("{peer} has no figures")
        };
        let figure = |name: &str| figures.number(name).unwrap();
        assert_eq!(figure("ops"), rounds as f64);
        assert!(spec.n.map_or(rounds > 77, |n| rounds == n), "{peer}: {rounds}");
        let ns = figure("seconds") * 1e9 / figure("ops");
        assert!((figure("ns_per_op_per_proc") / ns - 1.0).abs() < 1e-9, "{figures:?}");
    }
}

/// The printed text of these records.
fn text(records: &[Record]) -> String {
    table::render(&describe::<Concurrency>(), records, &[], None)
}

/// The line that begins with these words, each followed by spaces.
fn line<'a>(text: &'a str, start: &str) -> &'a str {
    let start: Vec<&str> = start.split(' ').collect();
    let is = |line: &&str| line.split_whitespace().take(start.len()).eq(start.iter().copied());
    text.lines().find(is).unwrap_or_else(|| panic!("{start:?} is missing in {text}"))
}

#[test]
fn tables_show_losses_and_what_was_published() {
    let text = text(&example());
    assert!(line(&text, "ctxswitch task").contains("8.70 [8.53-9.13]"), "{text}");
    assert!(line(&text, "ctxswitch task").contains("5.4 x faster"), "{text}");
    assert!(text.contains("8.79 ± 0.31"), "{text}");
    assert!(line(&text, "creation task").contains("1.20 X SLOWER"), "{text}");
    let two = line(&text, "mutex 1 2");
    assert!(two.contains("1.08 x faster") && two.contains("82 / 83 ± 1.93"), "{text}");
    assert!(line(&text, "schedint waiter").contains("2288.5 / 2326.86 ± 54.73"), "{text}");
    assert!(text.contains("published C∀") && text.contains("AMD Opteron 6380"), "{text}");
    assert!(!self::text(&example()[33..]).contains("Opteron"));
}

/// Three runs each of experiments with one monitor, or none: name, variant, peer, ns.
fn session(rows: &[(&'static str, &'static str, &'static str, f64)]) -> Vec<Record> {
    let of = |&(bench, variant, runtime, ns)| {
        let case = Case::new(bench, variant, 1);
        three(runtime, case.with("monitors", usize::from(bench != "ctxswitch")), ns, None)
    };
    rows.iter().flat_map(of).collect()
}

#[test]
fn a_coroutine_that_the_compiler_removes_is_shown_and_not_compared() {
    let records = session(&[
        ("ctxswitch", "coroutine", "evenkeel", 0.6),
        ("ctxswitch", "coroutine", "genawaiter", 3.0),
        ("ctxswitch", "coroutine-kept", "evenkeel", 2.0),
        ("ctxswitch", "coroutine-kept", "genawaiter", 3.0),
    ]);
    let text = text(&records);
    let removed = line(&text, "ctxswitch coroutine");
    assert!(removed.contains("0.60"), "{text}");
    assert!(removed.contains("not compared: the compiler removes it"), "{text}");
    let kept = line(&text, "ctxswitch coroutine-kept");
    assert!(kept.contains("1.50 x faster") && kept.contains("38 / 38 ± 0"), "{text}");
    assert!(text.contains("won 1, lost 0, even 0, not compared 0."), "{text}");
}

#[test]
fn two_notifies_in_turns_are_a_peer_of_wait_and_signal() {
    let records = session(&[
        ("schedint", "waiter", "evenkeel", 100.0),
        ("schedint", "waiter", "tokio", 300.0),
        ("schedint", "waiter", "tokio-notify", 80.0),
    ]);
    let of = describe::<Concurrency>();
    let row = &rows(&of, &records, &[])[0];
    let quantity = row.quantities().next().unwrap();
    assert_eq!(Verdict::of(row, quantity).peer(), Some("tokio-notify"));
    assert_eq!(row.best(quantity), Some("tokio-notify"));
}

#[test]
fn a_call_that_guards_nothing_is_not_the_best() {
    let (of, records) = (describe::<Concurrency>(), example());
    let rows = rows(&of, &records, &[]);
    let row = rows.iter().find(|row| row.cell("call").is_some()).unwrap();
    assert_eq!(row.best(row.quantities().next().unwrap()), Some("parking_lot"));
}

#[test]
fn more_throughput_is_better_and_a_longer_wait_is_not() {
    let (of, records) = (describe::<Concurrency>(), example());
    let rows = rows(&of, &records, &[]);
    let row = rows.iter().find(|row| row.case.bench == "contended").unwrap();
    assert_eq!(row.best(&CONTENDED[0]), Some("parking_lot"));
    assert_eq!(row.best(&CONTENDED[1]), Some("tokio"));
}

/// Three runs of a case.
fn three(runtime: &'static str, case: Case, ns: f64, longest_us: Option<f64>) -> Vec<Record> {
    let case = case.with("tasks", 1);
    let run = |(repeat, by): (usize, f64)| Record {
        runtime: runtime.into(),
        case: case.clone(),
        repeat,
        figures: Fields::new()
            .with("ops", 1_000_000)
            .with("seconds", ns * by / case.workers as f64 / 1e3)
            .with("ns_per_op_per_proc", ns * by)
            .with_some("longest_wait_us", longest_us.map(|us| us * by)),
        dnc: false,
        quiet: quiet("near"),
    };
    [1.0, 0.98, 1.05].into_iter().enumerate().map(run).collect()
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
    let of = |(bench, variant, monitors, workers, runtime, ns, longest)| {
        let case = Case::new(bench, variant, workers).with("monitors", monitors);
        three(runtime, case, ns, longest)
    };
    ROWS.into_iter().flat_map(of).collect()
}
