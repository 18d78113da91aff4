//! What one run leaves behind.

use serde::{Deserialize, Serialize};

use crate::mixed::latency::Quantiles;

/// One run on one system.
///
/// A run that failed its own check never becomes a record: it is an error of the whole command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The system's name as `--runtime` takes it.
    pub(crate) runtime: String,
    /// The experiment.
    pub(crate) bench: String,
    /// Its variant, or `-`.
    pub(crate) variant: String,
    /// Workers: threads or schedulers that run actors.
    pub(crate) workers: usize,
    /// Actors in all.
    pub(crate) actors: usize,
    /// Pings that a pair of `pingpong` has under way at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) in_flight: Option<u32>,
    /// Which repeat this is, from 0.
    pub(crate) repeat: usize,
    /// Messages, replies among them.
    pub(crate) messages: u64,
    /// From right before the first message until the last actor is done, in seconds; of `actor_memory` the whole run.
    pub(crate) seconds: f64,
    /// Nanoseconds of the clock on the wall per message, or per actor for `actor_spawn`; absent for `actor_memory`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ns_per_message: Option<f64>,
    /// Resident bytes per actor, its reference included; `actor_memory` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) bytes_per_actor: Option<f64>,
    /// The same by the system's own account of its heap after a collection; of systems that have one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) heap_bytes_per_actor: Option<f64>,
    /// Microseconds of a round trip, by a run of its own in which one ping of 64 is timed: the median; `latency_probe`
    /// only, as what follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) trip_us_p50: Option<f64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) trip_us_p99: Option<f64>,
    /// The 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) trip_us_p999: Option<f64>,
    /// The longest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) trip_us_max: Option<f64>,
    /// One-way time of a cache line between two cores before the run, in nanoseconds; 0 if unknown.
    pub(crate) line_ns_before: f64,
    /// The same after the run.
    pub(crate) line_ns_after: f64,
    /// As for the other experiments.
    pub(crate) regime: String,
    /// Share of the machine's time that was left to this process, 0 to 1.
    pub(crate) cpu_share: f64,
}

impl Record {
    /// The same run with what a sampled one has shown of round trips.
    pub(crate) fn with_trips(self, trips: Option<Quantiles>) -> Record {
        Record {
            trip_us_p50: trips.map(|trips| trips.p50),
            trip_us_p99: trips.map(|trips| trips.p99),
            trip_us_p999: trips.map(|trips| trips.p999),
            trip_us_max: trips.map(|trips| trips.max),
            ..self
        }
    }
}
