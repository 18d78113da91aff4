//! `run` and `list` for fork-join programs.

use std::time::Duration;

use anyhow::bail;
use clap::ValueEnum;

use super::{RunArgs, Usage, crowded, procs, unfinished};
use crate::forking::forker::Name;
use crate::forking::program::Program;
use crate::forking::runner::{Cell, Measured, Runner};
use crate::forking::{figures, found, table};

/// How long one run of a fork-join program in a process of its own may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// One of the three sizes that each fork-join program has, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Size {
    Small,
    Usual,
    Large,
    All,
}

impl Size {
    fn of(self, program: Program) -> Vec<usize> {
        let [small, usual, large] = program.sizes();
        match self {
            Size::Small => vec![small],
            Size::Usual => vec![usual],
            Size::Large => vec![large],
            Size::All => vec![small, usual, large],
        }
    }
}

/// The names if they are all of one kind: experiments or programs. A name that is neither is an error of the first kind.
pub(super) fn programs(args: &RunArgs) -> anyhow::Result<Option<Vec<Program>>> {
    let parse = |name: &String| name.parse::<Program>();
    let programs: Result<Vec<Program>, _> = args.bench.iter().map(parse).collect();
    if let Ok(programs) = programs {
        return Ok(Some(programs));
    }
    if let Some(program) = args.bench.iter().find(|name| parse(name).is_ok()) {
        let other = args.bench.iter().find(|name| parse(name).is_err()).map_or("", |name| name);
        bail!(Usage(format!(
            "{program} is a fork-join program and {other} is not: run them in two commands"
        )));
    }
    let option = if args.size.is_some() { "--size" } else { "--n" };
    if args.size.is_some() || !args.n.is_empty() {
        bail!(Usage(format!("{option} is the size of a fork-join program: these are none")));
    }
    Ok(None)
}

/// Runs fork-join programs.
pub(super) fn run(args: &RunArgs, programs: &[Program]) -> anyhow::Result<()> {
    let cells = cells(args, programs)?;
    args.procs.iter().for_each(|&procs| crowded(usize::from(procs)));
    let names = cells.first().map_or(&[][..], |cell| &cell.runtimes);
    if names.iter().any(|name| name.is_cpp()) {
        eprintln!("building the C++ peers");
    }
    let runner = Runner::new(names, usize::MAX, PATIENCE)?;
    let mut all = Vec::new();
    // Lines come when all cells of a program and a size are there: speed-ups are over the serial runs of all of them.
    let mut failure = Ok(());
    for cells in cells.chunk_by(|a, b| (a.program, a.n) == (b.program, b.n)) {
        let mut group = Vec::new();
        failure = cells.iter().try_for_each(|cell| {
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
        print!("{}", table::in_lines(&all));
    }
    failure.map_err(|error| unfinished(error, all.len()))
}

/// Prints the records as JSON lines, and what was not run and what is doubtful as notes.
fn print_lines(group: &[Measured]) -> serde_json::Result<()> {
    for measured in group {
        for record in &measured.records {
            println!("{}", serde_json::to_string(record)?);
        }
        measured.not_run.iter().for_each(|not_run| eprintln!("not run: {not_run}"));
    }
    figures::doubts(group).iter().for_each(|doubt| eprintln!("note: {doubt}"));
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
    let mut asked = Vec::new();
    for name in &args.runtime {
        asked.push(name.parse::<Name>().map_err(|error| Usage(error.to_string()))?);
    }
    match found::of(&asked)?.missing.first() {
        Some((name, why)) => bail!("{name} is not there: {why}"),
        None => Ok(asked),
    }
}

/// Prints the programs with their sizes.
pub(super) fn list_programs() {
    println!("fork-join programs (small, usual and large size):");
    for program in Program::ALL {
        let title = format!("{program} ({})", program.sizes().map(|n| n.to_string()).join(", "));
        println!("  {title:<40} {}", program.describe());
    }
}

/// Prints the runtimes that fork, those found and those missing.
pub(super) fn list_runtimes() -> anyhow::Result<()> {
    let found = found::of(&Name::ALL)?;
    println!("runtimes that fork, found:");
    for name in found.there {
        let version = found::version(name);
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        println!("  {name:<26} {}{version}", name.describe());
    }
    if !found.missing.is_empty() {
        println!("runtimes that fork, missing:");
    }
    for (name, why) in found.missing {
        println!("  {name:<26} {}: {why}", name.describe());
    }
    Ok(())
}
