//! `publications`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::{Args, Parser};

use super::simulate::{CORETIME_SEEDS, PROGRAM_SEEDS, SCHEDULING_ROUNDS, SCHEDULING_SEEDS};
use super::{Cli, Command, run};
use crate::publications::{PUBLICATIONS, Publication, Simulation};
use crate::report::publications::{Shown, Simulated};
use crate::simulated::{Size, coretime, scheduling};
use crate::{ranks, report, simulated};
use suite::entry::Measured;
use suite::interrupt;
use suite::output::{last, note};

/// Run or simulate what each of the five publications measured whose systems the runtime unites,
/// and write a page with their figures beside ours.
///
/// It takes about a quarter of an hour on two cores.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Parts of the page, separated by commas: scheduler, concurrency, thorium, coretime, locality,
    /// growth [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = PUBLICATIONS.iter().map(|one| one.id).collect::<Vec<_>>())]
    only: Vec<String>,
    /// Folder for the page
    #[arg(long, value_name = "DIR", default_value = "publications")]
    report: PathBuf,
}

/// Runs and simulates, and writes the page, also of what was there before a failure or an
/// interruption. What is missing is said there, and in the exit status.
pub(super) fn run(args: &Options) -> anyhow::Result<()> {
    report::prepare(&args.report)?;
    let is_wanted =
        |one: &&Publication| args.only.is_empty() || args.only.iter().any(|name| name == one.id);
    let (begun, mut shown) = (Instant::now(), Vec::new());
    let mut failure = Ok(());
    for publication in PUBLICATIONS.iter().filter(is_wanted) {
        note!("== {} (after {} s)", publication.title, begun.elapsed().as_secs());
        let mut one = Shown::nothing(publication);
        let done = fill(&mut one);
        one.why = done.as_ref().err().map(|error| format!("{error:#}"));
        shown.push(one);
        failure = failure.and(done);
        if interrupt::check().is_err() {
            break;
        }
    }
    let page = report::publications::write(&args.report, &shown);
    let text = report::lines(&page);
    last(&text, failure.context("not all is on the page").and(page.map(drop)))
}

/// Measures and simulates one publication's experiments.
fn fill(one: &mut Shown) -> anyhow::Result<()> {
    let (measured, failure) = measure(one.publication.run)?;
    one.measured = Some(measured);
    interrupt::check()?;
    if one.publication.has_ranks {
        let jobs = ranks::missing().map_or_else(|| ranks::run().map(Ok), |why| Ok(Err(why)))?;
        one.ranks = Some(jobs);
    }
    one.simulated = one.publication.simulation.map(simulate).transpose()?;
    failure
}

/// Measures what `run` measures with these options.
fn measure(options: &str) -> anyhow::Result<(Measured, anyhow::Result<()>)> {
    let line = ["evenkeel-bench", "run"].into_iter().chain(options.split_whitespace());
    match Cli::try_parse_from(line)?.command {
        Some(Command::Run(args)) => run::measured(&args),
        _ => Err(anyhow!("`{options}` are options of run")),
    }
}

fn simulate(simulation: Simulation) -> anyhow::Result<Simulated> {
    Ok(match simulation {
        Simulation::Scheduling => {
            interrupt::begin();
            let beside = scheduling::beside(SCHEDULING_ROUNDS).map_err(interrupt::why)?;
            let records = scheduling::run(&beside, &[], SCHEDULING_SEEDS);
            Simulated::Scheduling(beside, records)
        }
        Simulation::CoreTime => {
            Simulated::CoreTime(coretime::run(&coretime::SIZES, CORETIME_SEEDS))
        }
        Simulation::Locality => {
            let mut records = Vec::new();
            let each = |record| records.push(record);
            simulated::run(&simulated::PROGRAMS, &Size::ALL, PROGRAM_SEEDS, each);
            Simulated::Locality(records)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_of_each_publication_are_options_of_run() {
        for publication in &PUBLICATIONS {
            let line = ["evenkeel-bench", "run"];
            let line = line.into_iter().chain(publication.run.split_whitespace());
            assert!(Cli::try_parse_from(line).is_ok(), "{}", publication.run);
        }
    }
}
