//! What single steps of tasks cost: wakes, polls, releases, acquisitions, spawns, ends, joins,
//! yields, and what the tasks of the experiments do beside them.
//!
//! They are measured apart from the experiments, which are made of them, so that a simulation can
//! say beforehand what an experiment gives.
//!
//! **Roles.** The *driver* is a task that wakes *followers*, which wait. It wakes all of them in
//! one poll, which is timed, and yields: each of them is polled and waits again before the driver
//! goes on, which is timed as well. There are as many drivers as workers, each with followers of
//! its own: they share nothing, but the runtime takes the precautions of several workers, and a
//! core may be slower beside another one that computes too.
//!
//! Where wakes and polls of tokens are timed, as for Cycle, a driver has a *partner* with as many
//! followers, and they take turns: while the followers of one are polled, those of the other are
//! ready, so the worker is never about to run out of work. The workers of Churn and Locality are,
//! since most of their tasks wait: releases and acquisitions have no partner.

use std::future::Future;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::crew;
use super::family::USUAL;
use super::locality::increment;
use suite::kit::fault::Fault;
use suite::kit::random::Random;
use suite::kit::runtime::{Lost, Parker, Runtime, Semaphores};

/// Turns of the driver. The first tenth of them does not count: the scheduler settles.
const TURNS: usize = 400;
/// Yields of a task, between two looks at the clock.
const YIELDS: usize = 1_000;
/// Times that a step without the scheduler is made in each task's memory, between two such looks:
/// it takes little more than a nanosecond.
const LAPS: usize = 10;

/// What steps cost, in nanoseconds: medians of the turns, on memory in the worker's own core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// A wake of a task that waits for its token.
    pub wake: f64,
    /// A poll of it, until it waits again.
    pub poll: f64,
    /// A release of a semaphore at which a task waits.
    pub release: f64,
    /// A poll of it, until it waits again.
    pub acquire: f64,
    /// A release of a semaphore at which no task waits, and the acquisition of that permit.
    pub returned: f64,
    /// A spawn of a task.
    pub spawn: f64,
    /// A poll of it, which completes it.
    pub complete: f64,
    /// Taking its result.
    pub join: f64,
    /// The increments of an operation of Locality.
    pub touch: f64,
    /// What a task does at each operation to count it, and to see whether it is the last.
    pub count: f64,
    /// A draw of a semaphore.
    pub draw: f64,
    /// A yield of a task that is alone at its worker.
    pub yields: f64,
}

/// Measures the steps on a runtime with `procs` workers, and `tasks` followers for each of them.
pub fn measure<R: Runtime>(procs: usize, tasks: usize) -> Result<Steps, Fault> {
    let (wake, poll) = tokens::<R>(procs, tasks)?;
    let (release, acquire) = permits::<R>(procs, tasks)?;
    let returned = returned::<R>(procs, tasks)?;
    let [touch, count, draw] = own_steps::<R>(procs, tasks)?;
    let yields = yields::<R>(procs)?;
    let [spawn, complete, join] = spawns::<R>(procs, tasks)?;
    let waits = Steps { wake, poll, release, acquire, returned, ..Steps::default() };
    Ok(Steps { spawn, complete, join, touch, count, draw, yields, ..waits })
}

/// How followers begin and end.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    is_over: AtomicBool,
}

/// A driver's times in a turn: of all its wakes, and until it goes on.
type Times = (Duration, Duration);

/// Takes the turns of a driver: `wake` wakes all followers.
async fn drive<R: Runtime>(wake: &impl Fn()) -> Vec<Times> {
    let mut times = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let begun = Instant::now();
        wake();
        let woken = Instant::now();
        R::yield_now().await;
        times.push((woken - begun, woken.elapsed()));
    }
    times
}

/// Returns the time of both steps for one of the `followers` of each of the drivers that take
/// turns. Until a driver goes on, its partner wakes its own followers, and all are polled.
fn each(times: &[Times], drivers: usize, followers: usize) -> (f64, f64) {
    let settled = &times[times.len() / 10..];
    let wakes = |times: &Times| times.0.as_nanos() as f64;
    let polls = |times: &Times| {
        let others = (drivers - 1) as f64 * wakes(times);
        (times.1.as_nanos() as f64 - others) / drivers as f64
    };
    (
        median(settled.iter().map(wakes).collect()) / followers as f64,
        median(settled.iter().map(polls).collect()) / followers as f64,
    )
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn tokens<R: Runtime>(procs: usize, tasks: usize) -> Result<(f64, f64), Fault> {
    let tasks = tasks.div_ceil(2);
    run::<R, _, _, _, _>(procs, 2, tasks, || {
        let tokens: Arc<[R::Parker]> = (0..tasks).map(|_| R::Parker::default()).collect();
        let gate = Arc::<Gate>::default();
        let follow = {
            let (tokens, gate) = (tokens.clone(), gate.clone());
            move |number: usize| {
                let (token, gate) = (tokens[number].clone(), gate.clone());
                async move {
                    token.attach().await;
                    gate.arrived.fetch_add(1, Ordering::Release);
                    while !gate.is_over.load(Ordering::Relaxed) {
                        token.park().await;
                    }
                }
            }
        };
        let wake = move || {
            let unparkers: Vec<_> = tokens.iter().map(Parker::unparker).collect();
            move || unparkers.iter().for_each(R::Parker::unpark)
        };
        Crew { gate, follow, wake }
    })
}

fn permits<R: Runtime>(procs: usize, tasks: usize) -> Result<(f64, f64), Fault> {
    run::<R, _, _, _, _>(procs, 1, tasks, || {
        let row = Arc::new(R::Permits::new(tasks, tasks));
        let gate = Arc::<Gate>::default();
        let follow = {
            let (row, gate) = (row.clone(), gate.clone());
            move |number: usize| {
                let (row, gate) = (row.clone(), gate.clone());
                let mut seat = row.seat(number);
                async move {
                    gate.arrived.fetch_add(1, Ordering::Release);
                    while !gate.is_over.load(Ordering::Relaxed) {
                        row.acquire(number, &mut seat).await;
                    }
                }
            }
        };
        // In no order that a processor's caches foresee.
        let order = shuffled(tasks);
        let wake = move || move || order.iter().for_each(|&spot| row.release(spot, ()));
        Crew { gate, follow, wake }
    })
}

/// Returns the numbers below `count` in a random order.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    Random::new(1, 0).shuffle(&mut order);
    order
}

/// Returns how long a task takes to release a permit that it then acquires itself.
fn returned<R: Runtime>(procs: usize, tasks: usize) -> Result<f64, Fault> {
    let order = shuffled(tasks);
    let [time] = beside::<R, _, 1>(procs, move |_| {
        let (row, order) = (Arc::new(R::Permits::new(tasks, 1)), order.clone());
        async move {
            let mut seat = row.seat(0);
            let mut times = Vec::with_capacity(TURNS);
            for _ in 0..TURNS {
                let begun = Instant::now();
                for &spot in &order {
                    row.release(spot, ());
                    row.acquire(spot, &mut seat).await;
                }
                times.push(begun.elapsed().as_nanos() as f64 / order.len() as f64);
            }
            [median(times)]
        }
    })?;
    Ok(time)
}

/// Returns how long it takes to spawn a task, to poll it to its end, and to take its result. Each
/// spawner has as many tasks at a time, which are complete before it joins the first of them.
fn spawns<R: Runtime>(procs: usize, tasks: usize) -> Result<[f64; 3], Fault> {
    beside::<R, _, 3>(procs, move |_| async move {
        let mut children = Vec::with_capacity(tasks);
        let mut times = [(); 3].map(|()| Vec::with_capacity(TURNS));
        for _ in 0..TURNS {
            let begun = Instant::now();
            children.extend((0..tasks).map(|number| R::spawn(async move { number })));
            let spawned = Instant::now();
            R::yield_now().await;
            let complete = Instant::now();
            let mut right = 0;
            for (number, child) in children.drain(..).enumerate() {
                right += usize::from(child.await.is_ok_and(|result| result == number));
            }
            let steps = [spawned - begun, complete - spawned, complete.elapsed()];
            // The driver is told that this task is lost.
            assert_eq!(right, tasks, "a join has not brought its task's result");
            for (times, step) in times.iter_mut().zip(steps) {
                times.push(step.as_nanos() as f64 / tasks as f64);
            }
        }
        times.map(median)
    })
}

/// Returns how long it takes what tasks do without the scheduler: the increments of an operation of
/// Locality, counting an operation, and drawing a semaphore.
fn own_steps<R: Runtime>(procs: usize, tasks: usize) -> Result<[f64; 3], Fault> {
    let (words, touches) = USUAL;
    let random = |number| Random::new(2, number);
    let array = move |number| (vec![0; words].into_boxed_slice(), random(number));
    let touch = own::<R, _>(procs, tasks, array, move |(array, random)| {
        increment(array, touches, random);
    })?;
    let gate = Arc::<crew::Gate>::default();
    let meter = move |_| crew::Meter::new(gate.clone());
    let count = own::<R, _>(procs, tasks, meter, |meter| _ = hint::black_box(meter.count(1)))?;
    let draw = own::<R, _>(procs, tasks, random, move |random| {
        _ = hint::black_box(random.below(tasks));
    })?;
    Ok([touch, count, draw])
}

/// Returns how long a step takes in the memory of each of as many tasks, in no order that a
/// processor's caches foresee.
fn own<R: Runtime, S: Send + 'static>(
    procs: usize,
    tasks: usize,
    memory: impl Fn(usize) -> S + Clone + Send + 'static,
    step: impl Fn(&mut S) + Clone + Send + 'static,
) -> Result<f64, Fault> {
    let order = shuffled(tasks);
    let [time] = beside::<R, _, 1>(procs, move |_| {
        let (order, memory, step) = (order.clone(), memory.clone(), step.clone());
        async move {
            let mut all: Vec<S> = (0..order.len()).map(memory).collect();
            let mut times = Vec::with_capacity(TURNS);
            for _ in 0..TURNS {
                let begun = Instant::now();
                for _ in 0..LAPS {
                    for &number in &order {
                        step(&mut all[number]);
                    }
                }
                times.push(begun.elapsed().as_nanos() as f64 / (LAPS * order.len()) as f64);
            }
            // What is never read would not be written either.
            hint::black_box(all);
            [median(times)]
        }
    })?;
    Ok(time)
}

/// A driver's followers. `wake` is called once all of them wait, and returns what wakes them.
struct Crew<F, W> {
    gate: Arc<Gate>,
    follow: F,
    wake: W,
}

impl<F, N, W, K> Crew<F, W>
where
    F: Fn(usize) -> N,
    N: Future<Output = ()> + Send + 'static,
    W: FnOnce() -> K,
{
    /// Spawns the followers, and waits until they have begun.
    async fn muster<R: Runtime>(
        self,
        followers: usize,
    ) -> Mustered<K, impl Future<Output = Result<(), Lost>>> {
        let Self { gate, follow, wake } = self;
        let tasks: Vec<_> = (0..followers).map(|number| R::spawn(follow(number))).collect();
        while gate.arrived.load(Ordering::Acquire) < followers {
            R::yield_now().await;
        }
        Mustered { gate, wake: wake(), tasks }
    }
}

/// The followers of a driver, which wait.
struct Mustered<K, J> {
    gate: Arc<Gate>,
    wake: K,
    tasks: Vec<J>,
}

impl<K: Fn(), J: Future<Output = Result<(), Lost>>> Mustered<K, J> {
    async fn end(self) -> Result<(), Lost> {
        self.gate.is_over.store(true, Ordering::Release);
        (self.wake)();
        for task in self.tasks {
            task.await?;
        }
        Ok(())
    }
}

/// Starts a runtime with `drivers` that take turns for each worker, with a crew of `followers`
/// each, and returns the time of both steps, the mean over the workers.
fn run<R, F, N, W, K>(
    procs: usize,
    drivers: usize,
    followers: usize,
    crew: impl Fn() -> Crew<F, W>,
) -> Result<(f64, f64), Fault>
where
    R: Runtime,
    F: Fn(usize) -> N + Send + 'static,
    N: Future<Output = ()> + Send + 'static,
    W: FnOnce() -> K + Send + 'static,
    K: Fn() + Send + Sync + 'static,
{
    let runtime = R::start(procs).map_err(Fault::Start)?;
    let crews = |_| -> Vec<_> { (0..drivers).map(|_| crew()).collect() };
    let crews: Vec<_> = (0..procs).map(crews).collect();
    let root = async move {
        let lead = |crews| R::spawn(lead::<R, _, _, _, _>(crews, followers));
        let leading: Vec<_> = crews.into_iter().map(lead).collect();
        let (mut first, mut second) = (0.0, 0.0);
        for driver in leading {
            let times = each(&driver.await??, drivers, followers);
            first += times.0 / procs as f64;
            second += times.1 / procs as f64;
        }
        Ok::<_, Lost>((first, second))
    };
    Ok(runtime.block_on(async { R::spawn(root).await })??)
}

/// Drives the followers of one of the crews, beside partners that drive those of the others.
async fn lead<R, F, N, W, K>(crews: Vec<Crew<F, W>>, followers: usize) -> Result<Vec<Times>, Lost>
where
    R: Runtime,
    F: Fn(usize) -> N + Send + 'static,
    N: Future<Output = ()> + Send + 'static,
    W: FnOnce() -> K + Send + 'static,
    K: Fn() + Send + Sync + 'static,
{
    let mut mustered = Vec::new();
    for crew in crews {
        mustered.push(crew.muster::<R>(followers).await);
    }
    // A worker has a driver at least.
    let Some(own) = mustered.pop() else { return Ok(Vec::new()) };
    let gates: Vec<_> = mustered.iter().map(|other| other.gate.clone()).collect();
    let partner = |other: Mustered<K, _>| {
        R::spawn(async move {
            while !other.gate.is_over.load(Ordering::Relaxed) {
                (other.wake)();
                R::yield_now().await;
            }
            other.end().await
        })
    };
    let partners: Vec<_> = mustered.into_iter().map(partner).collect();
    let times = drive::<R>(&own.wake).await;
    gates.iter().for_each(|gate| gate.is_over.store(true, Ordering::Relaxed));
    own.end().await?;
    for partner in partners {
        partner.await??;
    }
    Ok(times)
}

/// Returns how long a yield takes while as many tasks as workers do nothing else.
fn yields<R: Runtime>(procs: usize) -> Result<f64, Fault> {
    let [time] = beside::<R, _, 1>(procs, |_| async {
        let mut times = Vec::with_capacity(TURNS);
        for _ in 0..TURNS {
            let begun = Instant::now();
            for _ in 0..YIELDS {
                R::yield_now().await;
            }
            times.push(begun.elapsed().as_nanos() as f64 / YIELDS as f64);
        }
        [median(times)]
    })?;
    Ok(time)
}

/// Starts a runtime, and returns the means of what its tasks return, as many as workers, which run
/// beside each other.
fn beside<R, F, const N: usize>(
    procs: usize,
    task: impl Fn(usize) -> F + Send + 'static,
) -> Result<[f64; N], Fault>
where
    R: Runtime,
    F: Future<Output = [f64; N]> + Send + 'static,
{
    let runtime = R::start(procs).map_err(Fault::Start)?;
    let root = async move {
        let running: Vec<_> = (0..procs).map(|number| R::spawn(task(number))).collect();
        let mut means = [0.0; N];
        for one in running {
            for (mean, time) in means.iter_mut().zip(one.await?) {
                *mean += time / procs as f64;
            }
        }
        Ok::<_, Lost>(means)
    };
    Ok(runtime.block_on(async { R::spawn(root).await })??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::kit::runtime::evenkeel::Evenkeel;
    use suite::kit::runtime::tokio_hand::TokioHand;

    fn take_time<R: Runtime>(procs: usize) {
        let found = measure::<R>(procs, 10).unwrap();
        let Steps { wake, poll, release, acquire, returned, yields, .. } = found;
        let Steps { spawn, complete, join, touch, count, draw, .. } = found;
        let waits = [wake, poll, release, acquire, returned, yields];
        for step in waits.into_iter().chain([spawn, complete, join, touch, count, draw]) {
            assert!(step > 0.0, "{} on {procs}: {step}", R::NAME);
        }
    }

    #[test]
    fn every_step_takes_time_and_ends() {
        for procs in [1, 2] {
            take_time::<Evenkeel>(procs);
            take_time::<TokioHand>(procs);
        }
    }

    #[test]
    fn the_median_of_the_settled_turns_counts_for_one_follower() {
        let (first, then) = (Duration::from_secs(1), Duration::from_nanos(40));
        let times: Vec<Times> =
            (0..20).map(|turn| if turn < 2 { (first, first) } else { (then, 5 * then) }).collect();
        assert_eq!(each(&times, 1, 10), (4.0, 20.0));
        assert_eq!(each(&times, 2, 10), (4.0, 8.0));
    }
}
