//! The tasks of an experiment.

use super::machine::Distance;
use super::prices::Prices;
use super::{Experiment, RING, Run};
use crate::random::Random;
use crate::runtime::Seat;
use crate::runtime::load::{Load, Poll};
use crate::runtime::task::{Place, Task, Then};
use std::collections::VecDeque;
use std::ops::Range;

/// What a run begins with: its tasks, and where those that are ready are queued.
type Start = (Vec<Task>, Vec<(usize, usize)>);

/// The tasks, and where their memory is. A task has two lines: a wake moves its header, a poll the
/// rest; after a steal it moves both, of which one is counted. A semaphore has one.
#[derive(Debug)]
pub(super) struct Crew {
    experiment: Experiment,
    prices: Prices,
    seats: Vec<Seat>,
    tasks: usize,
    /// The worker at which each task was polled or woken last.
    at: Vec<usize>,
    /// The worker that used each semaphore last, and the tasks that wait there.
    spots: Vec<(usize, VecDeque<usize>)>,
    random: Vec<Random>,
    /// The parts of nanoseconds that each worker has not spent yet.
    rest: Vec<f64>,
    measured: Range<u64>,
    ops: u64,
}

impl Crew {
    pub(super) fn new(run: &Run, measured: Range<u64>) -> Self {
        let Run { experiment, machine, processors, tasks, seed, prices } = *run;
        let rings = if experiment == Experiment::Cycle { RING } else { 1 };
        let tasks = processors * tasks * rings;
        let spots = match experiment {
            Experiment::Churn => spots(tasks, processors),
            Experiment::Cycle | Experiment::Yield => 0,
        };
        let home = |task| task * processors / tasks;
        let mut random: Vec<_> = (0..tasks).map(|task| Random::new(seed, task)).collect();
        let mut spots = vec![(0, VecDeque::new()); spots];
        // As many tasks as there are semaphores begin as waiters.
        let waiters = spots.len().min(tasks - 1);
        for (task, random) in random.iter_mut().enumerate().take(waiters) {
            let spot = random.below(spots.len());
            spots[spot].0 = home(task);
            spots[spot].1.push_back(task);
        }
        Self {
            experiment,
            prices,
            seats: (0..processors).map(|worker| machine.seat(worker)).collect(),
            tasks,
            at: (0..tasks).map(home).collect(),
            spots,
            random,
            rest: vec![0.0; processors],
            measured,
            ops: 0,
        }
    }

    /// Returns the operations in the measured time.
    pub(super) fn ops(&self) -> u64 {
        self.ops
    }

    /// Returns the tasks: each begins at one of the workers, ready or waiting.
    pub(super) fn start(&self) -> Start {
        let length = self.nominal().ceil() as u64;
        let mut tasks: Vec<Task> =
            (0..self.tasks).map(|_| Task::new(length..=length, u64::MAX)).collect();
        let waits = |task: usize| match self.experiment {
            Experiment::Cycle => !task.is_multiple_of(RING),
            Experiment::Yield => false,
            Experiment::Churn => task < self.spots.len().min(self.tasks - 1),
        };
        let mut queued = Vec::new();
        for (number, task) in tasks.iter_mut().enumerate() {
            if waits(number) {
                task.place = Place::Parked;
            } else {
                queued.push((self.at[number], number));
            }
        }
        (tasks, queued)
    }

    /// Returns how long a poll lasts with all in the core's own cache.
    fn nominal(&self) -> f64 {
        let Prices { wake, poll, yields, release, acquire, .. } = self.prices;
        match self.experiment {
            Experiment::Cycle => wake + poll,
            Experiment::Yield => yields,
            Experiment::Churn => release + acquire,
        }
    }

    /// Returns how long it takes worker `me` to get a line that `other` has used last.
    fn line(&self, me: usize, other: usize) -> f64 {
        if me == other {
            return 0.0;
        }
        self.prices.line_over(Distance::between(self.seats[me], self.seats[other]))
    }

    /// A task takes its token and passes it on.
    fn pass(&mut self, task: usize, me: usize) -> (f64, Option<usize>) {
        let ring = task - task % RING;
        let next = ring + (task - ring + 1) % RING;
        let Prices { poll, wake, .. } = self.prices;
        let lines = self.line(me, self.at[task]) + self.line(me, self.at[next]);
        self.at[next] = me;
        (poll + wake + lines, Some(next))
    }

    /// A task pushes the one that has waited longest out of a semaphore, and waits there. If none
    /// waits, it takes its own permit back, and goes on.
    fn push_out(&mut self, task: usize, me: usize) -> (f64, Option<usize>, u64) {
        let Prices { acquire, release, returned, .. } = self.prices;
        let mut length = acquire + self.line(me, self.at[task]);
        let mut ops = 0;
        loop {
            ops += 1;
            let spot = self.random[task].below(self.spots.len());
            length += self.line(me, self.spots[spot].0);
            self.spots[spot].0 = me;
            let Some(woken) = self.spots[spot].1.pop_front() else {
                length += returned;
                continue;
            };
            self.spots[spot].1.push_back(task);
            length += release + self.line(me, self.at[woken]);
            self.at[woken] = me;
            return (length, Some(woken), ops);
        }
    }
}

impl Load for Crew {
    fn begin(&mut self, number: usize, _task: &mut Task, me: usize, now: u64) -> Poll {
        let (length, wakes, ops, then) = match self.experiment {
            Experiment::Cycle => {
                let (length, wakes) = self.pass(number, me);
                (length, wakes, 1, Then::Park)
            }
            Experiment::Yield => {
                let length = self.prices.yields + self.line(me, self.at[number]);
                (length, None, 1, Then::Yield)
            }
            Experiment::Churn => {
                let (length, wakes, ops) = self.push_out(number, me);
                (length, wakes, ops, Then::Park)
            }
        };
        self.at[number] = me;
        if self.measured.contains(&now) {
            self.ops += ops;
        }
        let exact = length + self.rest[me];
        self.rest[me] = exact.fract();
        Poll { length: exact as u64, spawns: 0..0, wakes, then }
    }
}

/// Returns the number of semaphores: half as many as tasks, and at most tasks less processors.
fn spots(tasks: usize, processors: usize) -> usize {
    (tasks / 2).min(tasks.saturating_sub(processors)).max(1)
}
