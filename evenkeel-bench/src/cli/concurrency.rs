//! `run` and `list` for the tables of the thesis "Concurrency in C∀".

use anyhow::bail;

use super::args::{RunArgs, Usage, crowded, parsed, variants};
use super::family::Family;
use super::output::{self, Printed};
use crate::concurrency::peer::Peer;
use crate::concurrency::runner::{self, Row, Runner};
use crate::concurrency::{Bench, Variant, table};
use crate::suite::output::{note, say};

/// The experiments of [`crate::concurrency`].
pub(super) struct Concurrency;

impl Family for Concurrency {
    fn names(&self) -> Vec<&'static str> {
        Bench::ALL.map(Bench::name).to_vec()
    }

    fn alone(&self, args: &RunArgs) -> Result<(), Usage> {
        match args.monitors.is_empty() {
            true => Ok(()),
            false => Err(Usage("--monitors is for mutex, schedint and schedext".to_owned())),
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let rows = rows(args, &parsed(&args.bench)?)?;
        let runner = Runner::new(usize::MAX);
        for language in runner::languages(&rows) {
            note!("building the peer in {language:?}");
            runner.build(language)?;
        }
        let mut printed = Printed::new(args);
        let failure = rows.iter().try_for_each(|row| {
            crowded(row.procs);
            output::next(runner::name(row));
            runner.run(row, args.repeats as usize, |record, remark| printed.add(record, remark))
        });
        printed.end(failure, table::render)
    }

    fn list(&self) {
        for bench in Bench::ALL {
            let variants: Vec<&str> =
                bench.variants().iter().map(|variant| variant.name()).collect();
            output::experiment(bench.name(), &[], bench.describe());
            if bench.variants() != [Variant::Only] {
                say!("  {:<26}   variants: {}", "", variants.join(", "));
            }
        }
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        let names = Bench::ALL.map(Bench::name).join(", ");
        let (found, missing) = runner::found();
        let found = found.into_iter().map(|peer| {
            let version = peer.language().and_then(|language| language.version());
            (peer.to_string(), peer.describe(), version)
        });
        let missing =
            missing.into_iter().map(|(peer, why)| (peer.to_string(), peer.describe(), why));
        output::runtimes(format_args!("runtimes of {names},"), found, missing);
        Ok(())
    }
}

/// The rows that the arguments ask for, or what is wrong with them.
fn rows(args: &RunArgs, benches: &[Bench]) -> anyhow::Result<Vec<Row>> {
    let n = rounds(args, benches)?;
    let peers = peers(args)?;
    let mut rows = Vec::new();
    for &bench in benches {
        let variants = variants(args, bench, bench.variants(), Variant::Only)?;
        let mut of_bench = runner::rows(bench, &peers, args.time());
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
    let peers: Vec<Peer> = parsed(&args.runtime)?;
    match missing.iter().find(|(peer, _)| peers.contains(peer)) {
        Some((peer, why)) => bail!("{peer} is not there: {why}"),
        None => Ok(peers),
    }
}
