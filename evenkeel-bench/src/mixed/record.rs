//! What one run of the experiment leaves behind.

use serde::{Deserialize, Serialize};

/// One run on one runtime.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The runtime's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// `mixed`.
    pub(crate) bench: String,
    /// `joins` or `wakes`.
    pub(crate) variant: String,
    /// Workers; `rayon+tokio` has as many of each.
    pub(crate) workers: usize,
    /// Tasks in all.
    pub(crate) tasks: usize,
    /// The size of a computation.
    pub(crate) n: usize,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// Computations that ended in that time.
    pub(crate) computations: u64,
    /// The same per second.
    pub(crate) computations_per_second: f64,
    /// Microseconds from asking for a computation to having its result: the median.
    pub(crate) computation_us_p50: f64,
    /// The 99th percentile.
    pub(crate) computation_us_p99: f64,
    /// The longest.
    pub(crate) computation_us_max: f64,
    /// Microseconds of a computation with plain calls instead of forks, on an idle core: the median of a few.
    pub(crate) computation_us_serial: f64,
    /// Polls of the tasks in that time, each with about 2 µs of work; `joins` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) polls: Option<u64>,
    /// The same per second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) polls_per_second: Option<f64>,
    /// Wakes by a thread that is no worker; `wakes` only, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) wakes: Option<u64>,
    /// Microseconds from such a wake to the poll: the median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) wake_us_p50: Option<f64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) wake_us_p99: Option<f64>,
    /// The 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) wake_us_p999: Option<f64>,
    /// The longest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) wake_us_max: Option<f64>,
    /// The same of wakes by a task that has just been woken: the median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) relay_us_p50: Option<f64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) relay_us_p99: Option<f64>,
    /// The 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) relay_us_p999: Option<f64>,
    /// The longest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) relay_us_max: Option<f64>,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// Share of the machine's time that was left to this process, 0 to 1.
    pub(crate) cpu_share: f64,
}
