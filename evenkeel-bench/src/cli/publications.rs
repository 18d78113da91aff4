//! `publications`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Args;

use super::run;
use super::simulate::{CORETIME_SEEDS, PROGRAM_SEEDS, SCHEDULING_ROUNDS, SCHEDULING_SEEDS};
use crate::publications::{PUBLICATIONS, Publication, Simulation};
use crate::report::publications::{Shown, Simulated};
use crate::simulated::{Size, coretime, scheduling};
use crate::{ranks, report, simulated};
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
        let filled = fill(&mut one);
        // A simulation that a signal interrupts does not fail, and a job of ranks that it ends has
        // not failed.
        let asked = interrupt::check();
        let is_interrupted = asked.is_err();
        let done = asked.and(filled);
        one.why = done.as_ref().err().map(|error| format!("{error:#}"));
        shown.push(one);
        if is_interrupted {
            // The status is that of an interrupt, whatever failed before.
            failure = done;
            break;
        }
        failure = failure.and(done);
    }
    let page = report::publications::write(&args.report, &shown);
    let text = report::lines(&page);
    last(&text, failure.context("not all is on the page").and(page.map(drop)))
}

/// Measures and simulates one publication's experiments. A failure of one does not keep the others.
fn fill(one: &mut Shown) -> anyhow::Result<()> {
    let measured = measure(one);
    interrupt::check()?;
    // If no peer was built, the measurement has not begun.
    interrupt::begin();
    let ranks = if one.publication.has_ranks { on_ranks(one) } else { Ok(()) };
    interrupt::check()?;
    one.simulated = one.publication.simulation.map(simulate).transpose()?;
    measured.and(ranks)
}

/// Measures on several ranks, if that is possible here.
fn on_ranks(one: &mut Shown) -> anyhow::Result<()> {
    let jobs = ranks::missing().map_or_else(|| ranks::run().map(Ok), |why| Ok(Err(why)))?;
    one.ranks = Some(jobs);
    Ok(())
}

/// Measures what `run` measures with each line of the publication's options.
fn measure(one: &mut Shown) -> anyhow::Result<()> {
    one.publication.run.iter().try_for_each(|line| measure_line(one, line))
}

/// Measures what `run` measures with these options, beside those of the peers that are found, and
/// adds it to what there is.
fn measure_line(one: &mut Shown, line: &str) -> anyhow::Result<()> {
    let mut args = run::options_of(line.split_whitespace())?;
    for (peer, install) in (run::chosen(&args)?.found)()?.missing {
        if let Some(place) = args.runtime.iter().position(|asked| asked == peer.name) {
            args.runtime.remove(place);
            let not_found = format!("{}: {install}", peer.name);
            note!("not found: {not_found}");
            if !one.not_found.contains(&not_found) {
                one.not_found.push(not_found);
            }
        }
    }
    let (measured, done) = run::measured(&args)?;
    match &mut one.measured {
        None => one.measured = Some(measured),
        Some(before) => {
            before.records.extend(measured.records);
            before.absent.extend(measured.absent);
        }
    }
    done
}

fn simulate(simulation: Simulation) -> anyhow::Result<Simulated> {
    Ok(match simulation {
        Simulation::Scheduling => {
            let beside = scheduling::beside(SCHEDULING_ROUNDS).map_err(interrupt::why)?;
            let goes_on = || interrupt::check().is_ok();
            let records = scheduling::run(&beside, &[], SCHEDULING_SEEDS, goes_on);
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
    fn what_is_measured_of_each_publication_is_known_to_run() {
        for publication in &PUBLICATIONS {
            let (mut families, id) = (Vec::new(), publication.id);
            for line in publication.run {
                let args = run::options_of(line.split_whitespace()).unwrap();
                let of = (run::chosen(&args).unwrap().describe)();
                let asked = run::asked(&args, &of);
                asked.check(&of).unwrap();
                for name in &asked.runtimes {
                    let is_known = of.peers.iter().any(|peer| peer.name == name);
                    assert!(is_known, "{id}: {name}");
                }
                families.push(of.name);
            }
            families.dedup();
            assert_eq!(families.len(), 1, "{id}: the lines are of one family");
        }
    }
}
