//! `run` for timers.

use std::fmt;

use super::{RunArgs, Usage, crowded, procs};
use crate::timers::{self, sleeper};

/// Runs the experiment.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for cell in cells(args)? {
        crowded(cell.spec.workers);
        timers::runner::run(&cell, args.repeats as usize, |record, remark| {
            if let Some(remark) = remark {
                eprintln!("note: {remark}");
            }
            if args.json {
                println!("{}", serde_json::to_string(&record)?);
            }
            records.push(record);
            Ok(())
        })?;
    }
    if !args.json {
        print!("{}", timers::table::render(&records));
    }
    Ok(())
}

/// The cells that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> Result<Vec<timers::runner::Cell>, Usage> {
    let usage = |error: &dyn fmt::Display| Usage(error.to_string());
    if args.tasks_per_proc.is_some() {
        return Err(Usage(format!("{} counts its tasks in all: use --tasks", timers::NAME)));
    }
    if args.size.is_some() || !args.n.is_empty() {
        return Err(Usage(format!(
            "--n and --size are for computations: {} has none",
            timers::NAME
        )));
    }
    let mut runtimes = Vec::new();
    for name in &args.runtime {
        runtimes.push(name.parse::<sleeper::Name>().map_err(|error| usage(&error))?);
    }
    if runtimes.is_empty() {
        runtimes = sleeper::Name::ALL.to_vec();
    }
    let mut variants = Vec::new();
    for name in &args.variant {
        variants.push(name.parse::<timers::Variant>().map_err(|error| usage(&error))?);
    }
    if variants.is_empty() {
        variants = timers::Variant::ALL.to_vec();
    }
    let asked = args.tasks.map_or(timers::USUAL_TASKS, |tasks| tasks as usize);
    let mut cells = Vec::new();
    for variant in variants {
        for workers in procs(args) {
            let (time, seed) = (args.seconds, args.seed);
            let tasks = if variant.cancels() { workers } else { asked };
            let spec = timers::Spec { variant, workers, tasks, time, seed };
            let runtimes: Vec<_> =
                runtimes.iter().copied().filter(|name| name.has(workers)).collect();
            if runtimes.is_empty() {
                let alone = sleeper::Name::TokioOne;
                return Err(Usage(format!("{alone} has one worker: use --workers 1")));
            }
            cells.push(timers::runner::Cell { spec, runtimes });
        }
    }
    Ok(cells)
}
