//! What one run of the experiment leaves behind.

use serde::{Deserialize, Serialize};

/// One run on one runtime.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The runtime's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// `timers`.
    pub(crate) bench: String,
    /// `cancel`, `timeout`, `idle`, `load` or `long`.
    pub(crate) variant: String,
    /// Workers.
    pub(crate) workers: usize,
    /// Tasks that sleep; where timers are cancelled, one for each worker.
    pub(crate) tasks: usize,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Timers.
    pub(crate) ops: u64,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// Nanoseconds per timer and worker, its creation and its cancellation together; `cancel` and `timeout` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ns_per_timer: Option<f64>,
    /// Microseconds from a deadline until the task goes on: the median; of the other variants, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) late_us_p50: Option<f64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) late_us_p99: Option<f64>,
    /// The 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) late_us_p999: Option<f64>,
    /// The longest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) late_us_max: Option<f64>,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// Share of the machine's time that was left to this process, 0 to 1.
    pub(crate) cpu_share: f64,
}
