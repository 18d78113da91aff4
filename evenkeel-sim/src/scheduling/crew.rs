//! The tasks of an experiment.

use super::machine::Distance;
use super::prices::Prices;
use super::semaphores::Semaphores;
use super::transfer::Helm;
use super::{Experiment, PAIR, RING, Run, SLEEP};
use crate::random::Random;
use crate::runtime::Seat;
use crate::runtime::load::{Load, Poll, Release};
use crate::runtime::task::{NEVER, Place, Task, Then};
use std::ops::Range;

/// What a run begins with: its tasks, and where those that are ready are queued.
type Start = (Vec<Task>, Vec<(usize, usize)>);

/// The tasks, and where their memory is. A task counts as one line, which a wake or a poll takes:
/// its lines are side by side, and come together. So do a semaphore and an array.
#[derive(Debug)]
pub(super) struct Crew {
    experiment: Experiment,
    prices: Prices,
    seats: Vec<Seat>,
    tasks: usize,
    /// The worker at which each task was polled or woken last.
    at: Vec<usize>,
    /// The worker that has used each task's array last.
    arrays: Vec<usize>,
    semaphores: Semaphores,
    helm: Helm,
    random: Vec<Random>,
    /// The parts of nanoseconds that each worker has not spent yet.
    rest: Vec<f64>,
    measured: Range<u64>,
    ops: u64,
}

/// What a poll does, before it is rounded to whole nanoseconds.
struct Done {
    length: f64,
    wakes: Option<usize>,
    ops: u64,
    then: Then,
    release: Option<Release>,
}

impl Done {
    fn new(length: f64, wakes: Option<usize>, ops: u64, then: Then) -> Self {
        Self { length, wakes, ops, then, release: None }
    }
}

impl Crew {
    pub(super) fn new(run: &Run, measured: Range<u64>) -> Self {
        let Run { experiment, machine, processors, tasks, seed, prices, .. } = *run;
        let group = match experiment {
            Experiment::Cycle => RING,
            Experiment::Spawn => PAIR,
            _ => 1,
        };
        let tasks = processors * tasks * group;
        let home = |task| task * processors / tasks;
        let mut random: Vec<_> = (0..tasks).map(|task| Random::new(seed, task)).collect();
        let semaphores = match experiment {
            Experiment::Churn => Semaphores::drawn(tasks, processors, &mut random, home),
            Experiment::Locality { .. } => Semaphores::in_order(tasks, processors, home),
            _ => Semaphores::default(),
        };
        Self {
            experiment,
            prices,
            seats: (0..processors).map(|worker| machine.seat(worker)).collect(),
            tasks,
            at: (0..tasks).map(home).collect(),
            arrays: (0..tasks).map(home).collect(),
            semaphores,
            helm: Helm::new(tasks),
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

    /// Returns the number of transfers between the first and the last one in the measured time, and
    /// how long they took.
    pub(super) fn transfers(&self) -> (u64, u64) {
        self.helm.transfers()
    }

    /// Returns the tasks: each begins at one of the workers, ready or waiting.
    pub(super) fn start(&self) -> Start {
        let length = self.nominal().ceil() as u64;
        let mut tasks: Vec<Task> =
            (0..self.tasks).map(|_| Task::new(length..=length, u64::MAX)).collect();
        let waits = |task: usize| match self.experiment {
            Experiment::Cycle => !task.is_multiple_of(RING),
            Experiment::Spawn => !task.is_multiple_of(PAIR),
            Experiment::Yield | Experiment::Sleep | Experiment::Transfer { .. } => false,
            Experiment::End => true,
            Experiment::Churn | Experiment::Locality { .. } => task < self.semaphores.waiters(),
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
        let Prices { wake, poll, yields, release, acquire, touch, .. } = self.prices;
        let Prices { spawn, complete, join, sleep, abort, count, draw, .. } = self.prices;
        match self.experiment {
            Experiment::Cycle => wake + poll + count,
            Experiment::Spawn => (poll + spawn + join + count).max(complete + wake),
            Experiment::Yield => yields + count,
            Experiment::Sleep => sleep + count + draw,
            Experiment::End => abort,
            Experiment::Churn => release + acquire + count + draw,
            Experiment::Locality { .. } => release + acquire + touch + count + draw,
            Experiment::Transfer { .. } => yields,
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
    fn pass(&mut self, task: usize, me: usize) -> Done {
        let ring = task - task % RING;
        let next = ring + (task - ring + 1) % RING;
        let Prices { poll, wake, count, .. } = self.prices;
        let lines = self.line(me, self.at[task]) + self.line(me, self.at[next]);
        self.at[next] = me;
        Done::new(poll + count + wake + lines, Some(next), 1, Then::Park)
    }

    /// A task takes the result of the one that it has spawned, and spawns the next one, whose
    /// memory is with the worker that had the last one; or a spawned task completes, and wakes the
    /// first.
    fn spawn(&mut self, task: usize, me: usize) -> Done {
        let is_spawner = task.is_multiple_of(PAIR);
        let other = if is_spawner { task + 1 } else { task - 1 };
        let Prices { poll, wake, spawn, complete, join, count, .. } = self.prices;
        let steps = if is_spawner { poll + join + count + spawn } else { complete + wake };
        let lines = self.line(me, self.at[task]) + self.line(me, self.at[other]);
        self.at[other] = me;
        Done::new(steps + lines, Some(other), u64::from(is_spawner), Then::Park)
    }

    /// A task pushes the one that has waited longest out of a semaphore, and waits there. If none
    /// waits, it takes its own permit back, and goes on.
    fn push_out(&mut self, task: usize, me: usize) -> Done {
        let Prices { acquire, release, returned, count, draw, .. } = self.prices;
        let mut length = acquire + self.line(me, self.at[task]);
        let mut ops = 0;
        loop {
            ops += 1;
            length += self.touch(task, me) + count + draw;
            let spot = self.random[task].below(self.semaphores.len());
            let (last, woken) = self.semaphores.push_out(spot, task, me);
            length += self.line(me, last);
            let Some(woken) = woken else {
                length += returned;
                continue;
            };
            length += release + self.line(me, self.at[woken]);
            self.at[woken] = me;
            if self.experiment == (Experiment::Locality { shares: true }) {
                // It gets the array that this task has just used.
                self.arrays[woken] = me;
            }
            return Done::new(length, Some(woken), ops, Then::Park);
        }
    }

    /// A task of Locality increments in its array.
    fn touch(&mut self, task: usize, me: usize) -> f64 {
        let Experiment::Locality { .. } = self.experiment else { return 0.0 };
        let length = self.prices.touch + self.line(me, self.arrays[task]);
        self.arrays[task] = me;
        length
    }

    /// Returns how long it takes a leader at worker `me` to wake all other tasks, whose lines come
    /// to it.
    fn wake_all(&mut self, leader: usize, me: usize) -> f64 {
        let mut length = 0.0;
        for task in (0..self.tasks).filter(|&task| task != leader) {
            length += self.prices.wake + self.line(me, self.at[task]);
            self.at[task] = me;
        }
        length
    }

    /// A task of Transfer leads, acknowledges, or yields until there is something new.
    fn steer(&mut self, task: usize, me: usize, parks: bool, now: u64) -> Done {
        let Prices { yields, poll, .. } = self.prices;
        let lines = self.line(me, self.at[task]);
        if self.helm.opens(task, me) {
            return Done::new(NEVER as f64, None, 0, Then::Yield);
        }
        if !self.helm.acknowledges(task) {
            return Done::new(yields + lines, None, 0, Then::Yield);
        }
        // The round and the leader are news here; the leader looks at what the task writes.
        let news = 2.0 * self.line(me, self.helm.processor());
        let step = if parks { poll } else { yields };
        let then = if parks { Then::Park } else { Then::Yield };
        let mut done = Done::new(step + lines + news, None, 0, then);
        if self.helm.is_complete() {
            let (processor, leader) = (self.helm.processor(), self.helm.leader());
            let seen = self.line(me, processor);
            let wakes = if parks { self.wake_all(leader, processor) } else { 0.0 };
            let length = (step + lines + news + seen + wakes) as u64;
            let others = self.tasks - 1;
            let next = (leader + 1 + self.random[leader].below(others)) % self.tasks;
            let is_measured = self.measured.contains(&now);
            self.helm.pass_on(next, is_measured.then_some(now));
            done.release = Some(Release { processor, task: leader, length, wakes: parks });
        }
        done
    }
}

impl Load for Crew {
    fn begin(&mut self, number: usize, _task: &mut Task, me: usize, now: u64) -> Poll {
        let done = match self.experiment {
            Experiment::Cycle => self.pass(number, me),
            Experiment::Spawn => self.spawn(number, me),
            Experiment::Yield => {
                let Prices { yields, count, .. } = self.prices;
                let length = yields + count + self.line(me, self.at[number]);
                Done::new(length, None, 1, Then::Yield)
            }
            Experiment::Sleep => {
                let Prices { sleep, count, draw, .. } = self.prices;
                let length = sleep + count + draw + self.line(me, self.at[number]);
                let sleeps = 1 + self.random[number].below(SLEEP as usize) as u64;
                let until = now.saturating_add(length as u64).saturating_add(sleeps);
                Done::new(length, None, 1, Then::Sleep(until))
            }
            Experiment::End => unreachable!("an end polls no task of a crew"),
            Experiment::Churn | Experiment::Locality { .. } => self.push_out(number, me),
            Experiment::Transfer { parks } => self.steer(number, me, parks, now),
        };
        self.at[number] = me;
        if self.measured.contains(&now) {
            self.ops += done.ops;
        }
        let exact = done.length + self.rest[me];
        self.rest[me] = if exact < 1e12 { exact.fract() } else { 0.0 };
        Poll {
            length: exact as u64,
            spawns: 0..0,
            wakes: done.wakes,
            then: done.then,
            release: done.release,
        }
    }
}
