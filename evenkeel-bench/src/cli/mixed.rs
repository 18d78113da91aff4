//! `run` for tasks and fork-join at once.

use std::fmt;

use super::{RunArgs, Usage, crowded, procs, unfinished};
use crate::mixed::{self, pool};

/// Runs tasks and fork-join at once.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let mut records = Vec::new();
    let mut cell = |cell: mixed::runner::Cell| {
        crowded(cell.spec.workers);
        mixed::runner::run(&cell, args.repeats as usize, |record, remark| {
            if let Some(remark) = remark {
                eprintln!("note: {remark}");
            }
            if args.json {
                println!("{}", serde_json::to_string(&record)?);
            }
            records.push(record);
            Ok(())
        })
    };
    let failure = cells(args)?.into_iter().try_for_each(&mut cell);
    if !args.json && !records.is_empty() {
        print!("{}", mixed::table::render(&records));
    }
    failure.map_err(|error| unfinished(error, records.len()))
}

/// The cells of `mixed` that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> Result<Vec<mixed::runner::Cell>, Usage> {
    let usage = |error: &dyn fmt::Display| Usage(error.to_string());
    if args.tasks_per_proc.is_some() {
        return Err(Usage(format!("{} counts its tasks in all: use --tasks", mixed::NAME)));
    }
    if args.size.is_some() {
        return Err(Usage(format!("--size is for fork-join programs: {} takes --n", mixed::NAME)));
    }
    let n = match args.n[..] {
        [] => mixed::USUAL_SIZE,
        [n] => n,
        _ => return Err(Usage(format!("{} takes one size", mixed::NAME))),
    };
    if !(1..=mixed::MOST_SIZE).contains(&n) {
        return Err(Usage(format!(
            "computations of size {n}: sizes are 1 to {}, usually {}",
            mixed::MOST_SIZE,
            mixed::USUAL_SIZE
        )));
    }
    let mut runtimes = Vec::new();
    for name in &args.runtime {
        runtimes.push(name.parse::<pool::Name>().map_err(|error| usage(&error))?);
    }
    if runtimes.is_empty() {
        runtimes = pool::Name::ALL.to_vec();
    }
    let mut variants = Vec::new();
    for name in &args.variant {
        variants.push(name.parse::<mixed::Variant>().map_err(|error| usage(&error))?);
    }
    if variants.is_empty() {
        variants = mixed::Variant::ALL.to_vec();
    }
    let tasks = args.tasks.map_or(mixed::USUAL_TASKS, |tasks| tasks as usize);
    let mut cells = Vec::new();
    for variant in variants {
        if variant == mixed::Variant::Wakes && tasks % 2 == 1 {
            return Err(Usage(format!("the tasks of {variant} come in pairs: {tasks} is odd")));
        }
        for workers in procs(args) {
            let (time, seed) = (args.seconds, args.seed);
            let spec = mixed::Spec { variant, workers, tasks, n, time, seed };
            cells.push(mixed::runner::Cell { spec, runtimes: runtimes.clone() });
        }
    }
    Ok(cells)
}
