//! `run` for actors.

use std::fmt;

use anyhow::bail;
use clap::{Args, value_parser};

use super::{MOST_TASKS, RunArgs, Usage, crowded, procs, unfinished};
use crate::actors::peer::Peer;
use crate::actors::runner::{self, Cell, Runner};
use crate::actors::savina::{self, Program};
use crate::actors::spec::Sizes;
use crate::actors::{Bench, Unknown, Variant, counters, table};

/// The most actors for each worker, of latency_probe, and the most pairs and producers.
const MOST_ACTORS: i64 = 100_000;
/// The most messages of one actor.
const MOST_MESSAGES: i64 = 1_000_000_000;
/// The most actors of actor_spawn and actor_memory: above it a mistyped number exhausts the memory.
const MOST_SPAWNED: i64 = 100 * MOST_TASKS;

/// The most rounds of a program of Savina: mailboxes that hold nobody back have room for as many.
const MOST_ROUNDS: i64 = 1_000_000;

/// The programs of Savina.
const SAVINA: [Bench; Program::ALL.len()] = {
    let mut all = [Bench::Savina(Program::ALL[0]); Program::ALL.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = Bench::Savina(Program::ALL[place]);
        place += 1;
    }
    all
};

/// Sizes of the experiments on actors.
#[derive(Clone, Debug, Args)]
pub(super) struct Options {
    /// latency_probe: actors for each worker [default: 100]
    #[arg(long, value_name = "A", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    actors_per_worker: Option<u32>,
    /// latency_probe: pings of each actor [default: 40,000]; pingpong: pings of each pair [default: 2,000,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    pings: Option<u32>,
    /// pingpong: pairs in all [default: one for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    pairs: Option<u32>,
    /// pingpong: pings of a pair that are under way at once [default: 1,000]
    #[arg(long, value_name = "F", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    in_flight: Option<u32>,
    /// fanin: actors that send, in all [default: 8 for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(2..=MOST_ACTORS))]
    producers: Option<u32>,
    /// fanin: messages of each producer [default: 500,000]
    #[arg(long, value_name = "M", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    messages: Option<u32>,
    /// actor_spawn: actors in all [default: 200,000]; actor_memory: idle actors [default: 1,000,000, of heavy systems 200,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_SPAWNED))]
    actors: Option<u32>,
    /// Savina: rounds, which are pings of each actor, passes, increments, actors, meetings, transfers, items of each producer, meals of each [default: as published]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_ROUNDS))]
    rounds: Option<u32>,
}

impl Options {
    /// The options that are given, with the experiments that have them.
    fn given(&self) -> impl Iterator<Item = (&'static str, &'static [Bench])> {
        use Bench::{Fanin, LatencyProbe, Memory, Pingpong, Spawn};
        let all: [(&str, bool, &[Bench]); 8] = [
            ("--actors-per-worker", self.actors_per_worker.is_some(), &[LatencyProbe]),
            ("--pings", self.pings.is_some(), &[LatencyProbe, Pingpong]),
            ("--pairs", self.pairs.is_some(), &[Pingpong]),
            ("--in-flight", self.in_flight.is_some(), &[Pingpong]),
            ("--producers", self.producers.is_some(), &[Fanin]),
            ("--messages", self.messages.is_some(), &[Fanin]),
            ("--actors", self.actors.is_some(), &[Spawn, Memory]),
            ("--rounds", self.rounds.is_some(), &SAVINA),
        ];
        all.into_iter().filter(|(_, given, _)| *given).map(|(name, _, benches)| (name, benches))
    }

    fn sizes(&self) -> Sizes {
        let count = |number: Option<u32>| number.map(|number| number as usize);
        Sizes {
            actors_per_worker: count(self.actors_per_worker),
            pings: self.pings,
            pairs: count(self.pairs),
            in_flight: self.in_flight,
            producers: count(self.producers),
            messages: self.messages,
            actors: count(self.actors),
            rounds: self.rounds,
        }
    }
}

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

/// The experiments named, if the first of the list is one of these.
pub(super) fn benches(args: &RunArgs) -> Result<Option<Vec<Bench>>, Usage> {
    let of = |name: &String| match name == savina::ALL {
        true => SAVINA.to_vec(),
        false => name.parse::<Bench>().into_iter().collect(),
    };
    let Some(own) = args.bench.iter().find(|name| !of(name).is_empty()) else {
        return match args.actors.given().next() {
            None => Ok(None),
            Some((option, benches)) => Err(Usage(format!("{option} is for {}", names(benches)))),
        };
    };
    if let Some(other) = args.bench.iter().find(|name| of(name).is_empty()) {
        return Err(Usage(format!(
            "{own} has columns of its own, not those of {other}: run them in two commands"
        )));
    }
    Ok(Some(args.bench.iter().flat_map(of).collect()))
}

fn names(benches: &[Bench]) -> String {
    if *benches == SAVINA {
        return format!("the programs of {}", savina::ALL);
    }
    let names: Vec<&str> = benches.iter().map(|bench| bench.name()).collect();
    names.join(" and ")
}

/// Runs them.
pub(super) fn run(args: &RunArgs, benches: &[Bench]) -> anyhow::Result<()> {
    meant(args, benches)?;
    let asked = args.runtime.iter().map(|name| name.parse::<Peer>());
    let asked: Result<Vec<Peer>, Unknown> = asked.collect();
    let asked = asked.map_err(|error| usage(&error))?;
    // Looking for compilers takes a while, so what is wrong is said before.
    cells(args, benches, &asked)?;
    let peers = there(asked)?;
    let cells = cells(args, benches, &peers)?;
    let runner = Runner::new(usize::MAX);
    if peers.iter().any(|peer| peer.foreign().is_some()) {
        eprintln!("building the peers in other languages");
        runner.build(&peers)?;
    }
    let mut records = Vec::new();
    args.procs.iter().for_each(|&workers| crowded(usize::from(workers)));
    // What was measured before a failure is shown as well.
    let failure = cells.iter().try_for_each(|cell| {
        runner.run(cell, args.repeats as usize, |record, remark| {
            if let Some(remark) = remark {
                eprintln!("note: {remark}");
            }
            if args.json {
                println!("{}", serde_json::to_string(&record)?);
            }
            records.push(record);
            Ok(())
        })
    });
    if !args.json && !records.is_empty() {
        print!("{}{}", table::render(&records), counters::render(&records));
    }
    failure.map_err(|error| unfinished(error, records.len()))
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
        for variant in variants(args, bench)? {
            for workers in procs(args) {
                let mut cell = Cell::new(bench, variant, workers, args.actors.sizes(), peers);
                cell.spec.seed = args.seed;
                cells.push(cell);
            }
        }
    }
    Ok(cells)
}

/// An error if an option is given that none of these experiments has.
fn meant(args: &RunArgs, benches: &[Bench]) -> Result<(), Usage> {
    let has = |of: &[Bench]| benches.iter().any(|bench| of.contains(bench));
    if let Some((option, of)) = args.actors.given().find(|(_, of)| !has(of)) {
        return Err(Usage(format!("{option} is for {}", names(of))));
    }
    let others = [
        ("--n", !args.n.is_empty()),
        ("--size", args.size.is_some()),
        ("--tasks", args.tasks.is_some()),
        ("--tasks-per-proc", args.tasks_per_proc.is_some()),
        ("--monitors", !args.monitors.is_empty()),
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

fn variants(args: &RunArgs, bench: Bench) -> Result<Vec<Variant>, Usage> {
    let mut variants = Vec::new();
    for name in &args.variant {
        let variant: Variant = name.parse().map_err(|error: Unknown| usage(&error))?;
        if !bench.variants().contains(&variant) {
            return Err(Usage(match bench.variants() {
                [Variant::Only] => format!("{bench} has no variants, so not `{variant}` either"),
                known => {
                    let known: Vec<&str> = known.iter().map(|known| known.name()).collect();
                    format!("{bench} has no variant `{variant}`: known are {}", known.join(", "))
                }
            }));
        }
        variants.push(variant);
    }
    Ok(if variants.is_empty() { bench.variants().to_vec() } else { variants })
}

fn usage(error: &dyn fmt::Display) -> Usage {
    Usage(error.to_string())
}

/// Names the experiments.
pub(super) fn list_benches() {
    for bench in Bench::ALL {
        let title = match bench.variants() {
            [Variant::Only] => bench.to_string(),
            variants => {
                let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
                format!("{bench} ({})", names.join(", "))
            }
        };
        println!("  {title:<26} {}", bench.describe());
    }
    println!(
        "  {:<26} the last eight, of the Savina suite, on the systems that need no program of their own",
        savina::ALL
    );
}

/// Names who runs them, and what is missing.
pub(super) fn list_peers() -> anyhow::Result<()> {
    let benches = Bench::ALL.into_iter().filter(|bench| !SAVINA.contains(bench));
    let names = benches.map(Bench::name).collect::<Vec<_>>().join(", ");
    let (found, missing) = runner::found()?;
    println!("actor systems of {names}, found:");
    for peer in found {
        let version = peer.foreign().and_then(|name| name.version());
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        println!("  {peer:<26} {}{version}", peer.describe());
    }
    if !missing.is_empty() {
        println!("actor systems of {names}, missing:");
    }
    for (peer, why) in missing {
        println!("  {peer:<26} {}: {why}", peer.describe());
    }
    Ok(())
}
