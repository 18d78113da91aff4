//! Runs the experiments: all modes in turn, repeat by repeat.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use spin::mutex::SpinMutex;

use super::bench::{Access, Bench, Mode, Popularity};
use super::cells::{Cell, Contender};
use super::homes::Homes;
use super::party::{Choice, Tally};
use super::record::Record;
use super::score::{Performance, Score, Stretch, stretches};
use super::tasks::{self, Load};
use super::threads::{self, Atomics, Locks};
use super::work::{Counters, Directories, Heaps, Maps, Scans, Work};
use crate::affinity;
use crate::disturbance::{ENOUGH, Retries, Watch, remark};
use crate::misses::Misses;
use crate::patience::patiently;
use crate::regime;
use crate::words::count;
use crate::workload::Fault;

/// What comes before the measured time: caches become warm.
const WARM: Duration = Duration::from_millis(20);
/// The same for a class that finds out by itself: a trial of both modes takes up to 60 ms, and may be made twice.
const TRIED: Duration = Duration::from_millis(200);
/// How much longer than it should a run may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Of the operations of `travel` so many must have been journeys, as a share.
const MOST: f64 = 0.9;

/// What is left when all is over.
pub(super) struct Finished {
    pub(super) performance: Performance,
    pub(super) tallies: Vec<Tally>,
    /// What the objects say has been added to them.
    pub(super) total: u64,
    /// Where they were, if they have homes.
    pub(super) homes: Option<Homes>,
}

/// What a run measured.
struct Outcome {
    operations: u64,
    seconds: f64,
    hops: u64,
    misses: Option<u64>,
    homes: Option<Homes>,
    /// Where the popularity oscillates.
    parts: Option<Parts>,
}

/// Millions of operations per second while all objects are in use and while a sixteenth is, the same without what was not settled yet.
struct Parts {
    many: f64,
    few: f64,
    many_settled: Option<f64>,
    few_settled: Option<f64>,
}

/// Runs cells, and those again that were disturbed.
pub(crate) struct Runner {
    retries: Retries,
}

impl Runner {
    /// A runner that repeats at most so many disturbed runs in all.
    pub(crate) fn new(spare: usize) -> Runner {
        Runner { retries: Retries::new(spare) }
    }

    /// Runs a cell, all modes in each repeat, and gives each run to `each`, with a remark if it was disturbed.
    pub(crate) fn run(
        &self,
        cell: &Cell,
        repeats: usize,
        mut each: impl FnMut(Record, Option<String>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for repeat in 0..repeats {
            for &contender in &cell.contenders {
                let disturbed = |record: &Record| record.cpu_share < ENOUGH;
                let once = || once(cell, contender, repeat);
                let (record, tried) = self.retries.run(once, disturbed)?;
                let run = format!("{}, {}", name(cell), side(contender));
                let remark = tried.map(|tried| remark(run, tried, record.cpu_share));
                each(record, remark)?;
            }
        }
        Ok(())
    }
}

fn once(cell: &Cell, contender: Contender, repeat: usize) -> anyhow::Result<Record> {
    let seed = cell.seed.wrapping_add(repeat as u64);
    let line_ns_before = regime::bounce();
    let (outcome, cpu_share) = affinity::confined(cell.workers, || {
        let watch = Watch::start(affinity::cores());
        let run = Cell { seed, ..cell.clone() };
        let outcome = patiently(cell.time + PATIENCE, move || perform(&run, contender));
        (outcome, watch.share())
    });
    let line_ns_after = regime::bounce();
    let Outcome { operations, seconds, hops, misses, homes, parts } =
        outcome.with_context(|| {
            let workers = count(cell.workers, "worker");
            format!("{} failed {} ({workers}, seed {seed})", side(contender), name(cell))
        })?;
    let travels = cell.bench == Bench::Travel;
    // There and back are two operations, each of them at another home.
    let operations = if travels { operations / 2 } else { operations };
    // A worker that stands still is not travelled to: what was done instead is no journey.
    let went = travels && hops as f64 >= MOST * 2.0 * operations as f64;
    let (parts, homes) = (parts.as_ref(), homes.as_ref());
    Ok(Record {
        bench: cell.bench.to_string(),
        mode: contender.mode.to_string(),
        workers: cell.workers,
        tasks_per_core: contender.tasks_per_core,
        objects: cell.objects,
        bytes: cell.objects * cell.object_bytes,
        keys: cell.keys,
        access: cell.access.to_string(),
        popularity: cell.popularity.to_string(),
        period_ms: match cell.popularity {
            Popularity::Uniform => 0,
            Popularity::Oscillating => cell.period.as_millis() as u64,
        },
        repeat,
        operations,
        seconds,
        mops: operations as f64 / seconds / 1e6,
        hops,
        misses,
        homes_before: homes.and_then(|homes| Homes::text(&homes.before)),
        homes_after: homes.and_then(|homes| Homes::text(&homes.after)),
        given_away: homes.map(|homes| homes.given_away),
        hop_ns: homes.and_then(|homes| homes.hop_ns),
        verdict: homes.and_then(|homes| homes.verdict.clone()),
        core_ns: went.then(|| seconds * 1e9 * cell.workers as f64 / operations.max(1) as f64),
        mops_many: parts.map(|parts| parts.many),
        mops_few: parts.map(|parts| parts.few),
        mops_many_settled: parts.and_then(|parts| parts.many_settled),
        mops_few_settled: parts.and_then(|parts| parts.few_settled),
        line_ns_before,
        line_ns_after,
        regime: regime::name(line_ns_before, line_ns_after).to_owned(),
        cpu_share,
    })
}

/// One run, and its check.
fn perform(cell: &Cell, contender: Contender) -> Result<Outcome, Fault> {
    let access = cell.access;
    let words = cell.object_bytes / size_of::<u64>();
    match cell.bench {
        Bench::Directory => with(cell, contender, Directories(access)),
        Bench::Counters => counters(cell, contender),
        Bench::Map => with(cell, contender, Maps(cell.keys)),
        Bench::Heap => with(cell, contender, Heaps(cell.keys)),
        Bench::Scan => with(cell, contender, Scans { access, words }),
        Bench::Travel => with(cell, contender, Counters),
    }
}

/// What threads can do to counters without a spin lock, or what all do.
fn counters(cell: &Cell, contender: Contender) -> Result<Outcome, Fault> {
    type Std = Locks<std::sync::Mutex<u64>>;
    type ParkingLot = Locks<parking_lot::Mutex<u64>>;
    let score = score(cell, contender);
    let Cell { workers, objects, seed, .. } = *cell;
    let finished = match contender.mode {
        Mode::Atomic => threads::run::<_, Atomics>(Counters, workers, objects, &score, seed)?,
        Mode::Mutex => threads::run::<_, Std>(Counters, workers, objects, &score, seed)?,
        Mode::ParkingLot => {
            threads::run::<_, ParkingLot>(Counters, workers, objects, &score, seed)?
        }
        Mode::Spin | Mode::InPlace | Mode::Home | Mode::Automatic => {
            return with(cell, contender, Counters);
        }
    };
    outcome(cell, &score, &finished)
}

/// Threads with spin locks, or tasks.
fn with<W: Work>(cell: &Cell, contender: Contender, work: W) -> Result<Outcome, Fault> {
    let score = score(cell, contender);
    let Cell { workers, objects, seed, .. } = *cell;
    let finished = match contender.tasks_per_core {
        None => threads::run::<W, Locks<SpinMutex<W::Value>>>(work, workers, objects, &score, seed),
        Some(tasks) => {
            let load = Load {
                mode: contender.mode,
                workers,
                tasks: tasks * workers,
                objects,
                bytes: cell.object_bytes,
                choice: match cell.bench {
                    Bench::Travel => Choice::InTurn,
                    _ => Choice::Random,
                },
            };
            tasks::run(work, load, &score, seed)
        }
    }?;
    outcome(cell, &score, &finished)
}

/// How long the stretches of a run are.
#[cfg(test)]
pub(crate) fn expected(cell: &Cell, contender: Contender) -> Duration {
    plan(cell, contender).iter().map(|stretch| stretch.time).sum()
}

fn plan(cell: &Cell, contender: Contender) -> Vec<Stretch> {
    let warm = if contender.mode == Mode::Automatic { TRIED } else { WARM };
    stretches(cell.popularity, cell.period, warm, cell.time)
}

fn score(cell: &Cell, contender: Contender) -> Arc<Score> {
    let stretches = plan(cell, contender);
    let parties = cell.workers * contender.tasks_per_core.unwrap_or(1);
    // The threads of the run are started after this.
    Arc::new(Score::new(stretches, cell.objects, parties).counting(Misses::new()))
}

/// What was measured, if all is right.
fn outcome(cell: &Cell, score: &Score, finished: &Finished) -> Result<Outcome, Fault> {
    let Finished { performance, tallies, .. } = finished;
    check(finished)?;
    let sum = |wanted: fn(&Stretch) -> bool| {
        let ends = tallies.iter().map(|tally| &tally.ends[..]);
        score.sum(performance, ends, wanted)
    };
    let (operations, seconds) = sum(|_| true);
    let mops = |(operations, seconds): (u64, f64)| operations as f64 / seconds / 1e6;
    let settled = |wanted| Some(sum(wanted)).filter(|(_, seconds)| *seconds > 0.0).map(mops);
    let parts = (cell.popularity == Popularity::Oscillating).then(|| Parts {
        many: mops(sum(|stretch| !stretch.few)),
        few: mops(sum(|stretch| stretch.few)),
        many_settled: settled(|stretch| !stretch.few && !stretch.unsettled),
        few_settled: settled(|stretch| stretch.few && !stretch.unsettled),
    });
    let &Performance { growth: hops, misses, .. } = performance;
    let homes = finished.homes.clone();
    Ok(Outcome { operations, seconds, hops, misses, homes, parts })
}

/// No operation was lost, made twice or made halfway.
pub(super) fn check(finished: &Finished) -> Result<(), Fault> {
    let sum = |of: fn(&Tally) -> u64| finished.tallies.iter().map(of).sum::<u64>();
    let (added, wrong, made) = (sum(|t| t.added), sum(|t| t.wrong), sum(|t| t.operations));
    if wrong > 0 {
        return Fault::check(format!("{wrong} of {made} operations have found what must not be"));
    }
    if added != finished.total {
        let total = finished.total;
        return Fault::check(format!("{added} was added to the objects, and they have {total}"));
    }
    Ok(())
}

/// The mode in words, with its tasks.
fn side(contender: Contender) -> String {
    match contender.tasks_per_core {
        Some(tasks) => format!("{} with {} per core", contender.mode, count(tasks, "task")),
        None => contender.mode.to_string(),
    }
}

/// The cell in words.
pub(crate) fn name(cell: &Cell) -> String {
    let mut name = format!("{} of {}", cell.bench, count(cell.objects, "object"));
    if cell.bench != Bench::Counters && cell.bench != Bench::Travel {
        name.push_str(&format!(" of {}", count(cell.object_bytes, "byte")));
    }
    if cell.access != Access::Only {
        name.push_str(&format!(", {}", cell.access));
    }
    if cell.popularity != Popularity::Uniform {
        name.push_str(&format!(", {}", cell.popularity));
    }
    name
}
