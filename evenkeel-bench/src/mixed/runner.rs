//! Runs the experiment: all runtimes in turn, repeat by repeat.

use anyhow::{Context, anyhow};

use super::pool::{Name, RayonTokio};
use super::record::Record;
use super::{NAME, Outcome, PROGRAM, Spec, Tasks};
use crate::affinity;
use crate::disturbance::{ENOUGH, Watch, remark};
use crate::figures::Summary;
use crate::forking::forker::{Forker, Serial};
use crate::regime;
use crate::runtime::evenkeel::Evenkeel;
use crate::words::count;
use crate::workload::Fault;

/// Serial computations: their median is what the others are compared with.
const SERIAL: usize = 5;

/// What to run, and on which runtimes.
pub(crate) struct Cell {
    /// What to run. Each repeat adds its number to the seed.
    pub(crate) spec: Spec,
    /// On which runtimes, in this order.
    pub(crate) runtimes: Vec<Name>,
}

impl Cell {
    /// What is measured, in words.
    pub(crate) fn name(&self) -> String {
        format!("{NAME} {}, {}", self.spec.variant, count(self.spec.workers, "worker"))
    }
}

/// Runs a cell and gives each run to `each`, with a remark if it was disturbed.
pub(crate) fn run(
    cell: &Cell,
    repeats: usize,
    mut each: impl FnMut(Record, Option<String>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (serial, right) = serial(cell.spec.n)?;
    for repeat in 0..repeats {
        for &name in &cell.runtimes {
            let spec = Spec { seed: cell.spec.seed + repeat as u64, ..cell.spec.clone() };
            let mut record = once(name, &spec, right)?;
            record.repeat = repeat;
            record.computation_us_serial = serial * 1e6;
            let remark = (record.cpu_share < ENOUGH)
                .then(|| remark(format!("{name} {}", cell.name()), 1, record.cpu_share));
            each(record, remark)?;
        }
    }
    Ok(())
}

/// The seconds and the result of a computation with plain calls.
fn serial(n: usize) -> anyhow::Result<(f64, u64)> {
    let serial = Serial::start(1)?;
    let right = PROGRAM.run(n, &serial).checksum;
    let seconds = (0..SERIAL).map(|_| PROGRAM.run(n, &serial).seconds).collect();
    let summary = Summary::of(seconds).context("no serial computations")?;
    Ok((summary.median, right))
}

fn once(name: Name, spec: &Spec, right: u64) -> anyhow::Result<Record> {
    let line_ns_before = regime::bounce();
    let (outcome, cpu_share) = affinity::confined(spec.workers, || {
        let watch = Watch::start(affinity::cores());
        let outcome = match name {
            Name::Evenkeel => super::run::<Evenkeel>(spec, right),
            Name::RayonTokio => super::run::<RayonTokio>(spec, right),
        };
        (outcome, watch.share())
    });
    let line_ns_after = regime::bounce();
    let failed = |fault: Fault| {
        anyhow!(
            "{name} failed {NAME} (variant {}, {} workers, {} tasks, size {}, seed {}): {fault}",
            spec.variant,
            spec.workers,
            spec.tasks,
            spec.n,
            spec.seed,
        )
    };
    let record = outcome.and_then(|outcome| record(name, spec, &outcome)).map_err(failed)?;
    Ok(Record {
        line_ns_before,
        line_ns_after,
        regime: regime::name(line_ns_before, line_ns_after).to_owned(),
        cpu_share,
        ..record
    })
}

/// The run's own figures.
fn record(name: Name, spec: &Spec, outcome: &Outcome) -> Result<Record, Fault> {
    let Outcome { seconds, computations, tasks } = outcome;
    let count = computations.len();
    if count == 0 {
        return Fault::check("no computation ended in the measured time: raise --seconds");
    }
    let took = computations.quantiles();
    let polls = match tasks {
        Tasks::Polls(polls) => Some(*polls),
        Tasks::Wakes { .. } => None,
    };
    let (wakes, wake, relay) = match tasks {
        Tasks::Polls(_) => (None, None, None),
        Tasks::Wakes { outside, .. } if outside.len() == 0 => {
            return Fault::check("no wake was sent in the measured time: raise --seconds");
        }
        Tasks::Wakes { outside, relayed } => {
            (Some(outside.len()), Some(outside.quantiles()), Some(relayed.quantiles()))
        }
    };
    Ok(Record {
        runtime: name.to_string(),
        bench: NAME.to_owned(),
        variant: spec.variant.to_string(),
        workers: spec.workers,
        tasks: spec.tasks,
        n: spec.n,
        repeat: 0,
        seconds: *seconds,
        computations: count,
        computations_per_second: count as f64 / seconds,
        computation_us_p50: took.p50,
        computation_us_p99: took.p99,
        computation_us_max: took.max,
        computation_us_serial: 0.0,
        polls,
        polls_per_second: polls.map(|polls| polls as f64 / seconds),
        wakes,
        wake_us_p50: wake.map(|wake| wake.p50),
        wake_us_p99: wake.map(|wake| wake.p99),
        wake_us_p999: wake.map(|wake| wake.p999),
        wake_us_max: wake.map(|wake| wake.max),
        relay_us_p50: relay.map(|relay| relay.p50),
        relay_us_p99: relay.map(|relay| relay.p99),
        relay_us_p999: relay.map(|relay| relay.p999),
        relay_us_max: relay.map(|relay| relay.max),
        line_ns_before: 0.0,
        line_ns_after: 0.0,
        regime: String::new(),
        cpu_share: 1.0,
    })
}
