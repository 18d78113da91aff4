//! What one run leaves behind.

use serde::{Deserialize, Serialize};

/// One run on one runtime.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The runtime's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// The experiment.
    pub(crate) bench: String,
    /// Its variant, or `-`.
    pub(crate) variant: String,
    /// Monitors that are entered together; 0 where there are none.
    pub(crate) monitors: usize,
    /// Processors.
    pub(crate) procs: usize,
    /// Tasks or threads; 1 for coroutines, too.
    pub(crate) tasks: usize,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Rounds, or entries of the contended monitor.
    pub(crate) ops: u64,
    /// Their time on the wall, in seconds.
    pub(crate) seconds: f64,
    /// Nanoseconds of each, times the processors.
    pub(crate) ns_per_op_per_proc: f64,
    /// Microseconds of the longest wait for an entry; `contended` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) longest_wait_us: Option<f64>,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// Share of the machine's time that was left to this process, 0 to 1.
    pub(crate) cpu_share: f64,
}
