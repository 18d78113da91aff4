//! The main job: everything at a glance, with a table and a report.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::actors;
use crate::affinity;
use crate::concurrency;
use crate::forking::forker::Name;
use crate::forking::program::Program;
use crate::forking::{self, found};
use crate::machine;
use crate::record::Record;
use crate::report::{self, Session};
use crate::runner::{self, Cell, Measured, Runner};
use crate::runtime::{Peer, go};
use crate::table;
use crate::timers;
use crate::words;
use crate::workload::{Bench, Spec, Variant, memory};

/// How much time the user spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// One short repeat: does everything work?
    Quick,
    /// About three minutes.
    Usual,
    /// The thesis's 15 repeats, and the experiments beside the five.
    Full,
}

impl Effort {
    fn repeats(self) -> usize {
        match self {
            Effort::Quick => 1,
            Effort::Usual => 3,
            Effort::Full => 15,
        }
    }

    fn time(self) -> Duration {
        Duration::from_millis(match self {
            Effort::Quick => 100,
            Effort::Usual => 200,
            Effort::Full => 500,
        })
    }

    /// Repeats of fork-join programs, after the one that warms up.
    fn fork_repeats(self) -> usize {
        match self {
            Effort::Quick => 1,
            Effort::Usual => 3,
            Effort::Full => 5,
        }
    }

    /// The sizes of a fork-join program.
    fn fork_sizes(self, program: Program) -> Vec<usize> {
        match self {
            Effort::Quick => vec![program.sizes()[0]],
            Effort::Usual => vec![program.brief()],
            Effort::Full => program.sizes().to_vec(),
        }
    }

    /// How long one run of a fork-join program in a process of its own may take.
    fn fork_patience(self) -> Duration {
        Duration::from_secs(match self {
            Effort::Quick => 2,
            Effort::Usual => 5,
            Effort::Full => 120,
        })
    }

    /// How long a run of the tables of "Concurrency in C∀" measures: there are many, and each is on its own.
    fn round_time(self) -> Duration {
        Duration::from_millis(match self {
            Effort::Quick => 5,
            Effort::Usual => 20,
            Effort::Full => 200,
        })
    }

    /// The sizes of the experiments on actors: many, each of some hundredths of a second.
    fn actors(self, workers: usize) -> actors::spec::Sizes {
        let (pings, messages, actors) = match self {
            Effort::Quick => (100, 20_000, 2_000),
            Effort::Usual => (2_000, 200_000, 20_000),
            Effort::Full => (40_000, 2_000_000, 200_000),
        };
        actors::spec::Sizes {
            pings: Some(pings),
            messages: Some(messages / (8 * workers as u32)),
            actors: Some(actors),
            ..actors::spec::Sizes::default()
        }
    }

    /// The rounds of a program of Savina.
    fn savina(self, program: actors::savina::Program) -> u32 {
        match self {
            Effort::Quick => (program.brief() / 10).max(1),
            Effort::Usual => program.brief(),
            Effort::Full => program.rounds(),
        }
    }

    /// How long Transfer may go without a transfer. Several runtimes never complete one, and the
    /// slowest that does takes 60 ms.
    fn patience(self) -> Duration {
        Duration::from_millis(match self {
            Effort::Quick => 500,
            Effort::Usual => 1000,
            Effort::Full => 5000,
        })
    }
}

/// Cells per array and increments per operation of a Locality whose data is worth keeping warm.
const LARGE: (usize, usize) = (8192, 256);

/// One disturbed run in so many may be done again: the usual session stays below three minutes on a
/// machine that is never quiet.
const SPARE: usize = 5;

fn runs(cells: &[Cell], effort: Effort) -> usize {
    cells.iter().map(|cell| cell.peers.len() * effort.repeats()).sum()
}

/// One processor and all cores.
pub(crate) fn processor_counts(cores: usize) -> Vec<usize> {
    if cores > 1 { vec![1, cores] } else { vec![1] }
}

/// Measures, prints the table and writes the report.
pub(crate) fn run(effort: Effort, folder: &Path) -> anyhow::Result<()> {
    // A folder that cannot be written is found out before minutes are spent.
    report::prepare(folder)?;
    let started = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let topology = machine::topology();
    let machine = machine::describe();
    println!("{machine}\n{topology}\n");

    let (peers, missing) = runner::found();
    let mut notes = vec![format!(
        "Each run measures {} ms and is done {}; the runtimes alternate.",
        effort.time().as_millis(),
        words::count(effort.repeats(), "time"),
    )];
    if cfg!(debug_assertions) {
        notes.push(
            "This is a debug build, whose figures say nothing: run it with `--release`.".to_owned(),
        );
    }
    for (peer, install) in missing {
        notes.push(format!("{peer} is skipped: {install}."));
    }
    notes.push(format!(
        "A run of transfer counts as not completed (DNC) after {} s without a transfer, and is not \
         repeated then; Go's own programs wait 5 s.",
        effort.patience().as_secs_f64(),
    ));
    notes.push(format!(
        "The runtimes run each fork-join program in turn, {} after one to warm up. The peers in C++ are compiled for \
         this machine, Rust for all machines of its kind unless RUSTFLAGS says more; speed-ups are over serial calls \
         in the same language.",
        words::count(effort.fork_repeats(), "repeat"),
    ));
    let forkers = found::of(&Name::ALL)?;
    for (name, why) in &forkers.missing {
        notes.push(format!("Of the runtimes that fork, {name} is skipped: {why}."));
    }
    let (concurrent, missing) = concurrency::runner::found();
    for (peer, why) in missing {
        notes.push(format!("Of the peers of the thesis's tables {peer} is skipped: {why}."));
    }
    let (mut acting_peers, missing) = actors::runner::found()?;
    for (peer, why) in missing {
        notes.push(format!("Of the actor systems {peer} is skipped: {why}."));
    }
    if effort == Effort::Quick {
        // They are built and warmed up for longer than the whole of a quick run takes.
        acting_peers.retain(|peer| peer.foreign().is_none());
        notes.push("A quick run leaves out the actor systems of other languages.".to_owned());
    }
    for note in &notes {
        println!("{note}");
    }

    let cells = plan(effort, affinity::cores().len(), &peers);
    let fork_cells = fork_plan(effort, affinity::cores().len(), &forkers.there);
    let rows = concurrency_plan(effort, affinity::cores().len(), &concurrent);
    let runner = Runner::new(runs(&cells, effort) / SPARE);
    let round_runs: usize = rows.iter().map(|row| row.peers.len() * effort.repeats()).sum();
    let concurrency_runner = concurrency::runner::Runner::new(round_runs / SPARE);
    let actor_cells = actor_plan(effort, affinity::cores().len(), &acting_peers);
    let actor_runs: usize =
        actor_cells.iter().map(|cell| cell.peers.len() * effort.repeats()).sum();
    let actor_runner = actors::runner::Runner::new(actor_runs / SPARE);
    let spare = fork_cells.len() * forkers.there.len() * effort.fork_repeats() / SPARE;
    if peers.iter().any(|peer| peer.is_go()) || forkers.there.iter().any(|name| name.is_cpp()) {
        println!("Building the peers in other languages.");
    }
    let fork_runner = thread::scope(|scope| {
        let new = || forking::runner::Runner::new(&forkers.there, spare, effort.fork_patience());
        let fork_runner = scope.spawn(new);
        if peers.iter().any(|peer| peer.is_go()) {
            runner.build_go()?;
        }
        actor_runner.build(&acting_peers)?;
        for language in concurrency::runner::languages(&rows) {
            concurrency_runner.build(language)?;
        }
        fork_runner.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    let begun = Instant::now();
    let (mut records, mut forking, mut timers) = (Vec::new(), Vec::new(), Vec::new());
    let (mut concurrency, mut acting) = (Vec::new(), Vec::new());
    // What was measured before a failure is shown and kept as well.
    let failure = measure(&runner, &cells, effort, &mut records, &mut notes)
        .and_then(|()| fork(&fork_runner, &fork_cells, effort, &mut forking))
        .and_then(|()| wait(effort, &mut timers))
        .and_then(|()| rounds(&concurrency_runner, &rows, effort, &mut concurrency))
        .and_then(|()| act(&actor_runner, &actor_cells, effort, &mut acting));
    forking::figures::pool(&mut forking);
    if let Err(error) = &failure {
        notes.push(format!("Not all was measured: {error:#}."));
    }

    println!("\n{}\n{}", table::render(&records), forking::table::in_columns(&forking));
    println!("{}\n{}", timers::table::render(&timers), concurrency::table::render(&concurrency));
    println!("{}", actors::table::render(&acting));
    println!("measured in {:.0} s", begun.elapsed().as_secs_f64());
    let session = Session {
        records,
        forking,
        timers,
        concurrency,
        actors: acting,
        topology,
        started,
        machine,
        notes,
    };
    let page = report::write(folder, &session)?;
    println!("report: {}", page.canonicalize().unwrap_or(page).display());
    failure.context("not all was measured; table and report are of what was")
}

fn measure(
    runner: &Runner,
    cells: &[Cell],
    effort: Effort,
    records: &mut Vec<Record>,
    notes: &mut Vec<String>,
) -> anyhow::Result<()> {
    let bar = progress(runs(cells, effort));
    for cell in cells {
        let name = name(&cell.spec);
        if bar.is_hidden() {
            eprintln!("{name}");
        }
        bar.set_message(name);
        let before = records.len();
        // A disturbed run is counted in the report.
        runner.run(cell, effort.repeats(), |Measured { record, remarks, .. }| {
            records.push(record);
            for remark in remarks {
                // The same of every run.
                if !notes.contains(&remark) {
                    notes.push(remark);
                }
            }
            bar.inc(1);
            Ok(())
        })?;
        // Runs that are not repeated after a DNC count as done.
        let skipped = cell.peers.len() * effort.repeats() - (records.len() - before);
        bar.inc(skipped as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

fn fork(
    runner: &forking::runner::Runner,
    cells: &[forking::runner::Cell],
    effort: Effort,
    all: &mut Vec<forking::runner::Measured>,
) -> anyhow::Result<()> {
    let bar = progress(cells.len());
    for cell in cells {
        let name = {
            let workers = words::count(cell.workers, "worker");
            format!("{}, n = {}, {workers}", cell.program, words::thousands(cell.n as i64))
        };
        if bar.is_hidden() {
            eprintln!("{name}");
        }
        bar.set_message(name);
        all.push(runner.run(cell, effort.fork_repeats())?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Timers, at one and all cores.
fn wait(effort: Effort, records: &mut Vec<timers::record::Record>) -> anyhow::Result<()> {
    let counts = processor_counts(affinity::cores().len());
    let cells = timers::Variant::ALL.into_iter().flat_map(|variant| {
        counts.iter().map(move |&workers| timers::runner::Cell::usual(variant, workers))
    });
    let mut cells: Vec<_> = cells.collect();
    let bar = progress(cells.len());
    for cell in &mut cells {
        cell.spec.time = effort.time();
        let name = format!(
            "{} {}, {}",
            timers::NAME,
            cell.spec.variant,
            words::count(cell.spec.workers, "worker")
        );
        if bar.is_hidden() {
            eprintln!("{name}");
        }
        bar.set_message(name);
        // A disturbed run is counted in the report.
        timers::runner::run(cell, effort.repeats(), |record, _| {
            records.push(record);
            Ok(())
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

fn rounds(
    runner: &concurrency::runner::Runner,
    rows: &[concurrency::runner::Row],
    effort: Effort,
    records: &mut Vec<concurrency::record::Record>,
) -> anyhow::Result<()> {
    let bar = progress(rows.len());
    for row in rows {
        let name = concurrency::runner::name(row);
        if bar.is_hidden() {
            eprintln!("{name}");
        }
        bar.set_message(name);
        // A disturbed run is counted in the report.
        runner.run(row, effort.repeats(), |record, _| {
            records.push(record);
            Ok(())
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Actors, at one and all cores.
fn act(
    runner: &actors::runner::Runner,
    cells: &[actors::runner::Cell],
    effort: Effort,
    records: &mut Vec<actors::record::Record>,
) -> anyhow::Result<()> {
    let bar = progress(cells.len());
    for cell in cells {
        let name = actors::runner::name(&cell.spec);
        if bar.is_hidden() {
            eprintln!("{name}");
        }
        bar.set_message(name);
        // A disturbed run is counted in the report.
        runner.run(cell, effort.repeats(), |record, _| {
            records.push(record);
            Ok(())
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// All cells of actors, in the order of the tables. Memory does not depend on the workers.
fn actor_plan(
    effort: Effort,
    cores: usize,
    peers: &[actors::peer::Peer],
) -> Vec<actors::runner::Cell> {
    let mut cells = Vec::new();
    for bench in actors::Bench::ALL {
        for &variant in bench.variants() {
            for workers in processor_counts(cores) {
                if bench == actors::Bench::Memory && workers > 1 {
                    continue;
                }
                let mut sizes = effort.actors(workers);
                if bench == actors::Bench::Pingpong {
                    // As many messages as the hundred actors of a worker of latency_probe send.
                    sizes.pings = sizes.pings.map(|pings| pings * 100);
                }
                if let actors::Bench::Savina(program) = bench {
                    sizes.rounds = Some(effort.savina(program));
                }
                cells.push(actors::runner::Cell::new(bench, variant, workers, sizes, peers));
            }
        }
    }
    cells
}

/// A bar that is drawn only between runs: a thread that redraws it would take time from what is
/// measured. Hidden where standard error is no terminal.
fn progress(runs: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} ({eta} left) {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn name(spec: &Spec) -> String {
    let variant =
        if spec.variant == Variant::Only { String::new() } else { format!(" {}", spec.variant) };
    format!(
        "{}{variant}, {}, {}",
        spec.bench,
        words::count(spec.procs, "processor"),
        words::load(spec.bench.name(), spec.tasks_per_proc),
    )
}

/// All cells of a session, in the order of the table.
fn plan(effort: Effort, cores: usize, peers: &[Peer]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |bench: Bench, procs: usize, tasks_per_proc: usize, size: (usize, usize)| {
        let peers: Vec<Peer> =
            peers.iter().copied().filter(|peer| !peer.is_go() || go::has(bench)).collect();
        for &variant in bench.variants() {
            let (words, touch) = size;
            let spec = Spec {
                bench,
                variant,
                procs,
                tasks_per_proc,
                words,
                touch,
                time: effort.time(),
                patience: effort.patience(),
                seed: 1,
            };
            cells.push(Cell { spec, peers: peers.clone() });
        }
    };
    /// The size of Locality's arrays that the published figures are of.
    const USUAL: (usize, usize) = (2, 2);
    for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
        for procs in processor_counts(cores) {
            for tasks in tasks(bench) {
                add(bench, procs, *tasks, USUAL);
            }
        }
    }
    if effort == Effort::Full {
        for procs in processor_counts(cores) {
            add(Bench::Locality, procs, 100, LARGE);
        }
        for procs in processor_counts(cores) {
            add(Bench::Spawn, procs, 1, USUAL);
        }
        add(Bench::Memory, cores, memory::TASKS, USUAL);
    }
    cells
}

/// All cells of fork-join programs, in the order of the table.
fn fork_plan(effort: Effort, cores: usize, runtimes: &[Name]) -> Vec<forking::runner::Cell> {
    let mut cells = Vec::new();
    for program in Program::ALL {
        for n in effort.fork_sizes(program) {
            for workers in processor_counts(cores) {
                let runtimes = runtimes.to_vec();
                cells.push(forking::runner::Cell { program, n, workers, runtimes });
            }
        }
    }
    cells
}

/// All rows of the tables of "Concurrency in C∀" that so many cores can show and somebody has.
fn concurrency_plan(
    effort: Effort,
    cores: usize,
    peers: &[concurrency::peer::Peer],
) -> Vec<concurrency::runner::Row> {
    let rows = |bench| concurrency::runner::rows(bench, peers, effort.round_time());
    let mut rows: Vec<_> = concurrency::Bench::ALL.into_iter().flat_map(rows).collect();
    rows.retain(|row| row.procs <= cores && !row.peers.is_empty());
    rows
}

/// Many and few tasks per processor. One task alone has nobody to exchange a permit with, and
/// Transfer is about many.
fn tasks(bench: Bench) -> &'static [usize] {
    match bench {
        Bench::Churn | Bench::Locality => &[100, 2],
        Bench::Transfer => &[100],
        _ => &[100, 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_each_experiment_at_one_and_all_cores_on_every_runtime() {
        let cells = plan(Effort::Usual, 4, &Peer::ALL);
        for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
            for procs in [1, 4] {
                let found = cells.iter().any(|cell| {
                    (cell.spec.bench, cell.spec.procs) == (bench, procs) && cell.peers == Peer::ALL
                });
                assert!(found, "{bench} at {procs}");
            }
        }
        assert!(cells.iter().all(|cell| cell.spec.tasks() >= cell.spec.bench.fewest_tasks()));
    }

    #[test]
    fn each_fork_join_program_is_measured_at_one_and_all_cores_on_every_runtime() {
        for (effort, sizes) in [(Effort::Quick, 1), (Effort::Usual, 1), (Effort::Full, 3)] {
            let cells = fork_plan(effort, 4, &Name::ALL);
            assert_eq!(cells.len(), Program::ALL.len() * sizes * 2);
            assert!(cells.iter().all(|cell| cell.runtimes == Name::ALL));
            assert_eq!((cells[0].workers, cells[1].workers), (1, 4));
        }
    }

    #[test]
    fn the_usual_session_stays_within_its_time_on_two_cores() {
        // Each run takes its time, a tenth for warming up, and about 40 ms around it; the rest of the
        // three minutes is for runs of transfer that do not complete.
        let effort = Effort::Usual;
        let run = effort.time().mul_f64(1.1) + Duration::from_millis(40);
        let runs = runs(&plan(effort, 2, &Peer::ALL), effort);
        let most = runs + runs / SPARE;
        assert!(run * (most as u32) < Duration::from_secs(150), "{most} runs of {run:?}");
    }

    #[test]
    fn the_tables_of_the_thesis_are_measured_as_far_as_the_cores_go() {
        let benches = |cores| {
            let rows = concurrency_plan(Effort::Quick, cores, &concurrency::peer::Peer::ALL);
            let mut benches: Vec<_> = rows.iter().map(|row| row.bench.name()).collect();
            benches.dedup();
            benches
        };
        let thesis = ["ctxswitch", "mutex", "schedint", "schedext", "creation"];
        assert_eq!(benches(1), thesis);
        assert_eq!(benches(2), [&thesis[..], &["contended"]].concat());
    }

    #[test]
    fn actors_are_measured_at_one_and_all_cores_on_every_system() {
        let cells = actor_plan(Effort::Usual, 4, &actors::peer::Peer::ALL);
        let is_there = |bench, workers| {
            let of = |cell: &&actors::runner::Cell| {
                (cell.spec.bench, cell.spec.workers) == (bench, workers)
            };
            cells.iter().filter(of).count()
        };
        for bench in actors::Bench::ALL {
            let everywhere = bench != actors::Bench::Memory;
            assert_eq!(is_there(bench, 1), bench.variants().len(), "{bench}");
            assert_eq!(is_there(bench, 4) > 0, everywhere, "{bench}");
        }
        for cell in &cells {
            let all = actors::peer::Peer::ALL.into_iter();
            let have: Vec<_> = all.filter(|peer| peer.has(cell.spec.bench)).collect();
            assert_eq!(cell.peers, have, "{}", cell.spec.bench);
        }
        let full = actor_plan(Effort::Full, 1, &[]);
        assert_eq!(full[0].spec.pings, 40_000, "the published number");
    }

    #[test]
    fn a_machine_with_one_core_is_measured_once() {
        assert_eq!(processor_counts(1), [1]);
        assert_eq!(processor_counts(8), [1, 8]);
    }
}
