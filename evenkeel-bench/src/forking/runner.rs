//! Runs fork-join programs: all runtimes in turn, repeat by repeat.

use anyhow::{Context, bail};

use super::forker::{ByArgument, Chili, Evenkeel, Forker, Name, Rayon, Serial};
use super::program::Program;
use super::record::Record;
use crate::affinity;
use crate::disturbance::Watch;
use crate::figures::Summary;
use crate::regime;

/// One program at one size, and who runs it.
pub(crate) struct Cell {
    pub(crate) program: Program,
    pub(crate) n: usize,
    pub(crate) workers: usize,
    pub(crate) runtimes: Vec<Name>,
}

/// The repeats of one runtime.
struct Series {
    name: Name,
    seconds: Vec<f64>,
    cpu_share: f64,
}

/// Runs a cell: each runtime once to warm up, and then in turns. The serial result is what all others are checked
/// against, whether or not it is asked for.
pub(crate) fn run(cell: &Cell, reps: usize) -> anyhow::Result<Vec<Record>> {
    let right = once(Name::Serial, cell)?.1;
    let line_ns_before = regime::bounce();
    let mut all: Vec<Series> = cell
        .runtimes
        .iter()
        .map(|&name| Series { name, seconds: Vec::with_capacity(reps), cpu_share: 1.0 })
        .collect();
    for rep in 0..=reps {
        for series in &mut all {
            let watch = Watch::start(affinity::cores());
            let (seconds, checksum) = once(series.name, cell)?;
            let share = watch.share();
            if checksum != right {
                bail!(
                    "{} computes {} of size {} wrongly: checksum {checksum:#x} instead of {right:#x}",
                    series.name,
                    cell.program,
                    cell.n,
                );
            }
            // The first warms up.
            if rep > 0 {
                series.seconds.push(seconds);
                series.cpu_share = series.cpu_share.min(share);
            }
        }
    }
    let line_ns_after = regime::bounce();
    let summary = |series: &Series| Summary::of(series.seconds.clone()).context("no repeats");
    let serial = all.iter().find(|series| series.name == Name::Serial).map(summary).transpose()?;
    let record = |series: &Series| {
        let Summary { median, min, max, .. } = summary(series)?;
        Ok(Record {
            runtime: series.name.to_string(),
            bench: cell.program.to_string(),
            n: cell.n,
            workers: if series.name == Name::Serial { 1 } else { cell.workers },
            reps,
            seconds_median: median,
            seconds_min: min,
            seconds_max: max,
            seconds: series.seconds.clone(),
            checksum: format!("{right:#018x}"),
            speedup: serial.map(|serial| serial.median / median),
            line_ns_before,
            line_ns_after,
            regime: regime::name(line_ns_before, line_ns_after).to_owned(),
            cpu_share: series.cpu_share,
        })
    };
    all.iter().map(record).collect()
}

/// Runs the program once: seconds and checksum. The runtime is started before the time, and ended after it.
fn once(name: Name, cell: &Cell) -> anyhow::Result<(f64, u64)> {
    match name {
        Name::Serial => on::<Serial>(cell),
        Name::Evenkeel => on::<Evenkeel>(cell),
        Name::EvenkeelWorker => on::<ByArgument>(cell),
        Name::Rayon => on::<Rayon>(cell),
        Name::Chili => on::<Chili>(cell),
    }
    .with_context(|| format!("{name} did not start"))
}

fn on<F: Forker>(cell: &Cell) -> anyhow::Result<(f64, u64)> {
    affinity::confined(cell.workers, || {
        let forker = F::start(cell.workers)?;
        Ok(cell.program.run(cell.n, &forker))
    })
}
