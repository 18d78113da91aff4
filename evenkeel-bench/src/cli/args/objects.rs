//! What there is to choose of the experiments on objects.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Usage, number, once, parsed};
use crate::objects::cells::Asked;
use crate::objects::{Bench, Popularity, UNSETTLED};

/// The most tasks for each core.
const MOST_TASKS: usize = 100_000;
/// The most KiB of all objects.
const MOST_KIB: usize = 4 << 20;
/// The most bytes of one object that is scanned.
const MOST_BYTES: usize = 1 << 30;
/// The most objects, and the most keys of one.
const MOST_OBJECTS: usize = 1 << 20;
const MOST_KEYS: usize = 1 << 24;
/// The longest time between two changes of what is in use, in milliseconds.
const LONGEST_PERIOD: u64 = 10_000;

/// What there is to choose of the experiments on objects.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(in crate::cli) struct Options {
    /// Objects: tasks for each core, separated by commas [default: 1,8,16,64; travel: 1,2,4,8,16,64,256]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_TASKS, "tasks for each core"))]
    tasks_per_core: Vec<usize>,
    /// Directory, scan: KiB of all objects together, separated by commas [default: 256,2048,8192,32768; scan: 8192]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_KIB, "KiB of all objects"))]
    kib: Vec<usize>,
    /// Scan: bytes of one object, multiples of 8, separated by commas [default: 512,8192,32768,131072,524288]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = object_bytes)]
    object_bytes: Vec<usize>,
    /// Counters, map, heap: objects, separated by commas [default: 1,4,16,64; map: 1,16; heap: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_OBJECTS, "objects"))]
    objects: Vec<usize>,
    /// Map, heap: keys of a map, or events of a heap, separated by commas [default: 1024,65536]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = |text: &str| number(text, 1..=MOST_KEYS, "keys"))]
    keys: Vec<usize>,
    /// Directory, scan: what an operation writes, separated by commas: read (nothing), found (the found entry; directory only),
    /// all (everything that it looks at) [default: read]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    access: Vec<String>,
    /// Directory: what is in use, separated by commas: uniform (all directories), oscillating (all and a sixteenth in turns) [default: uniform]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    popularity: Vec<String>,
    /// Directory, oscillating: milliseconds from one change of what is in use to the next [default: 40]
    #[arg(long, value_name = "MS", value_parser = period, allow_negative_numbers = true)]
    period: Option<Duration>,
    /// Objects: folder for an HTML page with pictures [default: none]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// A whole number of words.
fn object_bytes(text: &str) -> Result<usize, String> {
    let bytes = number(text, 8..=MOST_BYTES, "bytes of an object")?;
    if bytes % 8 == 0 { Ok(bytes) } else { Err(format!("`{text}` is no multiple of 8")) }
}

/// Long enough that something is left when the time after a change is left out.
fn period(text: &str) -> Result<Duration, String> {
    let unsettled = UNSETTLED.as_millis() as u64;
    let bounds = unsettled + 1..=LONGEST_PERIOD;
    let wrong = format!("milliseconds; the first {unsettled} after a change are left out");
    number(text, bounds, &wrong).map(Duration::from_millis)
}

impl Options {
    /// The options that are given, with the experiments that have them.
    pub(in crate::cli) fn given(&self) -> impl Iterator<Item = (&'static str, &'static [Bench])> {
        use Bench::{Counters, Directory, Heap, Map, Scan};
        let all: [(&str, bool, &[Bench]); 9] = [
            ("--tasks-per-core", !self.tasks_per_core.is_empty(), &Bench::ALL),
            ("--kib", !self.kib.is_empty(), &[Directory, Scan]),
            ("--object-bytes", !self.object_bytes.is_empty(), &[Scan]),
            ("--objects", !self.objects.is_empty(), &[Counters, Map, Heap]),
            ("--keys", !self.keys.is_empty(), &[Map, Heap]),
            ("--access", !self.access.is_empty(), &[Directory, Scan]),
            ("--popularity", !self.popularity.is_empty(), &[Directory]),
            ("--period", self.period.is_some(), &[Directory]),
            ("--report", self.report.is_some(), &Bench::ALL),
        ];
        all.into_iter().filter(|(_, given, _)| *given).map(|(name, _, benches)| (name, benches))
    }

    /// An error if a list names something twice.
    pub(super) fn each_once(&self) -> Result<(), Usage> {
        once("--tasks-per-core", &self.tasks_per_core)?;
        once("--kib", &self.kib)?;
        once("--object-bytes", &self.object_bytes)?;
        once("--objects", &self.objects)?;
        once("--keys", &self.keys)?;
        once("--access", &self.access)?;
        once("--popularity", &self.popularity)
    }

    /// What is asked for, as far as it is said here.
    pub(in crate::cli) fn asked(&self) -> Result<Asked, Usage> {
        let popularity: Vec<Popularity> = parsed(&self.popularity)?;
        if self.period.is_some() && !popularity.contains(&Popularity::Oscillating) {
            return Err(Usage("--period is for --popularity oscillating".to_owned()));
        }
        Ok(Asked {
            tasks_per_core: self.tasks_per_core.clone(),
            kib: self.kib.clone(),
            object_bytes: self.object_bytes.clone(),
            objects: self.objects.clone(),
            keys: self.keys.clone(),
            access: parsed(&self.access)?,
            popularity,
            period: self.period,
            ..Asked::default()
        })
    }

    /// Where the page goes.
    pub(in crate::cli) fn report(&self) -> Option<&PathBuf> {
        self.report.as_ref()
    }
}
