//! The semaphores of Churn and Locality, and the tasks that wait there.

use crate::random::Random;
use std::collections::VecDeque;

/// Semaphores without free permits: each release meets a waiter, or the releaser's own acquisition.
#[derive(Debug, Default)]
pub(super) struct Semaphores {
    /// The worker that used each of them last, and the tasks that wait there, first in, first out.
    spots: Vec<(usize, VecDeque<usize>)>,
    /// The number of tasks that wait at the beginning.
    waiters: usize,
}

impl Semaphores {
    /// Those of Churn: half as many as tasks, and at most tasks less processors. As many tasks
    /// wait, each where it has drawn. `home` is the worker at which a task begins.
    pub(super) fn drawn(
        tasks: usize,
        processors: usize,
        random: &mut [Random],
        home: impl Fn(usize) -> usize,
    ) -> Self {
        let count = (tasks / 2).min(tasks.saturating_sub(processors)).max(1);
        let mut all = Self::empty(count, tasks);
        for (task, random) in random.iter_mut().enumerate().take(all.waiters) {
            let spot = random.below(count);
            all.wait(spot, task, home(task));
        }
        all
    }

    /// Those of Locality: as many as tasks less processors. A task waits at each.
    pub(super) fn in_order(tasks: usize, processors: usize, home: impl Fn(usize) -> usize) -> Self {
        let mut all = Self::empty(tasks.saturating_sub(processors).max(1), tasks);
        for task in 0..all.waiters {
            all.wait(task, task, home(task));
        }
        all
    }

    fn empty(count: usize, tasks: usize) -> Self {
        Self { spots: vec![(0, VecDeque::new()); count], waiters: count.min(tasks - 1) }
    }

    fn wait(&mut self, spot: usize, task: usize, me: usize) {
        self.spots[spot].0 = me;
        self.spots[spot].1.push_back(task);
    }

    pub(super) fn len(&self) -> usize {
        self.spots.len()
    }

    pub(super) fn waiters(&self) -> usize {
        self.waiters
    }

    /// Takes the task that has waited longest at a semaphore, if there is any, and lets `task` wait
    /// in its place. Returns the worker that used the semaphore last, too.
    pub(super) fn push_out(
        &mut self,
        spot: usize,
        task: usize,
        me: usize,
    ) -> (usize, Option<usize>) {
        let last = std::mem::replace(&mut self.spots[spot].0, me);
        let woken = self.spots[spot].1.pop_front();
        if woken.is_some() {
            self.spots[spot].1.push_back(task);
        }
        (last, woken)
    }
}
