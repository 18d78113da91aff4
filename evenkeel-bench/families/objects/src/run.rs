//! One run of one mode, from the warm-up to the check.

use std::sync::Arc;
use std::time::Duration;

use spin::mutex::SpinMutex;

use super::bench::{Bench, Mode, Popularity};
use super::homes::Homes;
use super::locks::{Atomics, Locks, RwLocks, Shared};
use super::party::{Choice, Tally};
use super::score::{Performance, Score, Stretch, stretches};
use super::spec::Spec;
use super::tasks::{self, Load};
use super::threads;
use super::work::{Counters, Directories, Heaps, Maps, Scans, Work};
use suite::kit::fault::Fault;
use suite::misses::Misses;

/// What comes before the measured time: caches become warm.
const WARM: Duration = Duration::from_millis(20);
/// The same for a class that finds out by itself: a trial of both modes takes up to 60 ms, and may
/// be made twice.
const TRIED: Duration = Duration::from_millis(200);

/// A case, who runs it, and where the random choices begin.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) spec: Spec,
    pub(super) mode: Mode,
    pub(super) seed: u64,
}

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
pub(super) struct Outcome {
    pub(super) operations: u64,
    pub(super) seconds: f64,
    pub(super) hops: u64,
    pub(super) misses: Option<u64>,
    pub(super) homes: Option<Homes>,
    /// Where the popularity oscillates.
    pub(super) parts: Option<Parts>,
}

/// Millions of operations per second while all objects are in use and while a sixteenth is, and the
/// same without what was not settled yet.
pub(super) struct Parts {
    pub(super) many: f64,
    pub(super) few: f64,
    pub(super) many_settled: Option<f64>,
    pub(super) few_settled: Option<f64>,
}

/// One run, and its check.
pub(super) fn perform(run: &Run) -> Result<Outcome, Fault> {
    let Spec { bench, access, keys, object_bytes, .. } = run.spec;
    let words = object_bytes / size_of::<u64>();
    match bench {
        Bench::Directory => with(run, Directories(access)),
        Bench::Counters => counters(run),
        Bench::Map => with(run, Maps(keys)),
        Bench::Heap => with(run, Heaps(keys)),
        Bench::Scan => with(run, Scans { access, words }),
        Bench::Travel => with(run, Counters),
    }
}

/// What threads can do to counters without a spin lock, or what all do.
fn counters(run: &Run) -> Result<Outcome, Fault> {
    type Std = Locks<std::sync::Mutex<u64>>;
    match run.mode {
        Mode::Atomic => by_threads::<_, Atomics>(run, Counters),
        Mode::Mutex => by_threads::<_, Std>(run, Counters),
        Mode::ParkingLot => by_threads::<_, Blocking<u64>>(run, Counters),
        _ => with(run, Counters),
    }
}

/// What is run in every experiment. Modes that are for counters only never come here.
fn with<W: Work>(run: &Run, work: W) -> Result<Outcome, Fault> {
    match run.mode {
        Mode::Spin | Mode::Atomic | Mode::Mutex | Mode::ParkingLot => {
            by_threads::<W, Locks<SpinMutex<W::Value>>>(run, work)
        }
        Mode::TasksParkingLot => by_tasks(run, work, tasks::run_locked::<W, Blocking<W::Value>>),
        Mode::TasksRwLock => by_tasks(run, work, tasks::run_locked::<W, RwLocks<W::Value>>),
        Mode::InPlace | Mode::Home | Mode::Automatic => by_tasks(run, work, tasks::run),
    }
}

/// A lock that blocks its thread.
type Blocking<T> = Locks<parking_lot::Mutex<T>>;

fn by_threads<W: Work, S: Shared<W>>(run: &Run, work: W) -> Result<Outcome, Fault> {
    let (Spec { workers, objects, .. }, score) = (run.spec, run.score());
    outcome(&run.spec, &score, &threads::run::<W, S>(work, workers, objects, &score, run.seed)?)
}

fn by_tasks<W: Work>(
    run: &Run,
    work: W,
    go: impl FnOnce(W, Load, &Arc<Score>, u64) -> Result<Finished, Fault>,
) -> Result<Outcome, Fault> {
    let (spec, score) = (run.spec, run.score());
    let choice = match spec.bench {
        Bench::Travel => Choice::InTurn,
        _ => Choice::Random,
    };
    let load = Load {
        mode: run.mode,
        workers: spec.workers,
        tasks: run.parties(),
        objects: spec.objects,
        bytes: spec.object_bytes,
        choice,
    };
    outcome(&spec, &score, &go(work, load, &score, run.seed)?)
}

impl Run {
    /// How many threads or tasks there are.
    fn parties(&self) -> usize {
        let tasks = self.spec.tasks_per_core.filter(|_| self.mode.has_tasks());
        self.spec.workers * tasks.unwrap_or(1)
    }

    fn score(&self) -> Arc<Score> {
        let Spec { popularity, period, time, objects, .. } = self.spec;
        let warm = if self.mode == Mode::Automatic { TRIED } else { WARM };
        let stretches = stretches(popularity, period, warm, time);
        // The threads of the run are started after this.
        Arc::new(Score::new(stretches, objects, self.parties()).counting(Misses::new()))
    }
}

/// What was measured, if all is right.
fn outcome(spec: &Spec, score: &Score, finished: &Finished) -> Result<Outcome, Fault> {
    let Finished { performance, tallies, .. } = finished;
    check(finished)?;
    let sum = |wanted: fn(&Stretch) -> bool| {
        let ends = tallies.iter().map(|tally| &tally.ends[..]);
        score.sum(performance, ends, wanted)
    };
    let (operations, seconds) = sum(|_| true);
    let mops = |(operations, seconds): (u64, f64)| operations as f64 / seconds / 1e6;
    let settled = |wanted| Some(sum(wanted)).filter(|(_, seconds)| *seconds > 0.0).map(mops);
    let parts = (spec.popularity == Popularity::Oscillating).then(|| Parts {
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
