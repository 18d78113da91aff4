//! What the repeats of one program on one runtime leave behind.

use std::fmt;

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
    /// The median of the serial one of the same language in the same command over this one; absent if that was not run.
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
