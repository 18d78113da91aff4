//! One run of one mode, from the warm-up to the check.

use std::sync::Arc;
use std::time::Duration;

use spin::mutex::SpinMutex;

use super::bench::{Bench, Mode, Popularity};
use super::entries;
use super::homes::Homes;
use super::locks::{Atomics, Dashes, Locks, PairLocks, RwLocks, Shared};
use super::lone;
use super::party::{Party, Tally};
use super::score::{Performance, Score, Stretch, stretches};
use super::spacing::{Apart, Close, Spacing};
use super::spec::Spec;
use super::tasks::{self, Load};
use super::threads;
use super::work::{
    AfterOwnWork, Bank, Bell, Cache, Choice, Counters, Directories, Done, Evenly, Graph, Heaps,
    Held, InTurn, Kind, Maps, Mixed, PairWork, Scans, Work, Zipf,
};
use suite::kit::fault::Fault;
use suite::misses::Misses;

/// The time before the measured one, in which caches warm up. An estimate.
pub(super) const WARM: Duration = Duration::from_millis(20);
/// The same for a class that chooses by trial: a trial of both modes takes up to 60 ms, and there
/// may be two.
pub(super) const TRIED: Duration = Duration::from_millis(200);

/// A case, its mode, and the seed of its random choices.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) spec: Spec,
    pub(super) mode: Mode,
    pub(super) seed: u64,
}

/// The result of a run, unchecked.
pub(super) struct Finished {
    pub(super) performance: Performance,
    pub(super) tallies: Vec<Tally>,
    /// The contents of the objects.
    pub(super) held: Held,
    /// Where the objects were, if they have homes.
    pub(super) homes: Option<Homes>,
}

/// What a run measured.
pub(super) struct Outcome {
    pub(super) operations: u64,
    pub(super) seconds: f64,
    pub(super) hops: u64,
    pub(super) misses: Option<u64>,
    pub(super) homes: Option<Homes>,
    /// How long a class could try both ways before the measured time, if it has tried.
    pub(super) settled: Option<Duration>,
    /// Only where the popularity oscillates.
    pub(super) parts: Option<Parts>,
}

/// Millions of operations per second while all objects are in use and while a sixteenth is, each
/// with and without the unsettled stretches.
pub(super) struct Parts {
    pub(super) many: f64,
    pub(super) few: f64,
    pub(super) many_settled: Option<f64>,
    pub(super) few_settled: Option<f64>,
}

/// Runs once and checks the result.
pub(super) fn perform(run: &Run) -> Result<Outcome, Fault> {
    let Spec { bench, access, objects, keys, object_bytes, zipf, steps, reads, .. } = run.spec;
    let words = object_bytes / size_of::<u64>();
    match bench {
        Bench::Directory => with::<_, Apart>(run, Directories(access)),
        Bench::Counters => counters(run, Counters(Evenly)),
        Bench::Map => with::<_, Apart>(run, Maps(keys)),
        Bench::Heap => with::<_, Apart>(run, Heaps(keys)),
        Bench::Scan => with::<_, Apart>(run, Scans { access, words }),
        Bench::Travel => with::<_, Apart>(run, Counters(InTurn)),
        Bench::Bank => with_pairs::<_, Apart>(run, Bank(Zipf::new(objects, zipf))),
        Bench::Graph => with::<_, Close>(run, Graph(objects)),
        Bench::Cache => {
            cache(run, Cache { keys, shards: objects, chosen: Zipf::new(keys, zipf), reads })
        }
        Bench::Histogram => counters(run, Counters(Bell)),
        Bench::Own => with::<_, Apart>(run, Counters(AfterOwnWork(steps))),
        Bench::Classes => with::<_, Apart>(run, Mixed(keys)),
    }
}

/// Runs a cache as one map that threads share, or as the shards of all other modes.
fn cache(run: &Run, cache: Cache) -> Result<Outcome, Fault> {
    match run.mode {
        Mode::DashMap => by_threads::<_, Dashes>(run, cache),
        _ => with::<_, Apart>(run, cache),
    }
}

/// Runs counters in the modes that only threads on counters have, or in a common one.
fn counters<C: Choice>(run: &Run, counters: Counters<C>) -> Result<Outcome, Fault> {
    match run.mode {
        Mode::Atomic => by_threads::<_, Atomics>(run, counters),
        Mode::Mutex => by_threads::<_, Locked<Apart, std::sync::Mutex<u64>>>(run, counters),
        Mode::ParkingLot => by_threads::<_, Locked<Apart, Blocking<u64>>>(run, counters),
        _ => with::<_, Apart>(run, counters),
    }
}

/// Runs a mode of operations on one object.
fn with<W: Work, S: Spacing>(run: &Run, work: W) -> Result<Outcome, Fault> {
    match run.mode {
        Mode::Spin => by_threads::<_, Locked<S, SpinMutex<W::Value>>>(run, work),
        Mode::TasksParkingLot => by_locking_tasks::<_, Locked<S, Blocking<W::Value>>>(run, work),
        Mode::TasksArc => by_locking_tasks::<_, Locks<S::Lone<Blocking<W::Value>>>>(run, work),
        Mode::TasksRwLock => {
            by_locking_tasks::<_, RwLocks<S::Lock<parking_lot::RwLock<W::Value>>>>(run, work)
        }
        Mode::TasksCombining => {
            by_tasks(run, |load, score| tasks::run_delegated(work, load, score, run.seed, None))
        }
        Mode::TasksShipping => by_tasks(run, |load, score| {
            tasks::run_delegated(work, load, score, run.seed, Some(load.workers))
        }),
        Mode::OneThread => by_one_thread(run, work, lone::one),
        Mode::InPlace | Mode::Home | Mode::Automatic if work.looks() => {
            by_tasks(run, |load, score| {
                tasks::run::<W, S, _>(work, load, score, run.seed, entries::looking::<W, S>)
            })
        }
        Mode::InPlace | Mode::Home | Mode::Automatic => by_tasks(run, |load, score| {
            tasks::run::<W, S, _>(work, load, score, run.seed, entries::one::<W, S>)
        }),
        Mode::Atomic | Mode::Mutex | Mode::ParkingLot | Mode::DashMap => unknown(run),
    }
}

/// Returns an error: a mode with another one's figures would mislead.
fn unknown(run: &Run) -> Result<Outcome, Fault> {
    Fault::check(format!("{} has no mode `{}`", run.spec.bench, run.mode))
}

/// The same as `with` for operations on two objects.
fn with_pairs<W: PairWork, S: Spacing>(run: &Run, work: W) -> Result<Outcome, Fault> {
    match run.mode {
        Mode::TasksArc => by_locking_tasks::<_, PairLocks<S::Lone<Blocking<W::Value>>>>(run, work),
        Mode::TasksParkingLot => {
            by_locking_tasks::<_, LockedPairs<S, Blocking<W::Value>>>(run, work)
        }
        Mode::OneThread => by_one_thread(run, work, lone::pair),
        Mode::InPlace | Mode::Home | Mode::Automatic => by_tasks(run, |load, score| {
            tasks::run::<W, S, _>(work, load, score, run.seed, entries::pair::<W, S>)
        }),
        Mode::Spin => by_threads::<_, LockedPairs<S, SpinMutex<W::Value>>>(run, work),
        _ => unknown(run),
    }
}

/// A lock that blocks its thread.
type Blocking<T> = parking_lot::Mutex<T>;

/// Such locks with the spacing `S`.
type Locked<S, L> = Locks<<S as Spacing>::Lock<L>>;
type LockedPairs<S, L> = PairLocks<<S as Spacing>::Lock<L>>;

fn by_threads<K: Kind, S: Shared<K>>(run: &Run, kind: K) -> Result<Outcome, Fault> {
    let (Spec { workers, objects, .. }, score) = (run.spec, run.score());
    outcome(run, &score, &threads::run::<K, S>(kind, workers, objects, &score, run.seed)?)
}

fn by_one_thread<K: Kind>(
    run: &Run,
    kind: K,
    operate: impl Fn(K, &mut [K::Value], &mut Party) -> Option<Done> + Sync,
) -> Result<Outcome, Fault> {
    let score = run.score();
    outcome(run, &score, &lone::run(kind, run.spec.objects, &score, run.seed, operate)?)
}

fn by_locking_tasks<K: Kind, S: Shared<K> + 'static>(run: &Run, kind: K) -> Result<Outcome, Fault> {
    by_tasks(run, |load, score| tasks::run_locked::<K, S>(kind, load, score, run.seed))
}

fn by_tasks(
    run: &Run,
    go: impl FnOnce(Load, &Arc<Score>) -> Result<Finished, Fault>,
) -> Result<Outcome, Fault> {
    let Spec { workers, objects, .. } = run.spec;
    let load = Load { mode: run.mode, workers, tasks: run.parties(), objects };
    let score = run.score();
    outcome(run, &score, &go(load, &score)?)
}

impl Run {
    /// The number of threads or tasks.
    fn parties(&self) -> usize {
        let tasks = self.spec.tasks_per_core.filter(|_| self.mode.has_tasks());
        match self.mode {
            Mode::OneThread => 1,
            _ => self.spec.workers * tasks.unwrap_or(1),
        }
    }

    fn score(&self) -> Arc<Score> {
        let Spec { popularity, period, time, objects, .. } = self.spec;
        let warm = if self.mode == Mode::Automatic { TRIED } else { WARM };
        let stretches = stretches(popularity, period, warm, time);
        // `Misses` counts the threads that start after it, and the run starts its threads later.
        Arc::new(Score::new(stretches, objects, self.parties()).counting(Misses::new()))
    }
}

/// The measured result, if the check succeeds.
fn outcome(run: &Run, score: &Score, finished: &Finished) -> Result<Outcome, Fault> {
    let Finished { performance, tallies, .. } = finished;
    check(finished)?;
    let sum = |wanted: fn(&Stretch) -> bool| {
        let ends = tallies.iter().map(|tally| &tally.ends[..]);
        score.sum(performance, ends, wanted)
    };
    let (operations, seconds) = sum(|_| true);
    let mops = |(operations, seconds): (u64, f64)| operations as f64 / seconds / 1e6;
    let settled = |wanted| Some(sum(wanted)).filter(|(_, seconds)| *seconds > 0.0).map(mops);
    let parts = (run.spec.popularity == Popularity::Oscillating).then(|| Parts {
        many: mops(sum(|stretch| !stretch.few)),
        few: mops(sum(|stretch| stretch.few)),
        many_settled: settled(|stretch| !stretch.few && !stretch.unsettled),
        few_settled: settled(|stretch| stretch.few && !stretch.unsettled),
    });
    let &Performance { growth: hops, misses, .. } = performance;
    let homes = finished.homes.clone();
    let settled = (run.mode == Mode::Automatic).then(|| score.settled(performance));
    Ok(Outcome { operations, seconds, hops, misses, homes, settled, parts })
}

/// Checks that no operation was lost, made twice or made halfway.
pub(super) fn check(finished: &Finished) -> Result<(), Fault> {
    let sum = |of: fn(&Tally) -> u64| finished.tallies.iter().map(of).sum::<u64>();
    let (added, wrong, made) = (sum(|t| t.added), sum(|t| t.wrong), sum(|t| t.operations));
    if wrong > 0 {
        return Fault::check(format!("{wrong} of {made} operations had a wrong result"));
    }
    if added != finished.held.added {
        let total = finished.held.added;
        return Fault::check(format!("{added} was added to the objects, and they have {total}"));
    }
    if finished.held.balance != 0 {
        let balance = finished.held.balance;
        return Fault::check(format!(
            "what was moved between objects comes to {balance}, not to 0"
        ));
    }
    Ok(())
}
