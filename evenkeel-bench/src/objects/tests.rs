//! Each experiment in each mode at a tiny size, checks that can fail, and a made-up session for the tables.

use std::time::Duration;

use super::bench::{Access, Bench, Mode, Popularity};
use super::cells::{self, Asked};
use super::figures::{Line, lines};
use super::party::Tally;
use super::record::Record;
use super::runner::{self, Finished, Runner};
use super::score::{Score, stretches};
use super::table;

const MS: Duration = Duration::from_millis(1);

/// A run of a mode in a place, with this throughput.
fn run(bench: Bench, mode: Mode, tasks: usize, regime: &str, mops: f64) -> Record {
    let travels = bench == Bench::Travel;
    Record {
        bench: bench.to_string(),
        mode: mode.to_string(),
        workers: 2,
        tasks_per_core: mode.has_tasks().then_some(tasks),
        objects: 64,
        bytes: 2_048_000,
        keys: 0,
        access: bench.accesses()[0].to_string(),
        popularity: Popularity::Uniform.to_string(),
        period_ms: 0,
        repeat: 0,
        operations: (mops * 1e6) as u64,
        seconds: 1.0,
        mops,
        hops: if mode == Mode::Home { (mops * 5e5) as u64 } else { 0 },
        misses: None,
        homes_before: mode.has_tasks().then(|| "32 32".to_owned()),
        homes_after: mode.has_tasks().then(|| "40 24".to_owned()),
        given_away: (mode == Mode::Automatic).then_some(8),
        hop_ns: (mode == Mode::Automatic).then_some(55),
        verdict: (mode == Mode::Automatic).then(|| "at home: because".to_owned()),
        core_ns: travels.then_some(2e3 / mops),
        mops_many: None,
        mops_few: None,
        mops_many_settled: None,
        mops_few_settled: None,
        line_ns_before: 40.0,
        line_ns_after: 40.0,
        regime: regime.to_owned(),
        cpu_share: 1.0,
    }
}

/// A made-up session: two regimes, and a run in which the cores moved.
pub(crate) fn example() -> Vec<Record> {
    use Bench::{Counters, Directory, Travel};
    let mut records = vec![
        run(Directory, Mode::Spin, 0, "near", 9.9),
        run(Directory, Mode::Spin, 0, "near", 10.3),
        run(Directory, Mode::Spin, 0, "near", 10.0),
        run(Directory, Mode::InPlace, 16, "near", 8.0),
        run(Directory, Mode::Home, 16, "near", 12.5),
        run(Directory, Mode::Automatic, 16, "near", 11.25),
        run(Directory, Mode::Spin, 0, "far", 4.0),
        run(Directory, Mode::Home, 16, "far", 8.4),
        run(Directory, Mode::Home, 16, "mixed", 7.0),
        run(Counters, Mode::Atomic, 0, "near", 99.0),
        run(Counters, Mode::Home, 16, "near", 61.0),
        run(Travel, Mode::Home, 1, "near", 10.0),
        run(Travel, Mode::Home, 16, "near", 80.0),
    ];
    let larger = |record: &Record| Record { objects: 1_024, bytes: 32_768_000, ..record.clone() };
    records.extend(records[2..6].iter().map(larger).collect::<Vec<_>>());
    records.push(Record {
        popularity: Popularity::Oscillating.to_string(),
        period_ms: 40,
        mops_many: Some(5.5),
        mops_few: Some(7.5),
        mops_many_settled: Some(5.75),
        mops_few_settled: Some(8.25),
        ..run(Directory, Mode::Home, 16, "near", 6.5)
    });
    records
}

fn of<'a>(lines: &'a [Line], bench: Bench, mode: Mode, regime: &str) -> &'a Line {
    let wanted = |line: &&Line| {
        (line.place.bench, line.mode, line.regime.as_deref()) == (bench, mode, Some(regime))
    };
    lines.iter().find(wanted).unwrap()
}

#[test]
fn modes_are_compared_within_a_regime_only() {
    let lines = lines(&example());
    let line = |mode, regime| of(&lines, Bench::Directory, mode, regime);
    let spin = line(Mode::Spin, "near");
    assert_eq!((spin.mops.median, spin.mops.runs, spin.beside_spin), (10.0, 3, None));
    assert_eq!(line(Mode::Home, "near").beside_spin, Some(1.25));
    assert_eq!(line(Mode::Home, "near").beside_better, None);
    assert_eq!(line(Mode::Automatic, "near").beside_better, Some(0.9));
    assert_eq!(line(Mode::Home, "far").beside_spin, Some(2.1));
    assert_eq!(line(Mode::Home, "near").hops, 0.5);
}

#[test]
fn what_was_measured_while_the_cores_moved_is_compared_with_nothing() {
    let mut records = example();
    records.push(run(Bench::Directory, Mode::Spin, 0, "mixed", 7.0));
    let lines = lines(&records);
    let line = of(&lines, Bench::Directory, Mode::Home, "mixed");
    assert_eq!((line.is_compared(), line.beside_spin), (false, None));
    assert_eq!(lines.last().unwrap().regime.as_deref(), Some("mixed"));
}

#[test]
fn one_worker_has_no_regime() {
    let one = |regime, mops| Record { workers: 1, ..run(Bench::Heap, Mode::Spin, 0, regime, mops) };
    let lines = lines(&[one("near", 1.0), one("far", 3.0)]);
    assert_eq!((lines.len(), lines[0].mops.median), (1, 2.0));
    assert_eq!(table::heading(&lines[0]), "one worker");
}

#[test]
fn each_regime_has_a_table() {
    let text = table::render(&example());
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables.len(), 4, "{text}");
    for (table, heading) in
        tables.iter().zip(["cores near", "cores far", "cores mixed: compared with nothing"])
    {
        assert_eq!(table.lines().next(), Some(heading));
    }
    let row = |table: &str, words: &[&str]| {
        let line = table.lines().find(|line| words.iter().all(|word| line.contains(word)));
        let line = line.unwrap_or_else(|| panic!("{words:?} in {table}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row(tables[0], &["directory", "threads+spin", "9.90"]),
        "directory read, 64 objects, 1.95 MiB 2 - threads+spin 10.0 9.90 10.3 3 0.00 - - - - - - -"
    );
    assert_eq!(
        row(tables[0], &["directory", "1.95 MiB", "automatic"]),
        "directory read, 64 objects, 1.95 MiB 2 16 automatic 11.2 11.2 11.2 1 0.00 1.12 0.90 - - - - -"
    );
    assert_eq!(
        row(tables[0], &["oscillating"]),
        "directory read oscillating every 40 ms, 64 objects, 1.95 MiB 2 16 home 6.50 6.50 6.50 1 0.50 - - - \
         5.50 5.75 7.50 8.25"
    );
    assert_eq!(
        row(tables[0], &["travel", " 1  "]),
        "travel, 64 objects 2 1 home 10.0 10.0 10.0 1 0.50 - - 200 - - - -"
    );
    assert_eq!(
        row(tables[1], &["home"]),
        "directory read, 64 objects, 1.95 MiB 2 16 home 8.40 8.40 8.40 1 0.50 2.10"
    );
    assert!(!tables[1].contains("core-ns"));
}

#[test]
fn sizes_are_short() {
    let sizes = [512, 1 << 10, 256_000, 8 << 20].map(table::size);
    assert_eq!(sizes, ["512 B", "1 KiB", "250 KiB", "8 MiB"]);
}

fn finished(tallies: Vec<Tally>, total: u64) -> Finished {
    let stretches = stretches(Popularity::Uniform, MS, Duration::ZERO, Duration::ZERO);
    let performance = Score::new(stretches, 1, 0).conduct(|| 0);
    Finished { performance, tallies, total, homes: None }
}

#[test]
fn what_was_lost_or_made_halfway_fails_the_run() {
    let tally = Tally { ends: Vec::new(), operations: 3, added: 3, wrong: 0 };
    runner::check(&finished(vec![tally.clone(); 2], 6)).unwrap();
    let error = runner::check(&finished(vec![tally.clone(); 2], 5)).unwrap_err();
    assert_eq!(error.to_string(), "6 was added to the objects, and they have 5");
    let wrong = Tally { wrong: 1, ..tally };
    let error = runner::check(&finished(vec![wrong], 3)).unwrap_err();
    assert_eq!(error.to_string(), "1 of 3 operations have found what must not be");
}

/// Runs an experiment in all its modes, for a moment. Each run checks itself.
fn records_of(bench: Bench, asked: &Asked) -> Vec<Record> {
    let asked =
        Asked { workers: vec![2], tasks_per_core: vec![1, 8], time: 5 * MS, ..asked.clone() };
    let mut records = Vec::new();
    for cell in cells::of(bench, &asked).unwrap() {
        let keep = |record, _| {
            records.push(record);
            Ok(())
        };
        Runner::new(0).run(&cell, 1, keep).unwrap();
    }
    for record in &records {
        assert!(record.operations > 0 && record.seconds > 0.0, "{record:?}");
    }
    records
}

#[test]
fn directories_are_looked_up_in_every_mode() {
    let access = Bench::Directory.accesses().to_vec();
    let records =
        records_of(Bench::Directory, &Asked { kib: vec![128], access, ..Asked::default() });
    // Threads, and three modes with two numbers of tasks.
    assert_eq!(records.len(), 3 * 7);
    assert_eq!((records[0].objects, records[0].bytes), (4, 128_000));
    assert!(records.iter().all(|record| record.mode != Mode::InPlace.name() || record.hops == 0));
    assert!(records.iter().all(|record| record.mops_few.is_none()));
}

#[test]
fn oscillating_runs_have_parts() {
    let popularity = vec![Popularity::Oscillating];
    let (modes, period) = (vec![Mode::Spin, Mode::Home], Some(12 * MS));
    let asked = Asked { kib: vec![512 + 64], popularity, modes, period, ..Asked::default() };
    for record in records_of(Bench::Directory, &asked) {
        assert_eq!((record.objects, record.period_ms), (18, 12));
        let parts =
            [record.mops_many, record.mops_few, record.mops_many_settled, record.mops_few_settled];
        assert!(parts.iter().all(|mops| mops.is_some_and(|mops| mops >= 0.0)), "{record:?}");
        assert!(record.seconds >= 0.024, "{record:?}");
    }
}

#[test]
fn counters_are_counted_in_every_mode() {
    let records = records_of(Bench::Counters, &Asked { objects: vec![1, 4], ..Asked::default() });
    assert_eq!(records.len(), 2 * 10);
    let atomic = records.iter().find(|record| record.mode == Mode::Atomic.name()).unwrap();
    assert_eq!((atomic.tasks_per_core, atomic.access.as_str()), (None, Access::Only.name()));
}

#[test]
fn maps_and_heaps_keep_what_is_in_them_in_every_mode() {
    for bench in [Bench::Map, Bench::Heap] {
        let records = records_of(bench, &Asked { keys: vec![8], ..Asked::default() });
        assert!(records.iter().all(|record| record.keys == 8), "{bench}");
    }
}

#[test]
fn objects_are_scanned_in_every_mode() {
    let access = Bench::Scan.accesses().to_vec();
    let asked = Asked { kib: vec![4], object_bytes: vec![512], access, ..Asked::default() };
    let records = records_of(Bench::Scan, &asked);
    assert_eq!((records.len(), records[0].objects), (2 * 7, 8));
}

/// A worker that stands still for a while, as on a crowded machine, is not travelled to: so not every run has journeys.
#[test]
fn tasks_travel_there_and_back() {
    const TRIES: usize = 200;
    let travels = |record: &Record| {
        assert_eq!((record.mode.as_str(), record.objects), (Mode::Home.name(), 2));
        record.core_ns.is_some_and(|ns| ns > 0.0) && record.hops > record.operations
    };
    let travelled = (0..TRIES).any(|_| {
        let records = records_of(Bench::Travel, &Asked::default());
        assert_eq!(records.len(), 2);
        records.iter().any(travels)
    });
    assert!(travelled);
}

#[test]
fn what_automatic_classes_have_come_to_is_said_once_for_each_line() {
    let verdicts = super::homes::verdicts(&example());
    let places = verdicts.iter().filter(|text| text.starts_with("directory read, 64 objects"));
    assert_eq!(places.count(), 1, "{verdicts:?}");
    assert!(
        verdicts[0].contains(
            "16 tasks per core, cores near: at home: because; 0.00 M journeys/s for 55 ns each; \
             homes by worker 32 32, in the end 40 24, 8 objects given away"
        ),
        "{verdicts:?}"
    );
    assert!(super::homes::verdicts(&[]).is_empty());
}
