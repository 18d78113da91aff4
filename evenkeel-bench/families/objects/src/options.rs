//! The options of the experiments on objects.

use std::time::Duration;

use clap::Args;

use super::bench::{Access, Bench, Mode, Popularity};
use super::score::UNSETTLED;
use super::spec::Wanted;
use super::work::Hundredths;
use suite::affinity;
use suite::asked::{Asked, Usage, number};
use suite::family::Found;
use suite::words;

/// The most tasks for each core.
const MOST_TASKS: usize = 100_000;
/// The most KiB of all objects.
const MOST_KIB: usize = 4 << 20;
/// The most bytes of one object that is scanned.
const MOST_BYTES: usize = 1 << 30;
/// The most objects, and the most keys of one.
const MOST_OBJECTS: usize = 1 << 20;
const MOST_KEYS: usize = 1 << 24;
/// The longest time between two changes of the objects in use, in milliseconds.
const LONGEST_PERIOD: u64 = 10_000;
/// The most steps of own work between two operations.
const MOST_STEPS: u32 = 1_000_000;
/// The largest exponent of Zipf's law: it sends nearly all operations to one object.
const STEEPEST: f64 = 4.0;

/// The options of all experiments, so that one command can run several experiments: an option
/// applies to the experiments that [`of`] returns.
pub(super) const OPTIONS: [&str; 13] = [
    "procs",
    "seconds",
    "tasks_per_core",
    "kib",
    "object_bytes",
    "objects",
    "keys",
    "access",
    "popularity",
    "period",
    "zipf",
    "steps",
    "read_percent",
];

/// The experiments to which an option applies; empty if it applies to all.
fn of(option: &str) -> &'static [Bench] {
    match option {
        "kib" | "access" => &[Bench::Directory, Bench::Scan],
        "object_bytes" => &[Bench::Scan],
        "objects" => &[
            Bench::Counters,
            Bench::Map,
            Bench::Heap,
            Bench::Bank,
            Bench::Graph,
            Bench::Cache,
            Bench::Histogram,
        ],
        "keys" => &[Bench::Map, Bench::Heap, Bench::Cache, Bench::Classes],
        "zipf" => &[Bench::Bank, Bench::Cache],
        "steps" => &[Bench::Own],
        "read_percent" => &[Bench::Cache],
        "popularity" | "period" => &[Bench::Directory],
        _ => &[],
    }
}

/// The options of the experiments on objects.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Objects: tasks for each core, separated by commas [default: 1,8,16,64; travel:
    /// 1,2,4,8,16,64,256]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_TASKS, "tasks for each core"))]
    tasks_per_core: Vec<usize>,
    /// Directory, scan: KiB of all objects together, separated by commas [default:
    /// 256,2048,8192,32768; scan: 8192]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_KIB, "KiB of all objects"))]
    kib: Vec<usize>,
    /// Scan: bytes of one object, multiples of 8, separated by commas [default:
    /// 512,8192,32768,131072,524288]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = object_bytes)]
    object_bytes: Vec<usize>,
    /// How many objects, separated by commas; of cache they are its shards [default: counters
    /// 1,4,16,64; map and cache 1,16; heap 1; bank 1024; graph 65536; histogram 64]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_OBJECTS, "objects"))]
    objects: Vec<usize>,
    /// Map, heap, classes: keys of a map, or events of a heap; cache: keys of all shards; separated
    /// by commas [default: 1024,65536; cache: 65536; classes: 1024]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_KEYS, "keys"))]
    keys: Vec<usize>,
    /// Directory, scan: what an operation writes, separated by commas: read (nothing, and other
    /// readers are inside meanwhile), alone (nothing), found (the found entry; directory only), all
    /// (everything that it examines) [default: read]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    access: Vec<Access>,
    /// Directory: the directories in use, separated by commas: uniform (all directories),
    /// oscillating (all and a sixteenth in turns) [default: uniform]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    popularity: Vec<Popularity>,
    /// Directory, oscillating: milliseconds between two changes of the directories in use; a run
    /// has at least two such periods before the measured time, and at least two in it [default: 40]
    #[arg(long, value_name = "MS", value_parser = period, allow_negative_numbers = true)]
    period: Option<Duration>,
    /// Bank, cache: exponents of Zipf's law, by which accounts or keys are chosen, separated by
    /// commas; 0: all equally [default: 0.99; cache: 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = zipf)]
    zipf: Vec<Hundredths>,
    /// Own: steps of a task's own work between two operations, each a random number computed from
    /// the one before, separated by commas [default: 200,700]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 0..=MOST_STEPS, "steps of own work"))]
    steps: Vec<u32>,
    /// Cache: read-only operations of a hundred, separated by commas [default: 95]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 0..=100_u32, "reads in a hundred operations"))]
    read_percent: Vec<u32>,
}

/// An exponent with two digits after the point.
fn zipf(text: &str) -> Result<Hundredths, String> {
    match text.parse::<f64>() {
        Ok(exponent) if (0.0..=STEEPEST).contains(&exponent) => {
            Ok((exponent * 100.0).round() as Hundredths)
        }
        _ => Err(format!("`{text}` is not an exponent of Zipf's law from 0 to {STEEPEST}")),
    }
}

/// A whole number of words.
fn object_bytes(text: &str) -> Result<usize, String> {
    let bytes = number(text, 8..=MOST_BYTES, "bytes of an object")?;
    if bytes % 8 == 0 { Ok(bytes) } else { Err(format!("`{text}` is no multiple of 8")) }
}

/// A period that leaves time to measure after the unsettled part is left out.
fn period(text: &str) -> Result<Duration, String> {
    let unsettled = UNSETTLED.as_millis() as u64;
    let bounds = unsettled + 1..=LONGEST_PERIOD;
    let wrong = format!("milliseconds; the first {unsettled} after a change are left out");
    number(text, bounds, &wrong).map(Duration::from_millis)
}

/// What a command line asks for, or the error in it.
pub(super) fn wanted(asked: &Asked, options: &Options) -> Result<Wanted, Usage> {
    let benches: Vec<Bench> = asked.benches()?;
    for option in &asked.given {
        let of = of(option);
        if !of.is_empty() && !benches.iter().any(|bench| of.contains(bench)) {
            let names: Vec<&str> = of.iter().map(|bench| bench.name()).collect();
            let option = option.replace('_', "-");
            return Err(Usage(format!("--{option} is for {}", words::and(&names))));
        }
    }
    let modes: Vec<Mode> = Asked::peers(asked.named_peers()?, &Found::all())?;
    let has_tasks = modes.into_iter().any(Mode::has_tasks);
    let Options {
        tasks_per_core,
        kib,
        object_bytes,
        objects,
        keys,
        access,
        popularity,
        period,
        zipf,
        steps,
        read_percent,
    } = options.clone();
    if !has_tasks && !tasks_per_core.is_empty() {
        let with = Mode::ALL.into_iter().filter(|mode| mode.has_tasks());
        let names: Vec<&str> = with.map(Mode::name).collect();
        let names = words::and(&names);
        return Err(Usage(format!("--tasks-per-core is for {names}: none of them is asked for")));
    }
    if period.is_some() && !popularity.contains(&Popularity::Oscillating) {
        return Err(Usage("--period is for --popularity oscillating".to_owned()));
    }
    let workers = match asked.given.iter().any(|option| option == "procs") {
        true => asked.workers.clone(),
        // One core has no other to share with.
        false => vec![affinity::cores().len()],
    };
    Ok(Wanted {
        tasks_per_core,
        has_tasks,
        workers,
        kib,
        object_bytes,
        objects,
        keys,
        access,
        popularity,
        period,
        zipf,
        steps,
        reads: read_percent,
        time: asked.time,
    })
}
