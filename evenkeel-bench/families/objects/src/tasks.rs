//! The modes with tasks: each enters one object after the other, on a runtime with pinned workers.
//! The object has a home, or an ordinary lock.

use std::sync::Arc;

use evenkeel::object::{EnterError, Object, Placement};
use evenkeel::{JoinHandle, Runtime};

use super::bench::Mode;
use super::homes::Homes;
use super::locks::Shared;
use super::party::{Choice, Party, Tally};
use super::run::Finished;
use super::score::{Performance, Score};
use super::work::Work;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// The class of the objects of a run, which has a runtime of its own.
const CLASS: &str = "objects";

/// A value on lines of its own. A small object takes little more than one line, so those that the
/// allocator puts side by side, whose homes are not the same, would share some.
#[repr(align(64))]
struct Apart<T>(T);

/// The objects of a run.
type Objects<W> = Arc<[Object<Apart<<W as Work>::Value>>]>;

/// How many workers there are, and what is on them.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) mode: Mode,
    pub(super) workers: usize,
    /// Tasks in all.
    pub(super) tasks: usize,
    pub(super) objects: usize,
    /// Bytes of one of them.
    pub(super) bytes: usize,
    pub(super) choice: Choice,
}

/// Runs as many tasks. Homes are dealt to the workers in turn: for good, or, in automatic runs, to
/// begin with.
pub(super) fn run<W: Work>(
    work: W,
    load: Load,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let runtime = start(load)?;
    // They are made where the runtime is known, whose workers are their homes.
    let objects: Objects<W> = runtime
        .block_on(async { (0..load.objects).map(|number| make(work, load, number)).collect() });
    let homes = Homes::before(&objects, load.workers);
    let party = |number| Party::new(score, load.choice, seed, number);
    let tasks = (0..load.tasks)
        .map(|number| runtime.spawn(go(work, objects.clone(), party(number))))
        .collect();
    let (performance, tallies) = conduct(&runtime, score, tasks);
    let homes = runtime.block_on(async { homes.after(&objects, load.mode, CLASS) });
    let totals = objects.iter().map(|object| object.call_blocking(|value| work.total(&value.0)));
    let total: Result<u64, EnterError> = totals.sum();
    let total = total.map_err(broken)?;
    Ok(Finished { performance, tallies: tallies?, total, homes: Some(homes) })
}

/// Runs as many tasks on the same runtime, on objects that have a lock in place of a home.
pub(super) fn run_locked<W: Work, S: Shared<W> + 'static>(
    work: W,
    load: Load,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let runtime = start(load)?;
    let shared = Arc::new(S::new(work, load.objects));
    let party = |number| Party::new(score, load.choice, seed, number);
    let tasks = (0..load.tasks)
        .map(|number| runtime.spawn(go_locked(work, shared.clone(), party(number))))
        .collect();
    let (performance, tallies) = conduct(&runtime, score, tasks);
    Ok(Finished { performance, tallies: tallies?, total: shared.total(work), homes: None })
}

fn start(load: Load) -> Result<Runtime, Fault> {
    let runtime = evenkeel::Builder::new().workers(load.workers).pin(true).build();
    runtime.map_err(|error| Fault::Start(error.into()))
}

/// Conducts the tasks until all is over, and collects what they have done.
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

fn make<W: Work>(work: W, load: Load, number: usize) -> Object<Apart<W::Value>> {
    let object = Object::new(Apart(work.make())).size_hint(load.bytes);
    match load.mode {
        Mode::Home => object.placed(CLASS, Placement::Home).at(number % load.workers),
        // Dealt out in turn too, as all are of one size; but a busy worker may give it away.
        Mode::Automatic => object.placed(CLASS, Placement::Automatic),
        // Without a home there is less to look at.
        _ => object.placed(CLASS, Placement::InPlace),
    }
}

/// A task. An `async fn` would have its arguments twice, as such and as variables, and take both
/// along.
#[allow(clippy::manual_async_fn, reason = "see above")]
fn go<W: Work>(
    work: W,
    objects: Objects<W>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some(number) = party.next() {
            let random = &mut party.random;
            let done = objects[number].with(|value| work.operate(&mut value.0, random)).await?;
            party.count(done);
        }
        Ok(party.into_tally())
    }
}

/// A task that takes an ordinary lock for each operation, and holds it over no wait. It gives way
/// as often as those that enter objects: else as many tasks as workers would have them for
/// themselves.
#[allow(clippy::manual_async_fn, reason = "as above")]
fn go_locked<W: Work, S: Shared<W> + 'static>(
    work: W,
    shared: Arc<S>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some(number) = party.next() {
            let done = shared.operate(number, work, &mut party.random);
            party.count(done);
            if party.gives_way() {
                evenkeel::yield_now().await;
            }
        }
        Ok(party.into_tally())
    }
}

fn broken(error: EnterError) -> Fault {
    Fault::Check(format!("an object could not be entered: {error}"))
}
