//! Each experiment in each mode at a tiny size, checks that can fail, and a made-up session for the
//! page.

use std::time::Duration;

use super::bench::{Access, Bench, Mode, Popularity};
use super::family::Objects;
use super::party::Tally;
use super::run::{Finished, Run, TRIED, WARM, check, perform};
use super::score::{Score, stretches};
use super::spec::{Spec, Wanted, specs};
use super::work::Held;
use suite::affinity;
use suite::case::Fields;
use suite::effort::Effort;
use suite::entry::Measured;
use suite::family::{Family, Has, Ran, Spec as _};
use suite::kit::fake::quiet;
use suite::record::Record;
use suite::rows::rows;
use suite::table;

const MS: Duration = Duration::from_millis(1);

/// A case of two workers with 16 tasks each.
fn case(bench: Bench, objects: usize) -> Spec {
    Spec {
        bench,
        workers: 2,
        tasks_per_core: Some(16),
        objects,
        object_bytes: 32_000,
        keys: 0,
        access: bench.accesses()[0],
        popularity: Popularity::Uniform,
        period: MS,
        zipf: 0,
        steps: 0,
        reads: 0,
        time: MS,
    }
}

/// Three runs of a mode in a case, with roughly this throughput.
fn runs(spec: &Spec, mode: Mode, regime: &'static str, mops: f64) -> Vec<Record> {
    let is_automatic = mode == Mode::Automatic;
    let figures = |mops: f64| {
        Fields::new()
            .with("operations", (mops * 1e6) as u64)
            .with("seconds", 1.0)
            .with("mops", mops)
            .with("hops", if mode == Mode::Home { (mops * 5e5) as u64 } else { 0 })
            .with_some("homes_before", mode.has_tasks().then_some("32 32"))
            .with_some("homes_after", mode.has_tasks().then_some("40 24"))
            .with_some("given_away", is_automatic.then_some(8))
            .with_some("verdict", is_automatic.then_some("at home: because"))
            .with_some("core_ns", (spec.bench == Bench::Travel).then_some(2e3 / mops))
    };
    let run = |(repeat, spread)| Record {
        runtime: mode.name().into(),
        case: spec.case(),
        repeat,
        figures: figures(mops * spread),
        dnc: false,
        quiet: quiet(regime),
    };
    [0.99, 1.0, 1.03].into_iter().enumerate().map(run).collect()
}

/// A made-up session.
pub(crate) fn example() -> Measured {
    use Bench::{Counters, Directory, Travel};
    let (small, large) = (case(Directory, 64), case(Directory, 1_024));
    let mut records = Vec::new();
    for spec in [&small, &large] {
        records.extend(runs(spec, Mode::Spin, "near", 10.0));
        records.extend(runs(spec, Mode::InPlace, "near", 8.0));
        records.extend(runs(spec, Mode::Home, "near", 12.5));
        records.extend(runs(spec, Mode::Automatic, "near", 11.25));
    }
    records.extend(runs(&small, Mode::Home, "mixed", 7.0));
    records.extend(runs(&case(Counters, 64), Mode::Atomic, "near", 99.0));
    records.extend(runs(&case(Counters, 64), Mode::Automatic, "near", 61.0));
    for (tasks, mops) in [(1, 10.0), (16, 80.0)] {
        let spec = Spec { tasks_per_core: Some(tasks), ..case(Travel, 2) };
        records.extend(runs(&spec, Mode::Home, "near", mops));
    }
    let entry = &crate::ENTRY;
    Measured { records, ..Measured::nothing(entry) }
}

/// A mode that was added to an experiment's list alone has no figures, least of all another one's.
#[test]
fn a_mode_that_an_experiment_lacks_is_an_error() {
    for (bench, mode) in [
        (Bench::Heap, Mode::Atomic),
        (Bench::Map, Mode::DashMap),
        (Bench::Bank, Mode::ParkingLot),
        (Bench::Bank, Mode::TasksRwLock),
        (Bench::Bank, Mode::TasksShipping),
    ] {
        let spec = Spec { keys: 16, ..case(bench, 16) };
        let error = perform(&Run { spec, mode, seed: 1 }).err().map(|fault| fault.to_string());
        assert_eq!(error, Some(format!("{bench} has no mode `{mode}`")));
    }
}

#[test]
fn modes_are_compared_and_their_ratios_are_shown() {
    let Measured { of, records, absent } = example();
    let text = table::render(&of, &records, &absent, None);
    let line = |words: &[&str]| -> String {
        let found = text.lines().find(|line| words.iter().all(|word| line.contains(word)));
        let found = found.unwrap_or_else(|| panic!("{words:?} in {text}"));
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        line(&["directory", "2048000"]),
        "directory 2 64 2048000 near million ops/s 10.0 [9.90-10.3] 8.00 [7.92-8.24] \
         12.5 [12.4-12.9] 11.2 [11.1-11.6] 1.12 x faster"
    );
    assert_eq!(
        line(&["x threads+spin"]),
        "x threads+spin - 0.80 [0.79-0.82] 1.25 [1.24-1.29] 1.12 [1.11-1.16]"
    );
    assert_eq!(line(&["x in-place or home"]), "x in-place or home - - - 0.90 [0.89-0.93]");
    assert!(text.contains("3 runs made while the distance of the cores changed"), "{text}");
    assert!(line(&["counters"]).ends_with("1.62 X SLOWER"), "{text}");
    // Travel measures a journey, and no peer makes one.
    let journeys = text.lines().filter(|line| line.contains("core-ns there and back"));
    assert_eq!(journeys.filter(|line| !line.contains("compared")).count(), 2, "{text}");
    assert!(text.contains("Objects with homes: won 2, lost 1, even 0, not compared 0."), "{text}");
}

#[test]
fn what_automatic_classes_have_come_to_is_said_once_for_each_row() {
    let Measured { of, records, absent } = example();
    let remarks = Objects::remarks(&rows(&of, &records, &absent));
    let [block] = remarks.as_slice() else { panic!("{remarks:?}") };
    assert_eq!(block.lines().count(), 4, "{block}");
    assert_eq!(
        block.lines().nth(1),
        Some(
            "  directory, 2 workers, tasks per core 16, objects 64, bytes 2048000, access read, \
             popularity uniform, cores near: at home: because; 0.00 M journeys/s; \
             homes by worker 32 32, in the end 40 24, 8 objects given away"
        )
    );
    assert!(Objects::remarks(&[]).is_empty());
}

#[test]
fn sizes_and_tasks_are_drawn_as_lines_and_homes_that_have_moved_as_dots() {
    let Measured { of, records, absent } = example();
    let rows = rows(&of, &records, &absent);
    let mut captions = Vec::new();
    for rows in rows.chunk_by(|a, b| a.experiment.name == b.experiment.name) {
        captions.extend(Objects::pictures(rows).into_iter().map(|picture| picture.caption));
    }
    let homes = |case: &str| format!("Homes by worker: {case}, popularity uniform, cores near");
    assert_eq!(
        captions,
        [
            "Directory, 2 workers, tasks per core 16, access read, popularity uniform, cores near"
                .to_owned(),
            homes(
                "directory, 2 workers, tasks per core 16, objects 64, bytes 2048000, access read"
            ),
            homes(
                "directory, 2 workers, tasks per core 16, objects 1024, bytes 32768000, access \
                 read"
            ),
            homes("counters, 2 workers, tasks per core 16, objects 64, bytes 2048000"),
            "Travel, 2 workers, bytes 64000, popularity uniform, cores near".to_owned(),
        ]
    );
}

#[test]
fn a_session_has_some_of_everything_and_one_core_shares_with_no_other() {
    for effort in [Effort::Quick, Effort::Usual, Effort::Full] {
        let specs = Objects::plan(effort, 2);
        for bench in Bench::ALL {
            assert!(specs.iter().any(|spec| spec.bench == bench), "{bench}");
        }
        assert!(Objects::plan(effort, 1).is_empty());
    }
}

#[test]
fn what_comes_before_the_measured_time_is_said() {
    for time in [WARM, TRIED] {
        let words = format!(" {} ms", time.as_millis());
        assert!(Objects::ABOUT.contains(&words), "{words}");
    }
}

fn finished(tallies: Vec<Tally>, added: u64) -> Finished {
    let stretches = stretches(Popularity::Uniform, MS, Duration::ZERO, Duration::ZERO);
    let performance = Score::new(stretches, 1, 0).conduct(|| 0);
    Finished { performance, tallies, held: Held { added, balance: 0 }, homes: None }
}

#[test]
fn what_was_lost_or_made_halfway_fails_the_run() {
    let tally = Tally { ends: Vec::new(), operations: 3, added: 3, wrong: 0 };
    check(&finished(vec![tally.clone(); 2], 6)).unwrap();
    let error = check(&finished(vec![tally.clone(); 2], 5)).unwrap_err();
    assert_eq!(error.to_string(), "6 was added to the objects, and they have 5");
    let mut halfway = finished(vec![tally.clone()], 3);
    halfway.held.balance = -4;
    let error = check(&halfway).unwrap_err();
    assert_eq!(error.to_string(), "what was moved between objects comes to -4, not to 0");
    let wrong = Tally { wrong: 1, ..tally };
    let error = check(&finished(vec![wrong], 3)).unwrap_err();
    assert_eq!(error.to_string(), "1 of 3 operations had a wrong result");
}

/// Runs an experiment in these modes, or all of its modes, for a moment. Each run checks itself.
fn figures_of(bench: Bench, modes: &[Mode], wanted: Wanted) -> Vec<(Mode, Spec, Fields)> {
    let wanted = Wanted {
        workers: vec![2],
        has_tasks: true,
        tasks_per_core: vec![1, 8],
        time: 5 * MS,
        ..wanted
    };
    let mut all = Vec::new();
    for spec in specs(bench, &wanted).unwrap() {
        for &mode in modes.iter().filter(|mode| Objects::has(**mode, &spec) == Has::Yes) {
            let run = || Objects.once(&spec, mode, &mut (), 1);
            let Ran::Done(figures) = affinity::confined(2, run).unwrap() else {
                panic!("{mode} gave up")
            };
            assert!(figures.number("operations").is_some_and(|made| made > 0.0), "{figures:?}");
            assert!(figures.number("seconds").is_some_and(|time| time > 0.0), "{figures:?}");
            let settled = figures.number("settled_ms");
            assert_eq!(settled.is_some_and(|ms| ms >= 200.0), mode == Mode::Automatic);
            assert_eq!(settled.is_some(), mode == Mode::Automatic);
            all.push((mode, spec, figures));
        }
    }
    all
}

#[test]
fn directories_are_looked_up_in_every_mode() {
    let access = Bench::Directory.accesses().to_vec();
    let wanted = Wanted { kib: vec![128], access, ..Wanted::default() };
    let all = figures_of(Bench::Directory, &Mode::ALL, wanted);
    let modes = Bench::Directory.modes().len();
    assert_eq!(all.len(), 4 * 2 * modes);
    assert_eq!((all[0].1.objects, all[0].1.object_bytes), (4, 32_000));
    for (mode, _, figures) in all {
        assert!(mode != Mode::InPlace || figures.number("hops") == Some(0.0));
        assert_eq!(figures.number("mops_few"), None);
        assert_eq!(figures.text("verdict").is_some(), mode == Mode::Automatic);
    }
}

#[test]
fn oscillating_runs_have_parts() {
    let popularity = vec![Popularity::Oscillating];
    let period = Some(12 * MS);
    let wanted = Wanted { kib: vec![512 + 64], popularity, period, ..Wanted::default() };
    for (_, spec, figures) in figures_of(Bench::Directory, &[Mode::Spin, Mode::Home], wanted) {
        let case = spec.case();
        assert_eq!((spec.objects, case.settings.number("period_ms")), (18, Some(12.0)));
        for part in ["mops_many", "mops_few", "mops_many_settled", "mops_few_settled"] {
            assert!(figures.number(part).is_some_and(|mops| mops >= 0.0), "{part}: {figures:?}");
        }
        assert!(figures.number("seconds").is_some_and(|time| time >= 0.024), "{figures:?}");
    }
}

#[test]
fn counters_are_counted_in_every_mode() {
    let wanted = Wanted { objects: vec![1, 4], ..Wanted::default() };
    let all = figures_of(Bench::Counters, &Mode::ALL, wanted);
    assert_eq!(all.len(), 2 * 2 * Bench::Counters.modes().len());
    assert!(all.iter().all(|(_, spec, _)| spec.access == Access::Only));
}

#[test]
fn maps_and_heaps_keep_what_is_in_them_in_every_mode() {
    for bench in [Bench::Map, Bench::Heap] {
        let wanted = Wanted { objects: vec![1], keys: vec![8], ..Wanted::default() };
        let all = figures_of(bench, &Mode::ALL, wanted);
        assert_eq!(all.len(), 2 * bench.modes().len());
        assert!(all.iter().all(|(_, spec, _)| spec.keys == 8), "{bench}");
    }
}

#[test]
fn objects_are_scanned_in_every_mode() {
    let access = Bench::Scan.accesses().to_vec();
    let wanted = Wanted { kib: vec![4], object_bytes: vec![512], access, ..Wanted::default() };
    let all = figures_of(Bench::Scan, &Mode::ALL, wanted);
    assert_eq!((all.len(), all[0].1.objects), (3 * 2 * Bench::Scan.modes().len(), 8));
}

#[test]
fn programs_of_users_lose_nothing_in_any_mode() {
    use Bench::{Bank, Cache, Classes, Graph, Histogram, Own};
    for (bench, objects) in [(Bank, 4), (Graph, 64), (Cache, 3), (Histogram, 8)] {
        let wanted = Wanted { objects: vec![objects], keys: vec![16], ..Wanted::default() };
        let all = figures_of(bench, &Mode::ALL, wanted);
        assert_eq!(all.len(), 2 * bench.modes().len());
        assert!(all.iter().all(|(_, spec, _)| spec.objects == objects), "{bench}");
    }
    for (bench, objects) in [(Own, 1), (Classes, 3)] {
        let wanted = Wanted { keys: vec![16], steps: vec![20], ..Wanted::default() };
        let all = figures_of(bench, &Mode::ALL, wanted);
        assert_eq!(all.len(), 2 * bench.modes().len());
        assert!(all.iter().all(|(_, spec, _)| spec.objects == objects), "{bench}");
    }
}

/// No task travels to a worker that stands still for a while, as on a crowded machine: so not every
/// run has journeys.
#[test]
fn tasks_travel_there_and_back() {
    const TRIES: usize = 200;
    let travels = |(mode, spec, figures): &(Mode, Spec, Fields)| {
        assert_eq!((*mode, spec.objects), (Mode::Home, 2));
        figures.number("core_ns").is_some_and(|ns| ns > 0.0)
            && figures.number("hops") > figures.number("operations")
    };
    let travelled = (0..TRIES).any(|_| {
        let all = figures_of(Bench::Travel, &Mode::ALL, Wanted::default());
        assert_eq!(all.len(), 2);
        all.iter().any(travels)
    });
    assert!(travelled);
}
