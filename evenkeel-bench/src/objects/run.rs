//! One run of one mode, from the warm-up to the check.

use std::sync::Arc;
use std::time::Duration;

use spin::mutex::SpinMutex;

use super::bench::{Bench, Mode, Popularity};
use super::homes::Homes;
use super::locks::{Atomics, Locks, RwLocks};
use super::party::{Choice, Tally};
use super::score::{Performance, Score, Stretch, stretches};
use super::spec::Spec;
use super::tasks::{self, Load};
use super::threads;
use super::work::{Counters, Directories, Heaps, Maps, Scans, Work};
use crate::misses::Misses;
use crate::workload::Fault;

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
    type ParkingLot = Locks<parking_lot::Mutex<u64>>;
    let score = run.score();
    let Spec { workers, objects, .. } = run.spec;
    let seed = run.seed;
    let finished = match run.mode {
        Mode::Atomic => threads::run::<_, Atomics>(Counters, workers, objects, &score, seed)?,
        Mode::Mutex => threads::run::<_, Std>(Counters, workers, objects, &score, seed)?,
        Mode::ParkingLot => {
            threads::run::<_, ParkingLot>(Counters, workers, objects, &score, seed)?
        }
        _ => return with(run, Counters),
    };
    outcome(&run.spec, &score, &finished)
}

/// Threads with spin locks, or tasks.
fn with<W: Work>(run: &Run, work: W) -> Result<Outcome, Fault> {
    let (score, Run { spec, mode, seed }) = (run.score(), run);
    let Spec { workers, objects, .. } = *spec;
    let finished = match run.tasks_per_core() {
        None => {
            threads::run::<W, Locks<SpinMutex<W::Value>>>(work, workers, objects, &score, *seed)
        }
        Some(tasks) => {
            let choice = match spec.bench {
                Bench::Travel => Choice::InTurn,
                _ => Choice::Random,
            };
            type Blocking<T> = Locks<parking_lot::Mutex<T>>;
            let (mode, tasks, bytes) = (*mode, tasks * workers, spec.object_bytes);
            let load = Load { mode, workers, tasks, objects, bytes, choice };
            match mode {
                Mode::TasksParkingLot => {
                    tasks::run_locked::<W, Blocking<W::Value>>(work, load, &score, *seed)
                }
                Mode::TasksRwLock => {
                    tasks::run_locked::<W, RwLocks<W::Value>>(work, load, &score, *seed)
                }
                _ => tasks::run(work, load, &score, *seed),
            }
        }
    }?;
    outcome(spec, &score, &finished)
}

impl Run {
    /// Tasks for each worker, if the mode has any.
    fn tasks_per_core(&self) -> Option<usize> {
        self.spec.tasks_per_core.filter(|_| self.mode.has_tasks())
    }

    fn score(&self) -> Arc<Score> {
        let Spec { popularity, period, time, objects, workers, .. } = self.spec;
        let warm = if self.mode == Mode::Automatic { TRIED } else { WARM };
        let stretches = stretches(popularity, period, warm, time);
        let parties = workers * self.tasks_per_core().unwrap_or(1);
        // The threads of the run are started after this.
        Arc::new(Score::new(stretches, objects, parties).counting(Misses::new()))
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
