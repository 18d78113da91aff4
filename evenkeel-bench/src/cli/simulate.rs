//! `simulate`.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, value_parser};
use serde::Serialize;

use super::args::{Usage, once};
use crate::simulated::{Size, coretime, scheduling};
use crate::{report, simulated};
use forking::program::Program;
use suite::enough::RUNS;
use suite::interrupt;
use suite::named::Unknown;
use suite::output::{last, note, offer, say};
use suite::record::Record;
use suite::table;

/// The default numbers of schedules of each program, and of each point of Figure 4.
pub(super) const PROGRAM_SEEDS: u64 = 8;
pub(super) const CORETIME_SEEDS: u64 = RUNS as u64;
/// Those of each experiment of schedulers, and the rounds that are measured beside them.
pub(super) const SCHEDULING_SEEDS: u64 = RUNS as u64;
pub(super) const SCHEDULING_ROUNDS: u64 = 7;

/// The least and the most total size of the directories, in KiB: one directory, and far more than
/// all caches of the machine hold.
const LEAST_KIB: u64 = 32;
const MOST_KIB: u64 = 256 << 10;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Programs, separated by commas [default: matmul,transpose,heat,cilksort]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    bench: Vec<String>,
    /// Sizes of their data, separated by commas: small, medium, large or all. Small is half of one
    /// package's last-level cache, medium half of all four, large four times all four [default:
    /// all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "coretime")]
    size: Vec<String>,
    /// Figure 4 of CoreTime instead of programs: directories with and without homes on 4 x 4 cores,
    /// all alike and oscillating
    #[arg(long, conflicts_with = "bench")]
    coretime: bool,
    /// Cycle, Yield, Churn, Locality, Transfer, Spawn, Sleep and End at 1 to 256 processors on the
    /// machines of C∀'s thesis instead of programs, with the runtime's own policy; and with one and
    /// two workers beside what is measured here
    #[arg(long, conflicts_with_all = ["bench", "size", "coretime"])]
    scheduling: bool,
    /// Scheduling: numbers of workers, separated by commas [default: fourteen to sixteen up to 192
    /// and 256]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "scheduling",
          value_parser = value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,
    /// Scheduling: rounds in which steps, and experiments with one and two workers, are measured
    /// [default: 7]
    #[arg(long, value_name = "R", requires = "scheduling",
          value_parser = value_parser!(u64).range(1..=1_000))]
    rounds: Option<u64>,
    /// CoreTime: sizes of all directories together in KiB, separated by commas [default: fifteen up
    /// to 20480]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "coretime",
          value_parser = value_parser!(u64).range(LEAST_KIB..=MOST_KIB))]
    kib: Vec<u64>,
    /// Schedules of each [default: 8; CoreTime and scheduling: 3]
    #[arg(long, visible_alias = "reps", value_name = "R",
          value_parser = value_parser!(u64).range(1..=1_000))]
    seeds: Option<u64>,
    /// Print one JSON line per run of a program, or per point, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    /// Folder for an HTML page with pictures [default: none]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// Simulates programs, Figure 4, or experiments of schedulers.
pub(super) fn run(args: &Options) -> anyhow::Result<()> {
    if args.coretime {
        return coretime(args);
    }
    if args.scheduling {
        return scheduling(args);
    }
    let (programs, sizes) = (programs(&args.bench)?, sizes(&args.size)?);
    if let Some(dir) = &args.report {
        report::prepare(dir)?;
    }
    let mut records = Vec::new();
    let mut failure = Ok(());
    let seeds = args.seeds.unwrap_or(PROGRAM_SEEDS);
    simulated::run(&programs, &sizes, seeds, |record| {
        let is_next = records.last().is_none_or(|last: &Record| last.case != record.case);
        if is_next && !args.json {
            // All of it takes half a minute, and the tables come last.
            let size = record.case.settings.text("size").unwrap_or_default();
            note!("{}, {size}: simulated", record.case.bench);
        }
        if args.json && failure.is_ok() {
            match serde_json::to_string(&record) {
                // There is nothing to save: a line without a reader is the end.
                Ok(line) if args.report.is_none() => say!("{line}"),
                Ok(line) => failure = offer(&format!("{line}\n")),
                Err(error) => failure = Err(error.into()),
            }
        }
        records.push(record);
    });
    // The page is kept even if the table has no reader.
    let page = args.report.as_ref().map(|dir| report::simulated::write(dir, &records));
    if let Some(Ok(page)) = &page {
        note!("report: {}", page.display());
    }
    let table = simulated::table::render(&records, table::width());
    let text = if args.json { "" } else { &table };
    last(text, failure.and(page.transpose().map(drop)))
}

/// Parses programs by name; returns all simulated ones if there are no names.
fn programs(names: &[String]) -> Result<Vec<Program>, Usage> {
    if names.is_empty() {
        return Ok(simulated::PROGRAMS.to_vec());
    }
    once("--bench", names)?;
    let known = |name: &String| {
        Program::among(&simulated::PROGRAMS, "program of simulate", name)
            .map_err(|error| Usage(error.to_string()))
    };
    names.iter().map(known).collect()
}

/// Parses sizes by name; returns all if there are no names.
fn sizes(names: &[String]) -> Result<Vec<Size>, Usage> {
    if names.is_empty() {
        return Ok(Size::ALL.to_vec());
    }
    let mut sizes = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => sizes.extend(Size::ALL),
            name => sizes.push(name.parse().map_err(|error: Unknown| Usage(error.to_string()))?),
        }
    }
    once("--size", &sizes)?;
    Ok(sizes)
}

fn coretime(args: &Options) -> anyhow::Result<()> {
    once("--kib", &args.kib)?;
    let sizes = if args.kib.is_empty() { &coretime::SIZES[..] } else { &args.kib };
    if let Some(dir) = &args.report {
        report::prepare(dir)?;
    }
    let records = coretime::run(sizes, args.seeds.unwrap_or(CORETIME_SEEDS));
    let page = args.report.as_ref().map(|dir| report::coretime::write(dir, &records));
    let table = || coretime::table::render(&records, table::width());
    end(args, &records, table, page, Ok(()))
}

fn scheduling(args: &Options) -> anyhow::Result<()> {
    once("--workers", &args.workers)?;
    let workers: Vec<usize> = args.workers.iter().map(|&count| count.into()).collect();
    if let Some(dir) = &args.report {
        report::prepare(dir)?;
    }
    interrupt::begin();
    note!("steps, and experiments with one and two workers: measured");
    let beside =
        scheduling::beside(args.rounds.unwrap_or(SCHEDULING_ROUNDS)).map_err(interrupt::why)?;
    note!("experiments with up to 256 workers: simulated");
    let seeds = args.seeds.unwrap_or(SCHEDULING_SEEDS);
    let records = scheduling::run(&beside, &workers, seeds, || interrupt::check().is_ok());
    // What is measured is shown even if the simulation is interrupted.
    let failure = interrupt::check().context("not all was simulated");
    let page = args.report.as_ref().map(|dir| report::scheduling::write(dir, &beside, &records));
    let table = || scheduling::table::render(&beside, &records, table::width());
    end(args, &records, table, page, failure)
}

/// Names the page, and prints records as lines or as their table.
fn end<R: Serialize>(
    args: &Options,
    records: &[R],
    table: impl FnOnce() -> String,
    page: Option<anyhow::Result<PathBuf>>,
    failure: anyhow::Result<()>,
) -> anyhow::Result<()> {
    let text = if args.json {
        let line = |record| Ok(serde_json::to_string(record)? + "\n");
        records.iter().map(line).collect::<anyhow::Result<String>>()?
    } else {
        table()
    };
    if let Some(Ok(page)) = &page {
        note!("report: {}", page.display());
    }
    last(&text, failure.and(page.transpose().map(drop)))
}
