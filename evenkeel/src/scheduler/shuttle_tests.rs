//! The whole scheduler under shuttle: workers, tasks and outside threads, by random and by priority-based (PCT)
//! schedules.
//!
//! Memory is sequentially consistent here; the orders of memory are the business of the loom models. A lost
//! wake-up shows as a deadlock, a task that is lost or polled twice as a failed assertion.
//!
//! `EVENKEEL_SHUTTLE_ITERATIONS` sets the number of schedules of each kind for each test. A failure prints its
//! seed and its schedule, which `shuttle::replay` runs again.

mod ends;
mod moves;
mod relief;
mod sleepers;
mod timers;

use super::neighbours::Neighbours;
use super::relief::Starter;
use super::seat::Seat;
use super::shared::{Hooks, Phase, Shared};
use super::timers::Rules;
use super::worker;
use crate::policy::Locality;
use crate::primitives::{Mutex, clock, lock};
use crate::runtime::blocking::Pool;
use crate::runtime::{Handle, block_on, enter};
use crate::task::{self, JoinHandle};
use crate::topology::Topology;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// Schedules of each kind for each test: all tests together take some seconds.
const ITERATIONS: usize = 3_000;

/// Changes of priority within one PCT schedule: the depth of the errors that it is sure to find at a known rate.
const DEPTH: usize = 3;

/// Far more steps than any schedule needs: beyond this somebody runs in circles.
const STEPS: usize = 2_000_000;

/// The schedules of every run, which are the same each time.
const SEED: u64 = 0x5EED;

/// A tick of the timers, in nanoseconds: a few looks at the clock.
const TICK: u64 = 1 << 15;

/// Runs `scenario` on a scheduler with this many workers, under many schedules. In the end the runtime drains.
pub(crate) fn check(workers: usize, scenario: fn(&Arc<Shared>)) {
    check_until(workers, Phase::Draining, scenario);
}

/// The same, with a relief whose thread the system grants or refuses.
fn check_relieved(workers: usize, granted: bool, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let places: Vec<_> = (0..workers).collect();
        let neighbours = Neighbours::with_relief(&Topology::flat(workers), &places);
        execute(neighbours, Some(granted), Phase::Draining, scenario);
    });
}

/// The same, with another end.
fn check_until(workers: usize, end: Phase, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let neighbours = (0..workers).map(|me| Neighbours::flat(me, workers));
        execute(neighbours.collect(), None, end, scenario);
    });
}

fn check_with(run: impl Fn() + Copy + Send + Sync + 'static) {
    let iterations = std::env::var("EVENKEEL_SHUTTLE_ITERATIONS")
        .map_or(ITERATIONS, |count| count.parse().expect("a number of iterations"));
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEPS);
    let random = RandomScheduler::new_from_seed(SEED, iterations);
    Runner::new(random, config.clone()).run(run);
    let pct = PctScheduler::new_from_seed(SEED, DEPTH, iterations);
    Runner::new(pct, config).run(run);
}

fn execute(
    neighbours: Box<[Neighbours]>,
    relief: Option<bool>,
    end: Phase,
    scenario: fn(&Arc<Shared>),
) {
    clock::restart();
    let (shared, seats) = Seat::all(
        neighbours,
        Locality::default(),
        Hooks::default(),
        relief.is_some(),
        Rules::new(TICK),
    );
    let pool = Arc::new(Pool::new(shared.clone(), "model".to_owned(), None));
    let start = |seat| {
        let handle = Handle::new(shared.clone(), pool.clone());
        thread::spawn(move || {
            let _entered = enter::enter(&handle);
            worker::work(seat);
        })
    };
    let threads: Vec<_> = seats.map(start).collect();
    let threads = Arc::new(Mutex::new(threads));
    if let Some(granted) = relief {
        let threads = threads.clone();
        let start = move |seat| {
            if granted {
                lock(&threads).push(thread::spawn(move || super::relief::work(seat)));
            }
            granted
        };
        shared.starter.set(Starter(Box::new(start))).expect("it is set once");
    }
    scenario(&shared);
    shared.advance(end);
    // No thread is started any more once a worker has left.
    while let Some(thread) = { lock(&threads).pop() } {
        thread.join().expect("a worker does not panic");
    }
    assert!(shared.close_if_complete());
    let left = shared.processors.iter().map(|processor| processor.counters.registered());
    assert_eq!(left.sum::<u64>(), 0, "no task is left in a registry");
}

#[track_caller]
pub(crate) fn spawn<F>(shared: &Arc<Shared>, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    super::spawn::on(shared, |birth| task::make(future, (), Location::caller(), birth))
}

pub(crate) fn join<T>(handle: JoinHandle<T>) -> T {
    block_on(handle).expect("the task does not panic")
}
