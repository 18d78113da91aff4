//! `run` and `list` for actors.

use anyhow::bail;
use clap::Args;

use super::args::actors::SAVINA;
use super::args::{RunArgs, Usage, crowded, once, parsed, procs, variants};
use super::family::Family;
use super::output::{self, Printed};
use crate::actors::peer::Peer;
use crate::actors::runner::{self, Cell, Runner};
use crate::actors::{Bench, Variant, counters, savina, table};
use crate::suite::output::note;
use crate::words;

/// What the fresh process of actor_memory is told.
#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    #[arg(long)]
    runtime: Peer,
    #[arg(long)]
    workers: usize,
    #[arg(long)]
    actors: usize,
    #[arg(long)]
    used: bool,
}

/// Measures memory in this process.
pub(super) fn probe(args: &ProbeArgs) -> anyhow::Result<()> {
    runner::probe(args.runtime, args.workers, args.actors, args.used)
}

/// The experiments of [`crate::actors`].
pub(super) struct Actors;

impl Family for Actors {
    fn names(&self) -> Vec<&'static str> {
        Bench::ALL.into_iter().map(Bench::name).chain([savina::ALL]).collect()
    }

    fn meant(&self, args: &RunArgs) -> Result<(), Usage> {
        let benches = benches(args);
        // A program of Savina may be named, and be among all of them as well.
        once("--bench", &benches)?;
        let has = |of: &[Bench]| benches.iter().any(|bench| of.contains(bench));
        if let Some((option, of)) = args.actors.given().find(|(_, of)| !has(of)) {
            return Err(Usage(format!("{option} is for {}", names(of))));
        }
        let others = [
            ("--seconds", args.seconds.is_some()),
            ("--n", !args.n.is_empty()),
            ("--tasks", args.tasks.is_some()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Usage(format!(
                "{option} is not for actors: {} have --actors-per-worker, --pings, --pairs, --in-flight, --producers, \
                 --messages, --actors and --rounds",
                Bench::ALL.map(Bench::name).join(", ")
            ))),
        }
    }

    fn alone(&self, args: &RunArgs) -> Result<(), Usage> {
        match args.actors.given().next() {
            None => Ok(()),
            Some((option, benches)) => Err(Usage(format!("{option} is for {}", names(benches)))),
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let benches = benches(args);
        let asked: Vec<Peer> = parsed(&args.runtime)?;
        // Looking for compilers takes a while, so what is wrong is said before.
        cells(args, &benches, &asked)?;
        let peers = there(asked)?;
        let cells = cells(args, &benches, &peers)?;
        let runner = Runner::new(usize::MAX);
        if peers.iter().any(|peer| peer.foreign().is_some()) {
            note!("building the peers in other languages");
            runner.build(&peers)?;
        }
        args.procs.iter().for_each(|&workers| crowded(usize::from(workers)));
        let mut printed = Printed::new(args);
        let failure = cells.iter().try_for_each(|cell| {
            output::next(runner::name(&cell.spec));
            runner.run(cell, args.repeats as usize, |record, remark| printed.add(record, remark))
        });
        printed.end(failure, |records| {
            format!("{}{}", table::render(records), counters::render(records))
        })
    }

    fn list(&self) {
        for bench in Bench::ALL {
            let variants = bench.variants().iter().filter(|variant| **variant != Variant::Only);
            let names: Vec<&str> = variants.map(|variant| variant.name()).collect();
            output::experiment(bench.name(), &names, bench.describe());
        }
        let what =
            "the last eight, of the Savina suite, on the systems that need no program of their own";
        output::experiment(savina::ALL, &[], what);
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        let benches = Bench::ALL.into_iter().filter(|bench| !SAVINA.contains(bench));
        let names = benches.map(Bench::name).collect::<Vec<_>>().join(", ");
        let (found, missing) = runner::found()?;
        let found = found.into_iter().map(|peer| {
            let version = peer.foreign().and_then(|name| name.version());
            (peer.to_string(), peer.describe(), version)
        });
        let missing =
            missing.into_iter().map(|(peer, why)| (peer.to_string(), peer.describe(), why));
        output::runtimes(format_args!("actor systems of {names},"), found, missing);
        Ok(())
    }
}

/// The experiments named, one by one.
fn benches(args: &RunArgs) -> Vec<Bench> {
    let of = |name: &String| match name == savina::ALL {
        true => SAVINA.to_vec(),
        false => name.parse::<Bench>().into_iter().collect(),
    };
    args.bench.iter().flat_map(of).collect()
}

fn names(benches: &[Bench]) -> String {
    if *benches == SAVINA {
        return format!("the programs of {}", savina::ALL);
    }
    let names: Vec<&str> = benches.iter().map(|bench| bench.name()).collect();
    words::and(&names)
}

/// The systems asked for, which must be there, or all that are.
fn there(asked: Vec<Peer>) -> anyhow::Result<Vec<Peer>> {
    if asked.is_empty() {
        return Ok(runner::found()?.0);
    }
    for peer in &asked {
        if let Some(why) = peer.foreign().map(|name| name.missing()).transpose()?.flatten() {
            bail!("{peer} is not there: {why}");
        }
    }
    Ok(asked)
}

/// The cells that the arguments ask for, or what is wrong with them.
fn cells(args: &RunArgs, benches: &[Bench], peers: &[Peer]) -> Result<Vec<Cell>, Usage> {
    let mut cells = Vec::new();
    for &bench in benches {
        if !args.runtime.is_empty()
            && let Some(peer) = peers.iter().find(|peer| !peer.has(bench))
        {
            return Err(Usage(format!("{peer} has no experiment `{bench}`")));
        }
        for variant in variants(args, bench, bench.variants(), Variant::Only)? {
            for workers in procs(args) {
                let mut cell = Cell::new(bench, variant, workers, args.actors.sizes(), peers);
                cell.spec.seed = args.seed;
                cells.push(cell);
            }
        }
    }
    Ok(cells)
}
