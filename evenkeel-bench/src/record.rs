//! What one measured run leaves behind: the row of every table, JSON line and picture.

use serde::{Deserialize, Serialize};

/// One measured run of one experiment on one runtime.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The runtime's name as `--runtime` takes it, such as `evenkeel` or `tokio-hand`.
    pub(crate) runtime: String,
    /// The experiment: `cycle`, `yield`, `churn`, `locality`, `transfer`, `spawn` or `memory`.
    pub(crate) bench: String,
    /// The experiment's variant, such as `share`; `-` where there is just one.
    pub(crate) variant: String,
    /// Processors that the runtime was given.
    pub(crate) procs: usize,
    /// Tasks (for `cycle`: rings of five tasks) per processor.
    pub(crate) tasks_per_proc: usize,
    /// Tasks in all.
    pub(crate) tasks: usize,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Operations completed by all tasks.
    pub(crate) ops: u64,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// Nanoseconds per operation per processor: `seconds * 1e9 * procs / ops`; 0 where it has no
    /// meaning (`transfer`, `memory`).
    pub(crate) ns_per_op_per_proc: f64,
    /// Microseconds per transfer of leadership; `transfer` only, and absent if it did not complete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) transfer_us: Option<f64>,
    /// Bytes of resident memory per parked task, its future included; `memory` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) bytes_per_task: Option<f64>,
    /// Did not complete within the time allowed (`transfer` only).
    pub(crate) dnc: bool,
    /// Cells per array; `locality` only, else 0.
    pub(crate) words: usize,
    /// Random increments per operation; `locality` only, else 0.
    pub(crate) touch: usize,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// `near` from 20 to 100 ns one way, `far` above, `siblings` below, `mixed` if the two readings disagree, `one core`
    /// where there is no second core to bounce with.
    pub(crate) regime: String,
    /// Share of the machine's time that other processes and the hypervisor left to this one, 0 to 1.
    pub(crate) cpu_share: f64,
}

/// A record with this runtime and figure, and everyday values elsewhere.
#[cfg(test)]
pub(crate) fn example(runtime: &str, ns: f64) -> Record {
    Record {
        runtime: runtime.to_owned(),
        bench: "cycle".to_owned(),
        variant: "-".to_owned(),
        procs: 1,
        tasks_per_proc: 100,
        tasks: 500,
        repeat: 0,
        ops: 1_000_000,
        seconds: 0.25,
        ns_per_op_per_proc: ns,
        transfer_us: None,
        bytes_per_task: None,
        dnc: false,
        words: 0,
        touch: 0,
        line_ns_before: 40.0,
        line_ns_after: 40.0,
        regime: "near".to_owned(),
        cpu_share: 1.0,
    }
}
