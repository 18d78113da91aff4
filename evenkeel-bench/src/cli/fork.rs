//! `run` and `list` for fork-join programs.

use std::time::Duration;

use anyhow::bail;

use super::args::programs::Size;
use super::args::{RunArgs, Usage, crowded, parsed, procs, tasks_are_of_others};
use super::family::Family;
use super::output::{self, unfinished};
use crate::forking::forker::Name;
use crate::forking::program::Program;
use crate::forking::runner::{Cell, Measured, Runner};
use crate::forking::{figures, found, table};
use crate::suite::output::{note, print, say};

/// How long one run of a fork-join program in a process of its own may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The programs of [`crate::forking`].
pub(super) struct Forking;

impl Family for Forking {
    fn names(&self) -> Vec<&'static str> {
        Program::ALL.map(Program::name).to_vec()
    }

    fn title(&self) -> Option<&'static str> {
        Some("and the fork-join programs")
    }

    fn apart(&self, own: &str, other: &str) -> Option<String> {
        Some(format!("{own} is a fork-join program and {other} is not: run them in two commands"))
    }

    fn meant(&self, args: &RunArgs) -> Result<(), Usage> {
        let given =
            [("--seconds", args.seconds.is_some()), ("--variant", !args.variant.is_empty())];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(Usage(format!("fork-join programs have no {option}: they have --n and --size")))
            }
            None => tasks_are_of_others(args),
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let cells = cells(args, &parsed(&args.bench)?)?;
        args.procs.iter().for_each(|&procs| crowded(usize::from(procs)));
        let names = cells.first().map_or(&[][..], |cell| &cell.runtimes);
        if names.iter().any(|name| name.is_cpp()) {
            note!("building the C++ peers");
        }
        let runner = Runner::new(names, usize::MAX, PATIENCE)?;
        let mut all = Vec::new();
        // Lines come when all cells of a program and a size are there: speed-ups are over the serial runs of all of them.
        let mut failure = Ok(());
        for cells in cells.chunk_by(|a, b| (a.program, a.n) == (b.program, b.n)) {
            let mut group = Vec::new();
            failure = cells.iter().try_for_each(|cell| {
                output::next(cell.name());
                group.push(runner.run(cell, args.repeats as usize)?);
                anyhow::Ok(())
            });
            figures::pool(&mut group);
            if args.json {
                print_lines(&group)?;
            }
            all.extend(group);
            if failure.is_err() {
                break;
            }
        }
        if !args.json && !all.is_empty() {
            print(&table::in_lines(&all));
        }
        failure.map_err(|error| unfinished(error, all.len()))
    }

    fn list(&self) {
        say!("fork-join programs (small, usual and large size):");
        for program in Program::ALL {
            let title =
                format!("{program} ({})", program.sizes().map(|n| n.to_string()).join(", "));
            say!("  {title:<40} {}", program.describe());
        }
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        let found = found::of(&Name::ALL)?;
        let there = found
            .there
            .into_iter()
            .map(|name| (name.to_string(), name.describe(), found::version(name)));
        let missing =
            found.missing.into_iter().map(|(name, why)| (name.to_string(), name.describe(), why));
        output::runtimes("runtimes that fork,", there, missing);
        Ok(())
    }
}

/// Prints the records as JSON lines, and what was not run and what is doubtful as notes.
fn print_lines(group: &[Measured]) -> serde_json::Result<()> {
    for measured in group {
        for record in &measured.records {
            say!("{}", serde_json::to_string(record)?);
        }
        measured.not_run.iter().for_each(|not_run| note!("not run: {not_run}"));
    }
    figures::doubts(group).iter().for_each(|doubt| note!("note: {doubt}"));
    Ok(())
}

/// The cells of fork-join programs that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs, programs: &[Program]) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for &program in programs {
        let sizes = match args.size.unwrap_or(Size::Usual) {
            _ if !args.n.is_empty() => args.n.clone(),
            size => size.of(program),
        };
        for n in sizes {
            if !(1..=program.most()).contains(&n) {
                bail!(Usage(format!(
                    "{program} of size {n}: sizes are 1 to {}, usually {}",
                    program.most(),
                    program.sizes().map(|size| size.to_string()).join(", ")
                )));
            }
            for workers in procs(args) {
                cells.push(Cell { program, n, workers, runtimes: Vec::new() });
            }
        }
    }
    // Looked for last: it takes longest.
    let runtimes = runtimes(args)?;
    cells.iter_mut().for_each(|cell| cell.runtimes = runtimes.clone());
    Ok(cells)
}

/// The runtimes that fork asked for, or all that are found.
fn runtimes(args: &RunArgs) -> anyhow::Result<Vec<Name>> {
    if args.runtime.is_empty() {
        return Ok(found::of(&Name::ALL)?.there);
    }
    let asked: Vec<Name> = parsed(&args.runtime)?;
    match found::of(&asked)?.missing.first() {
        Some((name, why)) => bail!("{name} is not there: {why}"),
        None => Ok(asked),
    }
}
