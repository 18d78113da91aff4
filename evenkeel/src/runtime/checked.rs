//! Runs scenarios on whole schedulers under shuttle, by random and by priority-based (PCT)
//! schedules: for the library's tests and those of the crates that depend on it.
//!
//! `EVENKEEL_SHUTTLE_ITERATIONS` sets the number of schedules of each kind for each test. A failure
//! prints its seed and its schedule, which `shuttle::replay` runs again.

use super::Handle;
use crate::policy::Locality;
use crate::primitives::{Mutex, clock, lock};
use crate::processor::current;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Starter;
use crate::processor::shared::{Hooks, Phase, Shared};
use crate::scheduler::spare;
use crate::scheduler::{lookout, relief, work};
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::sync::Arc;

/// Schedules of each kind for each test, unless the environment says otherwise. A choice: a test
/// takes some seconds.
const ITERATIONS: usize = 3_000;

/// Changes of priority within one PCT schedule: the depth of the errors that it is sure to find at
/// a known rate.
const DEPTH: usize = 3;

/// Far more steps than any schedule needs: beyond this some thread loops for ever.
const STEPS: usize = 2_000_000;

/// The stack of a thread: twice as much as usual, for processors are made there, and the checker's
/// atomics are large.
const STACK: usize = 1 << 16;

/// The seed of all schedules, so that each run has the same ones.
const SEED: u64 = 0x5EED;

/// A tick of the timers, in nanoseconds: a few reads of the clock.
pub(crate) const TICK: u64 = 1 << 15;

/// Runs `scenario` beside a runtime with `workers` workers, under many schedules. At the end the
/// runtime drains: a task that waits for ever is a deadlock.
pub fn check(workers: usize, scenario: fn(&Handle)) {
    check_with(move || {
        let neighbours = (0..workers).map(|me| Neighbours::flat(me, workers));
        execute(neighbours.collect(), None, Phase::Draining, |_, handle| scenario(handle));
    });
}

/// Runs `run` under many schedules.
pub(crate) fn check_with(run: impl Fn() + Copy + Send + Sync + 'static) {
    let iterations = std::env::var("EVENKEEL_SHUTTLE_ITERATIONS")
        .map_or(ITERATIONS, |count| count.parse().expect("a number of iterations"));
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.stack_size = STACK;
    let random = RandomScheduler::new_from_seed(SEED, iterations);
    Runner::new(random, config.clone()).run(run);
    let pct = PctScheduler::new_from_seed(SEED, DEPTH, iterations);
    Runner::new(pct, config).run(run);
}

/// Runs `scenario` once beside processors with these neighbours, until the runtime has reached
/// `end`. With `relief`, there is a relief, and the system grants or refuses its thread.
pub(crate) fn execute(
    neighbours: Box<[Neighbours]>,
    relief: Option<bool>,
    end: Phase,
    scenario: impl FnOnce(&Arc<Shared>, &Handle),
) {
    clock::restart();
    let (shared, seats) = Seat::all(
        neighbours,
        Locality::default(),
        Hooks::default(),
        if relief.is_some() { 2 } else { 0 },
        Rules::new::<WordWaker>(TICK),
    );
    let start = |seat| {
        let shared = shared.clone();
        thread::spawn(move || {
            let _entered = current::enter(&shared);
            work::work(seat);
        })
    };
    let threads: Vec<_> = seats.map(start).collect();
    let threads = Arc::new(Mutex::new(threads));
    if let Some(granted) = relief {
        let reliefs = threads.clone();
        let start = move |shared, number| {
            if granted {
                lock(&reliefs).push(thread::spawn(move || relief::work(shared, number)));
            }
            granted
        };
        shared.relief_starter.set(Starter(Box::new(start))).expect("it is set once");
        let threads = threads.clone();
        let start = move |shared: Arc<Shared>, _| {
            lock(&threads).push(thread::spawn(move || lookout::work(&shared)));
            true
        };
        shared.lookout_starter.set(Starter(Box::new(start))).expect("it is set once");
    }
    let spares = {
        let threads = threads.clone();
        move |shared: Arc<Shared>, number| {
            lock(&threads).push(thread::spawn(move || {
                let _entered = current::enter(&shared);
                spare::work(shared, number);
            }));
            true
        }
    };
    shared.spare_starter.set(Starter(Box::new(spares))).expect("it is set once");
    scenario(&shared, &Handle::new(shared.clone()));
    shared.advance(end);
    // No thread is started any more once a worker has left.
    while let Some(thread) = { lock(&threads).pop() } {
        thread.join().expect("a worker does not panic");
    }
    assert!(shared.close_if_complete());
    let left = shared.processors.iter().map(|processor| processor.counters.registered());
    assert_eq!(left.sum::<u64>(), 0, "no task is left in a registry");
}
