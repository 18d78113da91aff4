//! The end of a runtime whose workers sleep while all tasks wait.
//!
//! **Roles.** The *caller*, a thread beside the first worker, drops the runtime. The *workers* have
//! the tasks, each its share. The *closer* is the worker that finds all tasks complete.
//!
//! **Steps.** The caller wakes one worker after the other. Each of them searches, sums up the
//! counts of all workers, aborts its tasks, searches and sums up once more, and sleeps. The last
//! one finds the sums alike: it is the closer, wakes one worker after the other, and leaves. Each
//! that is woken searches and leaves: it counts itself out under a lock, and the last one wakes the
//! caller. The caller joins one thread after the other.
//!
//! What the caller and the closer do for each worker is serial, and a sum reads a line of each
//! worker. So the time of an end grows with the number of workers, whatever they have to do.

use super::machine::Distance;
use super::{Outcome, Prices, Run};
use crate::runtime::Seat;

/// Lines that a search reads of each other worker, and a sum: the counts of spawned and complete
/// tasks are side by side.
const SEARCHED: f64 = 2.0;
const SUMMED: f64 = 1.0;

/// The workers, and what their steps cost.
struct Workers {
    seats: Vec<Seat>,
    tasks: usize,
    prices: Prices,
}

/// Returns when the runtime has ended, for as many operations as there are tasks.
pub(super) fn run(run: &Run) -> Outcome {
    let Run { machine, processors, tasks, prices, .. } = *run;
    let seats = (0..processors).map(|worker| machine.seat(worker)).collect();
    let ended = Workers { seats, tasks, prices }.end();
    let ops = (processors * tasks) as u64;
    Outcome { ops, time: ended.round() as u64, waited: 0, allowed: 0, polls: ops, moves: 0 }
}

impl Workers {
    fn end(&self) -> f64 {
        let Prices { unpark, unpark_latency, thread_end, thread_join, .. } = self.prices;
        let asked = self.woken(0.0, 0, None);
        let summed = |(me, asked): (usize, &f64)| {
            asked + 2.0 * self.over_all(me, SEARCHED + SUMMED) + self.aborts(me)
        };
        let summed: Vec<f64> = asked.iter().enumerate().map(summed).collect();
        let latest = |times: &[f64]| {
            let numbered = times.iter().copied().enumerate();
            numbered.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
        };
        let (closer, over) = latest(&summed);
        let mut told = self.woken(over, closer, Some(closer));
        for (me, told) in told.iter_mut().enumerate().filter(|(me, _)| *me != closer) {
            *told += self.over_all(me, SEARCHED);
        }
        let left = self.leave(&told);
        let (_, last) = latest(&left);
        let mut caller = last + unpark + unpark_latency;
        for left in left {
            caller = (caller + thread_join).max(left + thread_end);
        }
        caller
    }

    /// Returns when each worker runs that `waker`, beside worker `at`, wakes one after the other
    /// from `begun` on. The waker itself goes on after that, if it is a worker.
    fn woken(&self, begun: f64, at: usize, waker: Option<usize>) -> Vec<f64> {
        let Prices { unpark, unpark_latency, .. } = self.prices;
        let mut now = begun;
        let mut times = vec![0.0; self.seats.len()];
        for other in (0..self.seats.len()).filter(|&other| Some(other) != waker) {
            now += unpark + self.line(at, other);
            times[other] = now + unpark_latency;
        }
        if let Some(waker) = waker {
            times[waker] = now;
        }
        times
    }

    /// Returns when each worker has counted itself out, one after the other in the order in which
    /// they come to the lock.
    fn leave(&self, told: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..told.len()).collect();
        order.sort_by(|&one, &other| told[one].total_cmp(&told[other]));
        let mut left = vec![0.0; told.len()];
        let mut before: Option<usize> = None;
        for me in order {
            let line = before.map_or(0.0, |other| self.line(me, other));
            let free = before.map_or(0.0, |other| left[other]);
            left[me] = told[me].max(free) + line;
            before = Some(me);
        }
        left
    }

    /// Returns how long a worker aborts its tasks. All workers do so at about the same time.
    fn aborts(&self, me: usize) -> f64 {
        let shares = self.seats.iter().enumerate().any(|(other, seat)| {
            let own = self.seats[me];
            other != me && Distance::between(own, *seat) == Distance::Core
        });
        let longer = if shares { self.prices.beside_sibling.max(100) as f64 / 100.0 } else { 1.0 };
        self.tasks as f64 * self.prices.abort * longer
    }

    /// Returns how long it takes a worker to read so many lines of each other one.
    fn over_all(&self, me: usize, lines: f64) -> f64 {
        (0..self.seats.len()).map(|other| lines * self.line(me, other)).sum()
    }

    fn line(&self, me: usize, other: usize) -> f64 {
        self.prices.line_over(Distance::between(self.seats[me], self.seats[other]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, Machine};
    use super::*;

    fn ended(processors: usize, tasks: usize, prices: Prices) -> u64 {
        let (experiment, machine) = (Experiment::End, Machine::Flat);
        run(&Run { experiment, machine, processors, tasks, seed: 1, prices, time: None }).time
    }

    #[test]
    fn one_worker_is_woken_aborts_leaves_and_is_joined() {
        let prices = Prices {
            unpark: 3.0,
            unpark_latency: 20.0,
            abort: 5.0,
            thread_end: 7.0,
            thread_join: 1.0,
            line: 100.0,
            ..Prices::default()
        };
        // The caller's wake, ten tasks, and the worker's wake of the caller, which joins it.
        assert_eq!(ended(1, 10, prices), 23 + 50 + 23 + 1);
        let slow = Prices { thread_end: 70.0, ..prices };
        assert_eq!(ended(1, 10, slow), 23 + 50 + 70);
    }

    #[test]
    fn what_is_done_for_each_worker_is_serial() {
        let of = |prices: Prices| [1, 3, 4].map(|processors| ended(processors, 1, prices));
        // The caller wakes all, the closer all but itself, and the last one wakes the caller.
        assert_eq!(of(Prices { unpark: 10.0, ..Prices::default() }), [20, 60, 80]);
        assert_eq!(of(Prices { thread_join: 10.0, ..Prices::default() }), [10, 30, 40]);
        // The last worker's abort is in the way alone.
        assert_eq!(of(Prices { abort: 10.0, ..Prices::default() }), [10, 10, 10]);
    }
}
