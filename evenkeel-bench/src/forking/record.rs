//! What the repeats of one program on one runtime leave behind.

use std::fmt;

use evenkeel::metrics::Times;
use evenkeel::topology::Distance;
use serde::{Deserialize, Serialize};

/// One program on one runtime: all repeats of it.
///
/// A repeat whose checksum differs from the serial one's is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The runtime's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// The program.
    pub(crate) bench: String,
    /// Its size.
    pub(crate) n: usize,
    /// Workers; 1 for the serial one.
    pub(crate) workers: usize,
    /// Repeats that were timed, after one that was not.
    pub(crate) reps: usize,
    /// Seconds of the recursion, without the preparation of its input.
    pub(crate) seconds_median: f64,
    /// The least of them.
    pub(crate) seconds_min: f64,
    /// The most.
    pub(crate) seconds_max: f64,
    /// Seconds of each repeat, in their order.
    pub(crate) seconds: Vec<f64>,
    /// What the result comes to: the same for every runtime.
    pub(crate) checksum: String,
    /// The median of the serial one of the same language over this one; absent if that was not run. Serial runs beside all
    /// numbers of workers of one command count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) speedup: Option<f64>,
    /// One-way time of a cache line between two cores before the first repeat, in nanoseconds.
    pub(crate) line_ns_before: f64,
    /// The same after the last.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// The least share of the machine's time that was left to a repeat.
    pub(crate) cpu_share: f64,
    /// What the workers spent their time on; absent for runtimes that do not tell.
    #[serde(flatten, skip_serializing_if = "Option::is_none", default)]
    pub(crate) metrics: Option<Metrics>,
}

/// The four metrics of the evaluation of the Cilk Locality runtime, of all workers together, in the repeat that took the median time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metrics {
    /// Running the program.
    pub(crate) execution_seconds: f64,
    /// Work inflation: execution beyond that of the same runtime with one worker.
    pub(crate) inflation_seconds: f64,
    /// Scheduling overhead: in successful steals.
    pub(crate) scheduling_seconds: f64,
    /// In failed steals, waiting, and asleep.
    pub(crate) idle_seconds: f64,
    /// Successful steals.
    pub(crate) steals: u64,
    /// The same by how far the work came from; the worker's own is the first. Levels that the machine does not have are left out.
    pub(crate) levels: Vec<Level>,
    /// Execution, scheduling and idle seconds of each worker.
    pub(crate) per_worker: Vec<[f64; 3]>,
}

/// What came from so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Level {
    pub(crate) distance: String,
    pub(crate) execution_seconds: f64,
    pub(crate) scheduling_seconds: f64,
    pub(crate) steals: u64,
}

impl Metrics {
    /// Those of workers that have spent their time so; one worker alone executes for so many seconds.
    pub(crate) fn of(workers: &[Times], alone: f64) -> Self {
        let all: Times = workers.iter().copied().sum();
        let level = |distance: Distance| Level {
            distance: format!("{distance:?}"),
            execution_seconds: all.execution[distance].as_secs_f64(),
            scheduling_seconds: all.scheduling[distance].as_secs_f64(),
            steals: all.steals[distance],
        };
        let is_there = |level: &Level| level.steals > 0 || level.execution_seconds > 0.0;
        let execution_seconds = all.execution.total().as_secs_f64();
        Self {
            execution_seconds,
            inflation_seconds: execution_seconds - alone,
            scheduling_seconds: all.scheduling.total().as_secs_f64(),
            idle_seconds: all.idle().as_secs_f64(),
            steals: all.steals.total(),
            levels: Distance::ALL.into_iter().map(level).filter(is_there).collect(),
            per_worker: workers
                .iter()
                .map(|times| {
                    [times.execution.total(), times.scheduling.total(), times.idle()]
                        .map(|time| time.as_secs_f64())
                })
                .collect(),
        }
    }
}

/// A runtime that a program was not run on. It stands in the table, so that no cell is missing silently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotRun {
    /// The runtime's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// The program.
    pub(crate) bench: String,
    /// Its size.
    pub(crate) n: usize,
    /// Workers.
    pub(crate) workers: usize,
    /// Why, in words.
    pub(crate) why: String,
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runtime, bench, n, workers, why } = self;
        write!(f, "{bench} of size {n} on {runtime} with {workers} workers: {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forking::forker::{Evenkeel, Forker};
    use crate::forking::program::Program;

    #[test]
    fn the_times_of_the_workers_add_up_to_those_of_the_run() {
        let evenkeel = <Evenkeel as Forker>::start(2).unwrap();
        let run = Program::Nqueens.run(9, &evenkeel);
        let metrics = Metrics::of(&run.times, 0.25);
        assert_eq!(metrics.per_worker.len(), 2);
        let all: f64 = metrics.per_worker.iter().flatten().sum();
        let sum = metrics.execution_seconds + metrics.scheduling_seconds + metrics.idle_seconds;
        assert!((all - sum).abs() < 1e-6, "{metrics:?}");
        // The snapshots are taken around the run.
        assert!(sum >= 2.0 * run.seconds, "{sum} of 2 x {}", run.seconds);
        let levels: f64 = metrics.levels.iter().map(|level| level.execution_seconds).sum();
        assert!((levels - metrics.execution_seconds).abs() < 1e-6, "{metrics:?}");
        assert_eq!(metrics.levels[0].distance, "Same");
        assert_eq!(metrics.inflation_seconds, metrics.execution_seconds - 0.25);
    }
}
