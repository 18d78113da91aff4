//! `run` and `list` for tasks and fork-join at once.

use super::args::{RunArgs, Usage, crowded, parsed, procs};
use super::family::Family;
use super::output::{self, Printed};
use crate::mixed::{self, pool};
use crate::suite::output::say;

/// The experiment of [`crate::mixed`].
pub(super) struct Mixed;

impl Family for Mixed {
    fn names(&self) -> Vec<&'static str> {
        vec![mixed::NAME]
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let mut printed = Printed::new(args);
        let failure = cells(args)?.into_iter().try_for_each(|cell| {
            crowded(cell.spec.workers);
            output::next(cell.name());
            mixed::runner::run(&cell, args.repeats as usize, |record, remark| {
                printed.add(record, remark)
            })
        });
        printed.end(failure, mixed::table::render)
    }

    fn list(&self) {
        let variants = mixed::Variant::ALL.map(mixed::Variant::name);
        output::experiment(mixed::NAME, &variants, mixed::DESCRIPTION);
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        say!("runtimes of {}:", mixed::NAME);
        for name in pool::Name::ALL {
            say!("  {name:<26} {}", name.describe());
        }
        Ok(())
    }
}

/// The cells of `mixed` that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> Result<Vec<mixed::runner::Cell>, Usage> {
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
    let mut runtimes: Vec<pool::Name> = parsed(&args.runtime)?;
    if runtimes.is_empty() {
        runtimes = pool::Name::ALL.to_vec();
    }
    let mut variants: Vec<mixed::Variant> = parsed(&args.variant)?;
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
            let (time, seed) = (args.time(), args.seed);
            let spec = mixed::Spec { variant, workers, tasks, n, time, seed };
            cells.push(mixed::runner::Cell { spec, runtimes: runtimes.clone() });
        }
    }
    Ok(cells)
}
