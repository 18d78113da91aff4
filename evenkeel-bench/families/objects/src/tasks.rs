//! The modes with tasks, on a runtime with pinned workers: their objects have homes, or ordinary
//! locks. [`entries`] has the body of a task.

use std::sync::Arc;

use evenkeel::object::{EnterError, Object, Placement};
use evenkeel::{JoinHandle, Runtime};

use super::bench::Mode;
use super::delegates::{self, Delegates};
use super::entries;
use super::homes::Homes;
use super::locks::Shared;
use super::party::{Party, Tally};
use super::run::Finished;
use super::score::{Performance, Score};
use super::spacing::Spacing;
use super::work::{Held, Kind, Work};
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// The objects of a run.
pub(super) type Objects<K, S> = Arc<[Object<<S as Spacing>::Object<<K as Kind>::Value>>]>;

/// The numbers of a run, and its mode.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) mode: Mode,
    pub(super) workers: usize,
    /// Tasks in all.
    pub(super) tasks: usize,
    pub(super) objects: usize,
}

/// Runs `load.tasks` tasks. The workers in turn become homes of the objects: for good, or, in
/// automatic runs, at first.
pub(super) fn run<K: Kind, S: Spacing, F>(
    kind: K,
    load: Load,
    score: &Arc<Score>,
    seed: u64,
    enter: impl Fn(K, Objects<K, S>, Party) -> F,
) -> Result<Finished, Fault>
where
    F: Future<Output = Result<Tally, EnterError>> + Send + 'static,
{
    let runtime = start(load)?;
    // Objects are made inside the runtime, because its workers are their homes.
    let objects: Objects<K, S> = runtime.block_on(async {
        (0..load.objects).map(|number| make::<K, S>(kind, load, number)).collect()
    });
    let homes = Homes::before(&objects, load.workers);
    let party = |number| Party::new(score, seed, number);
    let tasks = (0..load.tasks)
        .map(|number| runtime.spawn(enter(kind, objects.clone(), party(number))))
        .collect();
    let (performance, tallies) = conduct(&runtime, score, tasks);
    let homes = runtime.block_on(async { homes.after(&objects, load.mode, K::CLASSES) });
    let held = objects.iter().map(|object| object.call_blocking(|value| Held::by(kind, value)));
    let held: Result<Held, EnterError> = held.sum();
    let held = held.map_err(broken)?;
    Ok(Finished { performance, tallies: tallies?, held, homes: Some(homes) })
}

/// Runs `load.tasks` tasks on the same runtime, on objects that have a lock in place of a home.
pub(super) fn run_locked<K: Kind, S: Shared<K> + 'static>(
    kind: K,
    load: Load,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let runtime = start(load)?;
    let shared = Arc::new(S::new(kind, load.objects));
    let party = |number| Party::new(score, seed, number);
    let tasks = (0..load.tasks)
        .map(|number| runtime.spawn(entries::locked(kind, shared.clone(), party(number))))
        .collect();
    let (performance, tallies) = conduct(&runtime, score, tasks);
    Ok(Finished { performance, tallies: tallies?, held: shared.held(kind), homes: None })
}

/// Runs `load.tasks` tasks that delegate their operations: to any task, or to the tasks of `homes`
/// workers.
pub(super) fn run_delegated<W: Work>(
    work: W,
    load: Load,
    score: &Arc<Score>,
    seed: u64,
    homes: Option<usize>,
) -> Result<Finished, Fault> {
    let runtime = start(load)?;
    let shared = Arc::new(Delegates::new(work, load.objects, load.tasks, homes));
    let party = |number| Party::new(score, seed, number);
    let tasks = (0..load.tasks)
        .map(|number| runtime.spawn(delegates::party(work, shared.clone(), number, party(number))))
        .collect();
    let (performance, tallies) = conduct(&runtime, score, tasks);
    Ok(Finished { performance, tallies: tallies?, held: shared.held(work), homes: None })
}

fn start(load: Load) -> Result<Runtime, Fault> {
    let builder = evenkeel::Builder::new().workers(load.workers).pin(true);
    let runtime = builder.on_worker_start(delegates::note_worker).build();
    runtime.map_err(|error| Fault::Start(error.into()))
}

/// Conducts the tasks until the run is over, and collects their tallies.
fn conduct(
    runtime: &Runtime,
    score: &Score,
    tasks: Vec<JoinHandle<Result<Tally, EnterError>>>,
) -> (Performance, Result<Vec<Tally>, Fault>) {
    let performance = score.conduct(|| runtime.metrics().sum(|processor| processor.hops));
    let tallies = runtime.block_on(async {
        let mut tallies = Vec::with_capacity(tasks.len());
        for task in tasks {
            let tally = task.await.map_err(|error| Lost(error.to_string()))?;
            tallies.push(tally.map_err(broken)?);
        }
        Ok(tallies)
    });
    (performance, tallies)
}

fn make<K: Kind, S: Spacing>(kind: K, load: Load, number: usize) -> Object<S::Object<K::Value>> {
    let object = Object::new(kind.make(number).into());
    let class = K::CLASSES[number % K::CLASSES.len()];
    match load.mode {
        Mode::Home => object.placed(class, Placement::Home).at(number % load.workers),
        // Homes begin in turn here too, but a busy worker may give an object away.
        Mode::Automatic => object.placed(class, Placement::Automatic),
        // An object without a home has less to check.
        _ => object.placed(class, Placement::InPlace),
    }
}

fn broken(error: EnterError) -> Fault {
    Fault::Check(format!("an object could not be entered: {error}"))
}
