//! `run` and `list` for objects.

use super::args::{RunArgs, Usage, crowded, parsed};
use super::family::Family;
use super::output::{self, Printed};
use crate::objects::cells::{self, Asked, Cell};
use crate::objects::runner::{self, Runner};
use crate::objects::{Access, Bench, Mode, Popularity, table};
use crate::suite::output::{note, say};
use crate::{affinity, misses, report, words};

/// The experiments of [`crate::objects`].
pub(super) struct Objects;

impl Family for Objects {
    fn names(&self) -> Vec<&'static str> {
        Bench::ALL.map(Bench::name).to_vec()
    }

    fn meant(&self, args: &RunArgs) -> Result<(), Usage> {
        let benches: Vec<Bench> = parsed(&args.bench)?;
        let has = |of: &[Bench]| benches.iter().any(|bench| of.contains(bench));
        if let Some((option, of)) = args.objects.given().find(|(_, of)| !has(of)) {
            return Err(Usage(format!("{option} is for {}", names(of))));
        }
        if args.tasks.is_some() {
            return Err(Usage("--tasks is not for objects: use --tasks-per-core".to_owned()));
        }
        let others = [
            ("--n", !args.n.is_empty()),
            ("--size", args.size.is_some()),
            ("--variant", !args.variant.is_empty()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Usage(format!(
                "{option} is not for objects: {} have --kib, --object-bytes, --objects, --keys, --access and --popularity",
                names(&Bench::ALL)
            ))),
        }
    }

    fn alone(&self, args: &RunArgs) -> Result<(), Usage> {
        match args.objects.given().next() {
            None => Ok(()),
            Some((option, benches)) => Err(Usage(format!("{option} is for {}", names(benches)))),
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let cells = cells(args)?;
        if let Some(dir) = args.objects.report() {
            // A folder that cannot be written is found out before minutes are spent.
            report::prepare(dir)?;
        }
        args.procs.iter().for_each(|&workers| crowded(usize::from(workers)));
        let runner = Runner::new(usize::MAX);
        let mut printed = Printed::new(args);
        let mut records = Vec::new();
        let failure = cells.iter().try_for_each(|cell| {
            output::next(runner::name(cell));
            runner.run(cell, args.repeats as usize, |record, remark| {
                records.push(record.clone());
                printed.add(record, remark)
            })
        });
        // The page is kept even if the table has no reader.
        let page = args.objects.report().filter(|_| !records.is_empty());
        let page = page.map(|dir| report::objects::write(dir, &records));
        printed.end(failure, table::render)?;
        if let Some(page) = page.transpose()? {
            note!("report: {}", page.display());
        }
        Ok(())
    }

    fn list(&self) {
        for bench in Bench::ALL {
            let accesses = bench.accesses().iter().filter(|access| **access != Access::Only);
            let accesses: Vec<&str> = accesses.map(|access| access.name()).collect();
            output::experiment(bench.name(), &accesses, bench.describe());
            if bench.popularities() == Popularity::ALL {
                let names = Popularity::ALL.map(Popularity::name).join(", ");
                say!("  {:<26}   popularities: {names}", "");
            }
        }
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        say!("modes of {}:", Bench::ALL.map(Bench::name).join(", "));
        for mode in Mode::ALL {
            say!("  {mode:<26} {}", mode.describe());
        }
        say!("  {:<26} {}", "evidence of misses", misses::source());
        Ok(())
    }
}

fn names(benches: &[Bench]) -> String {
    let names: Vec<&str> = benches.iter().map(|bench| bench.name()).collect();
    words::and(&names)
}

/// The cells that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs) -> Result<Vec<Cell>, Usage> {
    let workers = match &args.procs[..] {
        // On one core there is nobody to share with.
        [] => vec![affinity::cores().len()],
        workers => workers.iter().map(|&workers| usize::from(workers)).collect(),
    };
    let asked = Asked {
        modes: parsed(&args.runtime)?,
        workers,
        time: args.time(),
        seed: args.seed,
        ..args.objects.asked()?
    };
    let mut cells = Vec::new();
    for bench in parsed::<Bench>(&args.bench)? {
        cells.extend(cells::of(bench, &asked).map_err(|error| Usage(error.to_string()))?);
    }
    Ok(cells)
}
