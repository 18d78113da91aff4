//! `run` and `list` for the experiments of the scheduler, which have a rate on every runtime.

use std::time::Duration;

use anyhow::bail;

use super::args::{RunArgs, Usage, crowded, parsed, procs, tasks_are_of_others, variants};
use super::family::Family;
use super::output::{self, Printed};
use crate::runner::{self, Cell, Runner};
use crate::runtime::{Peer, go};
use crate::suite::output::note;
use crate::table;
use crate::workload::{Bench, Spec, Variant};

/// Cells per array, and increments per operation, of the published figures.
const USUAL_CELLS: u32 = 2;
/// How long Transfer may go without a transfer: the thesis's bound.
const PATIENCE: Duration = Duration::from_secs(5);

/// The experiments of [`crate::workload`].
pub(super) struct Scheduling;

impl Family for Scheduling {
    fn names(&self) -> Vec<&'static str> {
        Bench::ALL.map(Bench::name).to_vec()
    }

    /// Their columns are the ones that the others do not have.
    fn apart(&self, _own: &str, _other: &str) -> Option<String> {
        None
    }

    fn meant(&self, args: &RunArgs) -> Result<(), Usage> {
        self.alone(args)?;
        tasks_are_of_others(args)?;
        let option = if args.size.is_some() { "--size" } else { "--n" };
        if args.size.is_some() || !args.n.is_empty() {
            return Err(Usage(format!(
                "{option} is the size of a fork-join program: these are none"
            )));
        }
        Ok(())
    }

    fn alone(&self, args: &RunArgs) -> Result<(), Usage> {
        let locality = args.bench.iter().any(|name| name == Bench::Locality.name());
        let given = [("--words", args.words.is_some()), ("--touch", args.touch.is_some())];
        match given.into_iter().find(|(_, given)| *given && !locality) {
            None => Ok(()),
            Some((option, _)) => Err(Usage(format!(
                "{option} is about the arrays of locality, which is not asked for"
            ))),
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let cells = cells(args)?;
        args.procs.iter().for_each(|&procs| crowded(usize::from(procs)));
        let runner = Runner::new(usize::MAX);
        if cells.iter().any(|cell| cell.peers.iter().any(|peer| peer.is_go())) {
            note!("building the Go peer");
            runner.build_go()?;
        }
        let mut printed = Printed::new(args);
        let mut notes: Vec<String> = Vec::new();
        // After a failure nothing more is measured, for its tasks may still be there; what was is worth as much as before.
        let failure = cells.iter().try_for_each(|cell| {
            output::next(cell.name());
            runner.run(cell, args.repeats as usize, |measured| {
                for remark in measured.remarks.into_iter().chain(measured.disturbed) {
                    // The same of every repeat.
                    if !notes.contains(&remark) {
                        note!("note: {remark}");
                        notes.push(remark);
                    }
                }
                printed.add(measured.record, None)
            })
        });
        printed.end(failure, table::render)
    }

    fn list(&self) {
        for bench in Bench::ALL {
            let variants = bench.variants().iter().filter(|variant| **variant != Variant::Only);
            let names: Vec<&str> = variants.map(|variant| variant.name()).collect();
            output::experiment(bench.name(), &names, bench.describe());
        }
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        let (found, missing) = runner::found();
        let found = found.into_iter().map(|peer| {
            let version = if peer.is_go() { go::version() } else { None };
            (peer.to_string(), peer.describe(), version)
        });
        let missing = missing
            .into_iter()
            .map(|(peer, install)| (peer.to_string(), peer.describe(), install.to_owned()));
        output::runtimes("runtimes", found, missing);
        Ok(())
    }
}

/// The cells that the arguments ask for, or what is wrong with them.
pub(super) fn cells(args: &RunArgs) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for bench in parsed::<Bench>(&args.bench)? {
        let peers = peers(args, bench)?;
        for variant in variants(args, bench, bench.variants(), Variant::Only)? {
            for procs in procs(args) {
                let tasks = args.tasks_per_proc.map(|tasks| tasks as usize);
                let spec = Spec {
                    bench,
                    variant,
                    procs,
                    tasks_per_proc: tasks.unwrap_or(bench.usual_tasks()),
                    words: args.words.unwrap_or(USUAL_CELLS) as usize,
                    touch: args.touch.unwrap_or(USUAL_CELLS) as usize,
                    time: args.time(),
                    patience: PATIENCE,
                    seed: args.seed,
                };
                if spec.tasks() < bench.fewest_tasks() {
                    bail!(Usage(format!(
                        "{bench} needs at least {} tasks: raise --tasks-per-proc or --procs",
                        bench.fewest_tasks()
                    )));
                }
                cells.push(Cell { spec, peers: peers.clone() });
            }
        }
    }
    Ok(cells)
}

/// The runtimes asked for, or all that are found and have the experiment.
fn peers(args: &RunArgs, bench: Bench) -> anyhow::Result<Vec<Peer>> {
    let (found, missing) = runner::found();
    let has = |peer: &Peer| !peer.is_go() || go::has(bench);
    if args.runtime.is_empty() {
        return Ok(found.into_iter().filter(has).collect());
    }
    let peers: Vec<Peer> = parsed(&args.runtime)?;
    for &asked in &peers {
        if let Some((peer, install)) = missing.iter().find(|(peer, _)| *peer == asked) {
            bail!("{peer} is not there: `go` was not found; {install}");
        }
        if !has(&asked) {
            bail!(Usage(format!("{asked} has no experiment `{bench}`")));
        }
    }
    Ok(peers)
}
