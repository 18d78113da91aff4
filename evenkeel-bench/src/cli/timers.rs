//! `run` and `list` for timers.

use super::args::{RunArgs, Usage, crowded, parsed, procs};
use super::family::Family;
use super::output::{self, Printed};
use crate::timers::{self, sleeper};

/// The experiment of [`crate::timers`].
pub(super) struct Timers;

impl Family for Timers {
    fn names(&self) -> Vec<&'static str> {
        vec![timers::NAME]
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let mut printed = Printed::new(args);
        let failure = cells(args)?.into_iter().try_for_each(|cell| {
            crowded(cell.spec.workers);
            output::next(cell.name());
            timers::runner::run(&cell, args.repeats as usize, |record, remark| {
                printed.add(record, remark)
            })
        });
        printed.end(failure, timers::table::render)
    }

    fn list(&self) {
        let variants = timers::Variant::ALL.map(timers::Variant::name);
        output::experiment(timers::NAME, &variants, timers::DESCRIPTION);
    }
}

/// The cells that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> Result<Vec<timers::runner::Cell>, Usage> {
    if args.tasks_per_proc.is_some() {
        return Err(Usage(format!("{} counts its tasks in all: use --tasks", timers::NAME)));
    }
    if args.size.is_some() || !args.n.is_empty() {
        return Err(Usage(format!(
            "--n and --size are for computations: {} has none",
            timers::NAME
        )));
    }
    let mut runtimes: Vec<sleeper::Name> = parsed(&args.runtime)?;
    if runtimes.is_empty() {
        runtimes = sleeper::Name::ALL.to_vec();
    }
    let mut variants: Vec<timers::Variant> = parsed(&args.variant)?;
    if variants.is_empty() {
        variants = timers::Variant::ALL.to_vec();
    }
    let asked = args.tasks.map_or(timers::USUAL_TASKS, |tasks| tasks as usize);
    let mut cells = Vec::new();
    for variant in variants {
        for workers in procs(args) {
            let (time, seed) = (args.time(), args.seed);
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
