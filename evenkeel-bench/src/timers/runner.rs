//! Runs the experiment: all runtimes in turn, repeat by repeat.

use std::time::Duration;

use anyhow::anyhow;

use super::record::Record;
use super::sleeper::{Evenkeel, Name, Tokio};
use super::{NAME, Spec, USUAL_TASKS, Variant};
use crate::affinity;
use crate::disturbance::{ENOUGH, Watch, remark};
use crate::regime;
use crate::words::count;

/// What to run, and on which runtimes.
pub(crate) struct Cell {
    /// What to run. Each repeat adds its number to the seed.
    pub(crate) spec: Spec,
    /// On which runtimes, in this order.
    pub(crate) runtimes: Vec<Name>,
}

impl Cell {
    /// A variant with the usual number of tasks, on all runtimes that have so many workers.
    pub(crate) fn usual(variant: Variant, workers: usize) -> Self {
        let tasks = if variant.cancels() { workers } else { USUAL_TASKS };
        let spec = Spec { variant, workers, tasks, time: Duration::from_millis(200), seed: 1 };
        let runtimes = Name::ALL.into_iter().filter(|name| name.has(workers)).collect();
        Self { spec, runtimes }
    }

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
    for repeat in 0..repeats {
        for &name in &cell.runtimes {
            let spec = Spec { seed: cell.spec.seed + repeat as u64, ..cell.spec.clone() };
            let record = Record { repeat, ..once(name, &spec)? };
            let remark = (record.cpu_share < ENOUGH)
                .then(|| remark(format!("{name} {}", cell.name()), 1, record.cpu_share));
            each(record, remark)?;
        }
    }
    Ok(())
}

fn once(name: Name, spec: &Spec) -> anyhow::Result<Record> {
    let line_ns_before = regime::bounce();
    let (outcome, cpu_share) = affinity::confined(spec.workers, || {
        let watch = Watch::start(affinity::cores());
        let outcome = match name {
            Name::Evenkeel => super::run::<Evenkeel>(spec),
            Name::Tokio => super::run::<Tokio<false>>(spec),
            Name::TokioOne => super::run::<Tokio<true>>(spec),
        };
        (outcome, watch.share())
    });
    let line_ns_after = regime::bounce();
    let outcome = outcome.map_err(|fault| {
        anyhow!(
            "{name} failed {NAME} (variant {}, {}, {}, seed {}): {fault}",
            spec.variant,
            count(spec.workers, "worker"),
            count(spec.tasks, "task"),
            spec.seed,
        )
    })?;
    let timers = outcome.timers.max(1) as f64;
    let ns_per_timer = outcome.seconds * 1e9 * spec.workers as f64 / timers;
    let cancels = spec.variant.cancels();
    let late = (!cancels).then(|| outcome.late.quantiles());
    Ok(Record {
        runtime: name.to_string(),
        bench: NAME.to_owned(),
        variant: spec.variant.to_string(),
        workers: spec.workers,
        tasks: spec.tasks,
        repeat: 0,
        ops: outcome.timers,
        seconds: outcome.seconds,
        ns_per_timer: cancels.then_some(ns_per_timer),
        late_us_p50: late.map(|late| late.p50),
        late_us_p99: late.map(|late| late.p99),
        late_us_p999: late.map(|late| late.p999),
        late_us_max: late.map(|late| late.max),
        line_ns_before,
        line_ns_after,
        regime: regime::name(line_ns_before, line_ns_after).to_owned(),
        cpu_share,
    })
}
