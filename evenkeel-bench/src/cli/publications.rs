//! `publications`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Parser};

use super::{Cli, Command, run};
use crate::publications::{PUBLICATIONS, Publication, Simulation};
use crate::report::publications::{Shown, Simulated};
use crate::simulated::{Size, coretime, scheduling};
use crate::{report, simulated};
use suite::entry::Measured;
use suite::interrupt;
use suite::output::{last, note};

/// Schedules of each simulated program, of each point of Figure 4, and of each point of C∀'s
/// experiments, and the rounds that are measured beside those.
const PROGRAM_SEEDS: u64 = 5;
const CORETIME_SEEDS: u64 = 1;
const SCHEDULING_SEEDS: u64 = 3;
const SCHEDULING_ROUNDS: u64 = 5;

/// Run or simulate what each of the five publications measured whose systems the runtime unites,
/// and write a page with their figures beside ours.
///
/// It takes about ten minutes on two cores.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Parts of the page, separated by commas: scheduler, concurrency, thorium, coretime, locality
    /// [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = PUBLICATIONS.iter().map(|one| one.id).collect::<Vec<_>>())]
    only: Vec<String>,
    /// Folder for the page
    #[arg(long, value_name = "DIR", default_value = "publications")]
    report: PathBuf,
}

/// Runs and simulates, and writes the page. What could not be measured is said there, and in the
/// exit status.
pub(super) fn run(args: &Options) -> anyhow::Result<()> {
    report::prepare(&args.report)?;
    let is_wanted =
        |one: &&Publication| args.only.is_empty() || args.only.iter().any(|name| name == one.id);
    let mut shown = Vec::new();
    let mut failure = Ok(());
    for publication in PUBLICATIONS.iter().filter(is_wanted) {
        note!("== {}", publication.title);
        let (measured, why) = match measure(publication.run) {
            Ok(measured) => (Some(measured), None),
            Err(error) => {
                let why = format!("{error:#}");
                failure = failure.and(Err(error));
                (None, Some(why))
            }
        };
        interrupt::check()?;
        let simulated = publication.simulation.map(simulate).transpose()?;
        shown.push(Shown { publication, measured, why, simulated });
    }
    let page = report::publications::write(&args.report, &shown);
    let text = report::lines(&page);
    last(&text, failure.and(page.map(drop)))
}

/// Measures what `run` measures with these options.
fn measure(options: &str) -> anyhow::Result<Measured> {
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
