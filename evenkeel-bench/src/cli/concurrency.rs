//! `run` for the tables of the thesis "Concurrency in C∀".

use std::fmt;

use anyhow::bail;

use super::{RunArgs, Usage, crowded, unfinished};
use crate::concurrency::peer::Peer;
use crate::concurrency::runner::{self, Row, Runner};
use crate::concurrency::{Bench, Unknown, Variant, table};

/// The experiments named, if the first of the list is one of these.
pub(super) fn benches(args: &RunArgs) -> Result<Option<Vec<Bench>>, Usage> {
    let of = |name: &String| name.parse::<Bench>().ok();
    let Some(own) = args.bench.iter().find(|name| of(name).is_some()) else {
        return Ok(None);
    };
    if let Some(other) = args.bench.iter().find(|name| of(name).is_none()) {
        return Err(Usage(format!(
            "{own} has columns of its own, not those of {other}: run them in two commands"
        )));
    }
    Ok(Some(args.bench.iter().filter_map(of).collect()))
}

/// Runs them.
pub(super) fn run(args: &RunArgs, benches: &[Bench]) -> anyhow::Result<()> {
    let rows = rows(args, benches)?;
    let runner = Runner::new(usize::MAX);
    for language in runner::languages(&rows) {
        eprintln!("building the peer in {language:?}");
        runner.build(language)?;
    }
    let mut records = Vec::new();
    // What was measured before a failure is shown as well.
    let failure = rows.iter().try_for_each(|row| {
        crowded(row.procs);
        runner.run(row, args.repeats as usize, |record, remark| {
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
        print!("{}", table::render(&records));
    }
    failure.map_err(|error| unfinished(error, records.len()))
}

/// The rows that the arguments ask for, or what is wrong with them.
fn rows(args: &RunArgs, benches: &[Bench]) -> anyhow::Result<Vec<Row>> {
    let n = rounds(args, benches)?;
    let peers = peers(args)?;
    let mut rows = Vec::new();
    for &bench in benches {
        let variants = variants(args, bench)?;
        let mut of_bench = runner::rows(bench, &peers, args.seconds);
        of_bench.retain(|row| variants.contains(&row.variant));
        if !args.monitors.is_empty() {
            let odd = args.monitors.iter().find(|number| !bench.monitors().contains(number));
            if let Some(odd) = odd {
                let known: Vec<String> = bench.monitors().iter().map(usize::to_string).collect();
                bail!(Usage(match bench.monitors() {
                    [0] => format!("{bench} enters no monitors, so not {odd} either"),
                    _ => format!(
                        "{bench} does not enter {odd} monitors: known are {}",
                        known.join(", ")
                    ),
                }));
            }
            of_bench.retain(|row| args.monitors.contains(&row.monitors));
        }
        if let Some(idle) = idle(args, &peers, &of_bench) {
            bail!(Usage(format!("{idle} has no experiment `{bench}`, or not in this variant")));
        }
        of_bench.retain(|row| !row.peers.is_empty());
        for row in &mut of_bench {
            row.n = n;
            row.tasks = args.tasks.map_or(row.tasks, |tasks| tasks as usize);
        }
        match &args.procs[..] {
            [] => rows.extend(of_bench),
            procs => rows.extend(procs.iter().flat_map(|&procs| {
                let with = move |row: &Row| Row { procs: usize::from(procs), ..row.clone() };
                of_bench.iter().map(with).collect::<Vec<_>>()
            })),
        }
    }
    Ok(rows)
}

/// Somebody who was asked for and runs nothing.
fn idle(args: &RunArgs, peers: &[Peer], rows: &[Row]) -> Option<Peer> {
    let is_idle = |peer: &&Peer| !rows.iter().any(|row| row.peers.contains(peer));
    peers.iter().find(is_idle).copied().filter(|_| !args.runtime.is_empty())
}

/// The number of rounds, if one is given; what these experiments do not have is refused.
fn rounds(args: &RunArgs, benches: &[Bench]) -> Result<Option<u64>, Usage> {
    if args.size.is_some() {
        return Err(Usage("--size is for fork-join programs: --n is the number of rounds".into()));
    }
    if args.tasks_per_proc.is_some() {
        return Err(Usage(format!("{} counts its tasks in all: use --tasks", Bench::Contended)));
    }
    if let Some(other) = benches.iter().find(|bench| **bench != Bench::Contended) {
        if !args.procs.is_empty() || args.tasks.is_some() {
            return Err(Usage(format!(
                "{other} is measured on one processor: --procs and --tasks are for {}",
                Bench::Contended
            )));
        }
    } else if !args.n.is_empty() {
        return Err(Usage(format!("{} has no rounds: use --seconds", Bench::Contended)));
    }
    match args.n[..] {
        [] => Ok(None),
        [0] => Err(Usage("0 rounds have no time".into())),
        [n] => Ok(Some(n as u64)),
        _ => Err(Usage("these experiments take one number of rounds".into())),
    }
}

/// The peers asked for, or all that are found.
fn peers(args: &RunArgs) -> anyhow::Result<Vec<Peer>> {
    let (found, missing) = runner::found();
    if args.runtime.is_empty() {
        return Ok(found);
    }
    let mut peers = Vec::new();
    for name in &args.runtime {
        let peer: Peer = name.parse().map_err(|error: Unknown| usage(&error))?;
        if let Some((_, why)) = missing.iter().find(|(other, _)| *other == peer) {
            bail!("{peer} is not there: {why}");
        }
        peers.push(peer);
    }
    Ok(peers)
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
        let variants: Vec<&str> = bench.variants().iter().map(|variant| variant.name()).collect();
        println!("  {bench:<26} {}", bench.describe());
        if bench.variants() != [Variant::Only] {
            println!("  {:<26}   variants: {}", "", variants.join(", "));
        }
    }
}

/// Names who runs them, and what is missing.
pub(super) fn list_peers() {
    let names = Bench::ALL.map(Bench::name).join(", ");
    let (found, missing) = runner::found();
    println!("runtimes of {names}, found:");
    for peer in found {
        let version = peer.language().and_then(|language| language.version());
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        println!("  {peer:<26} {}{version}", peer.describe());
    }
    if !missing.is_empty() {
        println!("runtimes of {names}, missing:");
    }
    for (peer, why) in missing {
        println!("  {peer:<26} {}: {why}", peer.describe());
    }
}
