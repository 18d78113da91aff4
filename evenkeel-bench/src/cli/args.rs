//! The options of `run`, and the part of them that all families of experiments read.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use crate::families;
use suite::affinity;
pub(super) use suite::asked::Usage;
use suite::asked::number;
use suite::named::named_twice;
use suite::output::note;

/// The most processors: the runtime's own bound.
const MOST_PROCS: u16 = 1024;
/// The most tasks per processor: a mistyped larger number would exhaust the memory.
const MOST_TASKS: i64 = 1_000_000;
/// The most repeats.
const MOST_REPEATS: i64 = 10_000;
/// The default of the measured time of a run.
const USUAL_TIME: Duration = Duration::from_millis(500);
/// The longest measured time, in seconds.
const MOST_SECONDS: f64 = 3600.0;

/// The options of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The whole line. It comes first, since each later field takes its own options out of it.
    #[command(flatten)]
    pub(super) line: families::Options,
    /// Experiments or fork-join programs, separated by commas; `list` names them
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    pub(super) bench: Vec<String>,
    /// Runtimes, separated by commas; of objects, such as threads+spin, in-place, home, automatic
    /// [default: all that are found]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) runtime: Vec<String>,
    /// Numbers of processors, separated by commas [default: 1 and all cores; objects: all cores]
    #[arg(long, visible_alias = "workers", value_name = "LIST", value_delimiter = ',',
          value_parser = |text: &str| number(text, 1..=MOST_PROCS, "processors; --workers is the same as --procs"),
          allow_negative_numbers = true)]
    pub(super) procs: Vec<u16>,
    /// Fork-join programs: sizes, separated by commas; mixed: the size of its computations
    /// [default: each program's usual one]; ctxswitch, mutex, schedint, schedext, creation: the
    /// number of rounds [default: as many as take the time of --seconds]; growth_tasks,
    /// growth_moves, growth_timers: their numbers [default: the decades from 10 to 10,000,000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 0..=usize::MAX, "size"))]
    pub(super) n: Vec<usize>,
    /// Mixed: tasks in all [default: 1,000]; timers: tasks that sleep [default: 100]; contended:
    /// tasks in all [default: 8]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    pub(super) tasks: Option<u32>,
    /// Variants, separated by commas [default: all of the experiment]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) variant: Vec<String>,
    /// Measured time of each run; actors and fork-join programs have sizes instead [default: 0.5;
    /// latency: 2]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) seconds: Option<Duration>,
    /// Repeats; the runtimes alternate within each
    #[arg(long, visible_alias = "reps", value_name = "R", default_value_t = 3,
          value_parser = value_parser!(u32).range(1..=MOST_REPEATS))]
    pub(super) repeats: u32,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Print one JSON line per run, and nothing else, on standard output
    #[arg(long)]
    pub(super) json: bool,
    /// Folder for an HTML page with pictures [default: none]
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<PathBuf>,
    /// File for the family's own picture as SVG, of the most workers (latency, objects) [default:
    /// none]
    #[arg(long, value_name = "FILE")]
    pub(super) picture: Option<PathBuf>,
}

impl RunArgs {
    /// Returns the measured time of each run.
    pub(super) fn time(&self) -> Duration {
        self.seconds.unwrap_or(USUAL_TIME)
    }

    /// Returns an error if a list names something twice.
    pub(super) fn each_once(&self) -> Result<(), Usage> {
        once("--bench", &self.bench)?;
        once("--runtime", &self.runtime)?;
        once("--procs", &self.procs)?;
        once("--n", &self.n)?;
        once("--variant", &self.variant)
    }
}

/// Returns an error if the list of an option names something twice.
pub(super) fn once<T: Display + PartialEq>(option: &str, list: &[T]) -> Result<(), Usage> {
    match named_twice(list) {
        None => Ok(()),
        Some(name) => Err(Usage(format!("`{name}` is named twice by {option}"))),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let asked = || format!("`{text}` is not a number above 0 and up to {MOST_SECONDS}");
    let seconds: f64 = text.parse().map_err(|_| asked())?;
    // The bounds also exclude NaN.
    if seconds > 0.0 && seconds <= MOST_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(asked())
    }
}

/// Returns the numbers of processors: those on the command line, or one and all.
pub(super) fn procs(args: &RunArgs) -> Vec<usize> {
    if args.procs.is_empty() {
        return affinity::processor_counts(affinity::cores().len());
    }
    args.procs.iter().map(|&procs| usize::from(procs)).collect()
}

/// Prints a note if there are more processors than cores.
pub(super) fn crowded(procs: usize) {
    let cores = affinity::cores().len();
    if procs > cores {
        note!("note: {procs} processors share {cores} cores; the figures are of a crowded machine");
    }
}
