//! What one run leaves behind.

use serde::{Deserialize, Serialize};

/// One run in one mode.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The experiment.
    pub(crate) bench: String,
    /// The mode's name as `--runtime` takes it.
    pub(crate) mode: String,
    /// Workers: threads that run operations, each on a core of its own.
    pub(crate) workers: usize,
    /// Tasks for each worker; absent in modes that have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) tasks_per_core: Option<usize>,
    pub(crate) objects: usize,
    /// Bytes of all of them.
    pub(crate) bytes: usize,
    /// Keys of a map, events of a heap; 0 where there are none.
    pub(crate) keys: usize,
    /// What an operation writes, or `-`.
    pub(crate) access: String,
    pub(crate) popularity: String,
    /// Milliseconds between two changes of what is in use; 0 where it does not change.
    pub(crate) period_ms: u64,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Operations of all workers in the measured time; for `travel`, journeys there and back.
    pub(crate) operations: u64,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// Millions of operations per second, of all workers together.
    pub(crate) mops: f64,
    /// Journeys to the homes of objects in the measured time.
    pub(crate) hops: u64,
    /// Cache misses of the whole process in the measured time, as the processor counts them; absent where it does not, or nobody may ask it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) misses: Option<u64>,
    /// Objects at home at each worker before the run, separated by blanks; only where there are objects, as the next four.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) homes_before: Option<String>,
    /// The same when it was over.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) homes_after: Option<String>,
    /// Objects that busy workers have given to others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) given_away: Option<u64>,
    /// Nanoseconds of a journey, as the workers have measured it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) hop_ns: Option<u64>,
    /// What an automatic class has come to, and why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) verdict: Option<String>,
    /// Nanoseconds of a journey there and back, times the workers; `travel` only, and absent if a tenth of the operations or more were no journeys.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) core_ns: Option<f64>,
    /// Millions of operations per second while all objects are in use; where the popularity oscillates only, as what follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) mops_many: Option<f64>,
    /// The same while a sixteenth is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) mops_few: Option<f64>,
    /// The same of all objects, without the first 10 ms after each change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) mops_many_settled: Option<f64>,
    /// The same of a sixteenth, without the first 10 ms after each change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) mops_few_settled: Option<f64>,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// Share of the machine's time that was left to this process, 0 to 1.
    pub(crate) cpu_share: f64,
}
