//! The command line.

mod actors;
mod concurrency;
mod fork;
mod mixed;
mod simulate;
mod timers;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, Parser, Subcommand, value_parser};

use crate::affinity;
use crate::analysis;
use crate::concurrency as rounds;
use crate::forking::program::Program;
use crate::main_job::{self, Effort};
use crate::mixed as mix;
use crate::record::Record;
use crate::runner::{self, Cell, Runner};
use crate::runtime::{Peer, UnknownPeer, go};
use crate::table;
use crate::timers as timing;
use crate::workload::{Bench, Spec, UnknownName, Variant};

/// The most processors that can be asked for: the runtime's own bound.
const MOST_PROCS: u16 = 1024;
/// The most tasks per processor: above it a mistyped number exhausts the memory.
const MOST_TASKS: i64 = 1_000_000;
/// The most cells per array, and increments per operation.
const MOST_CELLS: i64 = 1 << 24;
/// Cells per array, and increments per operation, of the published figures.
const USUAL_CELLS: u32 = 2;
/// The most repeats.
const MOST_REPEATS: i64 = 10_000;
/// The longest measured time, in seconds.
const MOST_SECONDS: f64 = 3600.0;
/// How long Transfer may go without a transfer: the thesis's bound.
const PATIENCE: Duration = Duration::from_secs(5);

/// Published experiments of schedulers, run on evenkeel and on its peers, side by side.
///
/// Without a command: five experiments (locality and transfer in two variants each), with many and with few tasks, the eight fork-join programs, and timers, at one
/// and at all cores, the tables of "Concurrency in C∀", and actors, on every runtime found, in about three minutes; then the tables and an HTML report.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    session: SessionArgs,
    /// One short pass over everything, in less than 40 seconds
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Args)]
struct SessionArgs {
    /// Folder for the HTML report
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The main job with 15 repeats, longer runs, spawn, memory, large arrays, and fork-join in three sizes
    Full(SessionArgs),
    /// Run chosen experiments and print their figures
    Run(RunArgs),
    /// Simulate the four programs of the Cilk Locality evaluation on its machine of 4 x 8 cores, with each locality, or Figure 4 of CoreTime
    Simulate(simulate::Options),
    Analyse(analysis::Options),
    /// Name the experiments, their variants, the programs, their sizes, and the runtimes found and missing
    List,
    /// Measure memory in this process; used by the binary itself
    #[command(name = crate::workload::memory::COMMAND, hide = true)]
    MemoryProbe(ProbeArgs),
    /// Measure the memory of actors in this process; used by the binary itself
    #[command(name = crate::actors::memory::COMMAND, hide = true)]
    ActorMemoryProbe(actors::ProbeArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Experiments or fork-join programs, separated by commas; `list` names them
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    bench: Vec<String>,
    /// Runtimes, separated by commas [default: all that are found]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    runtime: Vec<String>,
    /// Numbers of processors, separated by commas [default: 1 and all cores]
    #[arg(long, visible_alias = "workers", value_name = "LIST", value_delimiter = ',',
          value_parser = |text: &str| number(text, 1..=MOST_PROCS, "processors or workers"),
          allow_negative_numbers = true)]
    procs: Vec<u16>,
    /// Fork-join programs: sizes, separated by commas; mixed: the size of its computations [default: each program's usual one];
    /// ctxswitch, mutex, schedint, schedext, creation: the number of rounds [default: what takes the time of --seconds]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 0..=usize::MAX, "size"))]
    n: Vec<usize>,
    /// Fork-join programs: each program's own size of this name
    #[arg(long, conflicts_with = "n")]
    size: Option<fork::Size>,
    /// Tasks per processor (cycle: rings; spawn: spawning tasks; memory: tasks in all)
    /// [default: 100; spawn: 1; memory: 100,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    tasks_per_proc: Option<u32>,
    /// Mixed: tasks in all [default: 1,000]; timers: tasks that sleep [default: 100]; contended: tasks in all [default: 8]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    tasks: Option<u32>,
    /// Mutex, schedint, schedext: monitors that are entered together, separated by commas [default: 1,2,4]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    monitors: Vec<usize>,
    #[command(flatten)]
    actors: actors::Options,
    /// Variants, separated by commas [default: all of the experiment]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    variant: Vec<String>,
    /// Locality: 64-bit cells per array [default: 2]
    #[arg(long, value_name = "W", value_parser = value_parser!(u32).range(1..=MOST_CELLS))]
    words: Option<u32>,
    /// Locality: random increments per operation [default: 2]
    #[arg(long, value_name = "T", value_parser = value_parser!(u32).range(0..=MOST_CELLS))]
    touch: Option<u32>,
    /// Measured time of each run
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds,
          allow_negative_numbers = true)]
    seconds: Duration,
    /// Repeats; the runtimes alternate within each
    #[arg(long, visible_alias = "reps", value_name = "R", default_value_t = 3,
          value_parser = value_parser!(u32).range(1..=MOST_REPEATS))]
    repeats: u32,
    /// Where the random choices begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON line per run, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ProbeArgs {
    #[arg(long)]
    runtime: Peer,
    #[arg(long)]
    procs: usize,
    #[arg(long)]
    tasks: usize,
}

/// A command line that contradicts itself in a way that the parser cannot know.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(String);

/// A whole number within bounds, or which one was wanted.
fn number<T: Copy + Display + FromStr + PartialOrd>(
    text: &str,
    bounds: RangeInclusive<T>,
    what: &str,
) -> Result<T, String> {
    let (least, most) = (bounds.start(), bounds.end());
    match text.parse() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a whole number ({what}) from {least} to {most}")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let asked = || format!("`{text}` is not a number above 0 and up to {MOST_SECONDS}");
    let seconds: f64 = text.parse().map_err(|_| asked())?;
    // The bounds exclude what is not a number, too.
    if seconds > 0.0 && seconds <= MOST_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(asked())
    }
}

/// Does what the command line says.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        None if cli.quick => main_job::run(Effort::Quick, &cli.session.report),
        None => main_job::run(Effort::Usual, &cli.session.report),
        Some(Command::Full(session)) => main_job::run(Effort::Full, &session.report),
        Some(Command::Run(args)) => run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Analyse(options)) => analysis::run(&options),
        Some(Command::List) => list(),
        Some(Command::MemoryProbe(args)) => runner::probe(args.runtime, args.procs, args.tasks),
        Some(Command::ActorMemoryProbe(args)) => actors::probe(&args),
    }
}

/// Says that there are more processors than cores, if there are.
fn crowded(procs: usize) {
    let cores = affinity::cores().len();
    if procs > cores {
        eprintln!(
            "note: {procs} processors share {cores} cores; the figures are of a crowded machine"
        );
    }
}

/// Runs what has columns of its own.
type Run = fn(&RunArgs) -> anyhow::Result<()>;

fn run(args: &RunArgs) -> anyhow::Result<()> {
    known(&args.bench)?;
    meant(args)?;
    if let Some(benches) = actors::benches(args)? {
        return actors::run(args, &benches);
    }
    if let Some(benches) = concurrency::benches(args)? {
        return concurrency::run(args, &benches);
    }
    if !args.monitors.is_empty() {
        bail!(Usage("--monitors is for mutex, schedint and schedext".to_owned()));
    }
    let alone: [(&str, Run); 2] = [(mix::NAME, mixed::run), (timing::NAME, timers::run)];
    for (own, run) in alone {
        if args.bench.iter().any(|name| name == own) {
            if let Some(other) = args.bench.iter().find(|name| *name != own) {
                bail!(Usage(format!(
                    "{own} has columns of its own, not those of {other}: run them in two commands"
                )));
            }
            return run(args);
        }
    }
    if args.tasks.is_some() {
        bail!(Usage(format!(
            "--tasks is for {} and {}; see --tasks-per-proc",
            mix::NAME,
            timing::NAME
        )));
    }
    if let Some(programs) = fork::programs(args)? {
        return fork::run(args, &programs);
    }
    let cells = cells(args)?;
    args.procs.iter().for_each(|&procs| crowded(usize::from(procs)));
    let runner = Runner::new(usize::MAX);
    if cells.iter().any(|cell| cell.peers.iter().any(|peer| peer.is_go())) {
        eprintln!("building the Go peer");
        runner.build_go()?;
    }
    let mut records: Vec<Record> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut cell = |cell| {
        runner.run(cell, args.repeats as usize, |measured| {
            for remark in measured.remarks.into_iter().chain(measured.disturbed) {
                // The same of every repeat.
                if !notes.contains(&remark) {
                    eprintln!("note: {remark}");
                    notes.push(remark);
                }
            }
            if args.json {
                println!("{}", serde_json::to_string(&measured.record)?);
            }
            records.push(measured.record);
            Ok(())
        })
    };
    // After a failure nothing more is measured, for its tasks may still be there; what was is worth as much as before.
    let failure = cells.iter().try_for_each(&mut cell);
    if !args.json && !records.is_empty() {
        print!("{}", table::render(&records));
    }
    failure.map_err(|error| unfinished(error, records.len()))
}

/// The error of a command that has given some figures before.
fn unfinished(error: anyhow::Error, measured: usize) -> anyhow::Error {
    match measured {
        0 => error,
        _ => error.context("not all was measured; the figures are of what was"),
    }
}

/// An error with all names that there are, unless each of these is one of them.
fn known(names: &[String]) -> Result<(), Usage> {
    let benches = Bench::ALL
        .map(Bench::name)
        .into_iter()
        .chain([mix::NAME, timing::NAME])
        .chain(rounds::Bench::ALL.map(rounds::Bench::name))
        .chain(crate::actors::Bench::ALL.map(crate::actors::Bench::name))
        .chain([crate::actors::savina::ALL]);
    let programs = Program::ALL.map(Program::name);
    let is_known =
        |name: &&String| benches.clone().chain(programs).any(|known| known == name.as_str());
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(Usage(format!(
            "unknown experiment `{name}`: known are {}, and the fork-join programs {}",
            benches.collect::<Vec<_>>().join(", "),
            programs.join(", "),
        ))),
    }
}

/// An error if an option is given that none of the experiments has.
fn meant(args: &RunArgs) -> Result<(), Usage> {
    let locality = args.bench.iter().any(|name| name == Bench::Locality.name());
    let given = [("--words", args.words.is_some()), ("--touch", args.touch.is_some())];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given && !locality) {
        return Err(Usage(format!(
            "{option} is about the arrays of locality, which is not asked for"
        )));
    }
    let forks = args.bench.iter().any(|name| name.parse::<Program>().is_ok());
    let given = [
        ("--variant", !args.variant.is_empty()),
        ("--tasks-per-proc", args.tasks_per_proc.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given && forks) {
        Some((option, _)) => Err(Usage(format!("fork-join programs have no {option}"))),
        None => Ok(()),
    }
}

/// The cells that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for name in &args.bench {
        let bench = name.parse().map_err(|error: UnknownName| Usage(error.to_string()))?;
        let peers = peers(args, bench)?;
        for variant in variants(args, bench)? {
            for procs in procs(args) {
                let tasks = args.tasks_per_proc.map(|tasks| tasks as usize);
                let spec = Spec {
                    bench,
                    variant,
                    procs,
                    tasks_per_proc: tasks.unwrap_or(bench.usual_tasks()),
                    words: args.words.unwrap_or(USUAL_CELLS) as usize,
                    touch: args.touch.unwrap_or(USUAL_CELLS) as usize,
                    time: args.seconds,
                    patience: PATIENCE,
                    seed: args.seed,
                };
                if spec.tasks() < bench.fewest_tasks() {
                    bail!(Usage(format!(
                        "{bench} needs at least {} tasks: raise --tasks-per-proc or --procs",
                        bench.fewest_tasks()
                    )));
                }
                cells.push(Cell { spec, peers: peers.clone() });
            }
        }
    }
    Ok(cells)
}

/// The runtimes asked for, or all that are found and have the experiment.
fn peers(args: &RunArgs, bench: Bench) -> anyhow::Result<Vec<Peer>> {
    let (found, missing) = runner::found();
    let has = |peer: &Peer| !peer.is_go() || go::has(bench);
    if args.runtime.is_empty() {
        return Ok(found.into_iter().filter(has).collect());
    }
    let mut peers = Vec::new();
    for name in &args.runtime {
        let asked = name.parse().map_err(|error: UnknownPeer| Usage(error.to_string()))?;
        peers.push(asked);
        if let Some((peer, install)) = missing.iter().find(|(peer, _)| *peer == asked) {
            bail!("{peer} is not there: `go` was not found; {install}");
        }
        if !has(&asked) {
            bail!(Usage(format!("{asked} has no experiment `{bench}`")));
        }
    }
    Ok(peers)
}

fn variants(args: &RunArgs, bench: Bench) -> Result<Vec<Variant>, Usage> {
    if args.variant.is_empty() {
        return Ok(bench.variants().to_vec());
    }
    let mut variants: Vec<Variant> = Vec::new();
    for name in &args.variant {
        variants.push(name.parse().map_err(|error: UnknownName| Usage(error.to_string()))?);
    }
    match variants.iter().find(|variant| !bench.variants().contains(variant)) {
        None => Ok(variants),
        Some(odd) if bench.variants() == [Variant::Only] => {
            Err(Usage(format!("{bench} has no variants, so not `{odd}` either")))
        }
        Some(odd) => {
            let known: Vec<&str> = bench.variants().iter().map(|variant| variant.name()).collect();
            Err(Usage(format!("{bench} has no variant `{odd}`: known are {}", known.join(", "))))
        }
    }
}

fn procs(args: &RunArgs) -> Vec<usize> {
    if args.procs.is_empty() {
        return main_job::processor_counts(affinity::cores().len());
    }
    args.procs.iter().map(|&procs| usize::from(procs)).collect()
}

fn list() -> anyhow::Result<()> {
    println!("experiments (variants):");
    for bench in Bench::ALL {
        let variants: Vec<&str> = bench
            .variants()
            .iter()
            .filter(|variant| **variant != Variant::Only)
            .map(|variant| variant.name())
            .collect();
        let title = if variants.is_empty() {
            bench.name().to_owned()
        } else {
            format!("{bench} ({})", variants.join(", "))
        };
        println!("  {title:<26} {}", bench.describe());
    }
    let variants = mix::Variant::ALL.map(mix::Variant::name).join(", ");
    println!("  {:<26} {}", format!("{} ({variants})", mix::NAME), mix::DESCRIPTION);
    let variants = timing::Variant::ALL.map(timing::Variant::name).join(", ");
    println!("  {:<26} {}", format!("{} ({variants})", timing::NAME), timing::DESCRIPTION);
    concurrency::list_benches();
    actors::list_benches();
    fork::list_programs();
    println!("runtimes of {}:", mix::NAME);
    for name in mix::pool::Name::ALL {
        println!("  {name:<26} {}", name.describe());
    }
    let (found, missing) = runner::found();
    println!("runtimes found:");
    for peer in found {
        let version = if peer.is_go() { go::version() } else { None };
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        println!("  {peer:<26} {}{version}", peer.describe());
    }
    if !missing.is_empty() {
        println!("runtimes missing:");
    }
    for (peer, install) in missing {
        println!("  {peer:<26} {}: {install}", peer.describe());
    }
    concurrency::list_peers();
    actors::list_peers()?;
    fork::list_runtimes()
}

/// Reads the command line of this process; a wrong one ends it with status 2.
pub(crate) fn parse() -> Cli {
    Cli::parse()
}

/// The exit status for an error: 2 if the command line is wrong, else 1.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    let of_analysis =
        error.downcast_ref::<analysis::Error>().is_some_and(analysis::Error::is_usage);
    if error.is::<Usage>() || of_analysis { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells_of(line: &str) -> Result<Vec<Cell>, String> {
        let words = line.split_whitespace();
        let cli = Cli::try_parse_from(["evenkeel-bench", "run"].into_iter().chain(words));
        match cli.map_err(|error| error.to_string())?.command {
            Some(Command::Run(args)) => cells(&args).map_err(|error| error.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists_make_cells() {
        let line = "--bench locality,cycle --runtime tokio-hand,tokio-native --procs 1,2";
        let cells = cells_of(line).unwrap();
        let seen: Vec<_> =
            cells.iter().map(|cell| (cell.spec.variant.name(), cell.spec.procs)).collect();
        assert_eq!(
            seen,
            [("share", 1), ("share", 2), ("noshare", 1), ("noshare", 2), ("-", 1), ("-", 2)]
        );
        assert_eq!(cells[0].peers, [Peer::TokioHand, Peer::TokioNative]);
        assert_eq!(cells[4].spec.tasks(), 500);
    }

    #[test]
    fn unknown_names_name_the_known_ones() {
        let error = fork_error("--bench cycle,cycel");
        assert!(error.starts_with("unknown experiment `cycel`: known are cycle, yield"), "{error}");
        assert!(
            error.contains(
                "memory, mixed, timers, ctxswitch, mutex, schedint, schedext, creation, contended, latency_probe, \
                 pingpong, fanin, actor_spawn, actor_memory, savina_big, savina_threadring, savina_count, savina_fjcreate, \
                 savina_chameneos, savina_banking, savina_bndbuffer, savina_philosopher, savina, and the fork-join \
                 programs matmul,"
            ),
            "{error}"
        );
        assert!(error.ends_with("skynet, uts"), "{error}");
        let error = cells_of("--bench cycle --runtime tokio").unwrap_err();
        assert!(error.contains("unknown runtime `tokio`: known are evenkeel, tokio"), "{error}");
        let error = cells_of("--bench locality --variant shared").unwrap_err();
        assert!(error.contains("unknown variant `shared`: known are share, noshare"), "{error}");
    }

    #[test]
    fn a_variant_of_another_experiment_is_refused() {
        let error = cells_of("--bench locality --variant park --runtime tokio-hand").unwrap_err();
        assert_eq!(error, "locality has no variant `park`: known are share, noshare");
        let error = cells_of("--bench cycle --variant park --runtime tokio-hand").unwrap_err();
        assert_eq!(error, "cycle has no variants, so not `park` either");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for line in [
            "--bench cycle --procs 0",
            "--bench cycle --procs 1025",
            "--bench cycle --tasks-per-proc 0",
            "--bench cycle --seconds 0",
            "--bench cycle --seconds NaN",
            "--bench cycle --repeats 0",
            "--bench churn --procs 1 --tasks-per-proc 1 --runtime tokio-hand",
        ] {
            cells_of(line).unwrap_err();
        }
        for (line, words) in [
            ("--workers 0", "`0` is not a whole number (processors or workers) from 1 to 1024"),
            ("--workers -1", "`-1` is not a whole number (processors or workers)"),
            ("--n -1", "`-1` is not a whole number (size) from 0"),
            ("--n 3,abc", "`abc` is not a whole number (size) from 0"),
        ] {
            let error = cells_of(&format!("--bench fib {line}")).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        cells_of("--bench cycle --procs 1024 --runtime tokio-hand").unwrap();
    }

    fn fork_error(line: &str) -> String {
        let words = line.split_whitespace();
        let cli = Cli::try_parse_from(["evenkeel-bench", "run"].into_iter().chain(words)).unwrap();
        let Some(Command::Run(args)) = cli.command else { panic!("it is run") };
        let error = run(&args).unwrap_err();
        assert_eq!(status(&error), 2);
        error.to_string()
    }

    #[test]
    fn programs_that_cannot_be_run_are_refused() {
        let error = fork_error("--bench fib,cycle");
        assert_eq!(error, "fib is a fork-join program and cycle is not: run them in two commands");
        let error = fork_error("--bench cycle --n 5");
        assert_eq!(error, "--n is the size of a fork-join program: these are none");
        let error = fork_error("--bench fib --words 3");
        assert_eq!(error, "--words is about the arrays of locality, which is not asked for");
        fork_error("--bench transfer,cycle --touch 5");
        let error = fork_error("--bench fib --variant share");
        assert_eq!(error, "fork-join programs have no --variant");
        fork_error("--bench fib --tasks-per-proc 3");
        let error = fork_error("--bench fib --n 0");
        assert_eq!(error, "fib of size 0: sizes are 1 to 60, usually 25, 35, 40");
        fork_error("--bench fib --n 61");
        let error = fork_error("--bench fib --runtime tokio-hand");
        assert!(error.contains("unknown runtime `tokio-hand` for a fork-join program"), "{error}");
    }

    #[test]
    fn mixed_runs_that_cannot_be_are_refused() {
        let error = fork_error("--bench mixed,fib");
        assert_eq!(
            error,
            "mixed has columns of its own, not those of fib: run them in two commands"
        );
        let error = fork_error("--bench mixed --runtime rayon");
        assert_eq!(error, "unknown runtime `rayon` for mixed: known are evenkeel, rayon+tokio");
        let error = fork_error("--bench mixed --variant share");
        assert_eq!(error, "mixed has no variant `share`: known are joins, wakes");
        let error = fork_error("--bench mixed --variant wakes --tasks 7");
        assert_eq!(error, "the tasks of wakes come in pairs: 7 is odd");
        let error = fork_error("--bench mixed --n 17");
        assert_eq!(error, "computations of size 17: sizes are 1 to 16, usually 11");
        let error = fork_error("--bench mixed --tasks-per-proc 3");
        assert_eq!(error, "mixed counts its tasks in all: use --tasks");
        let error = fork_error("--bench timers,cycle");
        assert_eq!(
            error,
            "timers has columns of its own, not those of cycle: run them in two commands"
        );
        let error = fork_error("--bench timers --runtime go-hand");
        assert_eq!(
            error,
            "unknown runtime `go-hand` for timers: known are evenkeel, tokio-native, tokio-one"
        );
        let error = fork_error("--bench timers --runtime tokio-one --workers 2");
        assert_eq!(error, "tokio-one has one worker: use --workers 1");
        let error = fork_error("--bench timers --n 3");
        assert_eq!(error, "--n and --size are for computations: timers has none");
        let error = fork_error("--bench timers --variant joins");
        assert_eq!(
            error,
            "timers has no variant `joins`: known are cancel, timeout, idle, load, long"
        );
        let error = fork_error("--bench cycle --tasks 3");
        assert_eq!(error, "--tasks is for mixed and timers; see --tasks-per-proc");
    }

    #[test]
    fn a_wrong_command_line_is_status_two() {
        assert_eq!(status(&anyhow::Error::new(Usage("x".to_owned()))), 2);
        assert_eq!(status(&anyhow::anyhow!("x")), 1);
    }
}
