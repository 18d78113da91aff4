//! Tasks and fork-join on the same cores, and the effect of each on the other.
//!
//! Joins: a thousand tasks keep the pool busy while it runs one computation after another. A pool
//! that gives everything to one side looks good on that side, so the figures of both are kept.
//! Wakes: computations keep every worker busy while tasks are woken, by a thread from outside and
//! then by each other.
//!
//! The peer is the usual combination: a rayon pool and a Tokio pool, each with a thread for every
//! core; the system's scheduler divides the cores between them. [`family`] presents the experiment
//! to the suite.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod family;
mod joins;
mod percentiles;
mod pool;
mod stream;
#[cfg(test)]
mod tests;
mod wakes;

use std::time::Duration;

use forking::program::Program;
use pool::Pool;
use suite::entry::Entry;
use suite::kit::fault::Fault;
use suite::kit::latency::Latencies;
use suite::named;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Mixed>();

/// The experiment's name on the command line and in the tables.
pub(crate) const NAME: &str = "mixed";

/// A description of the experiment in one line.
pub(crate) const DESCRIPTION: &str = "joins beside busy tasks, and wakes beside busy joins";

/// The computation: its leaves are small, and its size controls its length finely enough.
pub(crate) const PROGRAM: Program = Program::Nqueens;

/// The usual size of a computation: about a millisecond of plain calls.
pub(crate) const USUAL_SIZE: usize = 11;

/// The largest size: minutes of plain calls.
pub(crate) const MOST_SIZE: usize = 16;

/// The usual number of tasks.
pub(crate) const USUAL_TASKS: usize = 1_000;

named! {
    /// One way of running the experiment.
    pub(crate) enum Variant as "variant of mixed" {
        /// Computations beside busy tasks.
        Joins = "joins",
        /// Wakes beside computations that keep all workers busy.
        Wakes = "wakes",
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The variant.
    pub(crate) variant: Variant,
    /// Workers of a pool.
    pub(crate) workers: usize,
    /// Tasks in all; an even number for wakes.
    pub(crate) tasks: usize,
    /// The size of a computation.
    pub(crate) n: usize,
    /// Measured time.
    pub(crate) time: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

/// The measurements of a run.
pub(crate) struct Outcome {
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// The time from the request for a computation to its result, for each that ended in the
    /// measured time.
    pub(crate) computations: Latencies,
    /// What the tasks did meanwhile.
    pub(crate) tasks: Tasks,
}

/// What the tasks did.
pub(crate) enum Tasks {
    /// Polls of busy tasks.
    Polls(u64),
    /// From wakes to the polls after them.
    Wakes {
        /// Wakes by a thread that is no worker.
        outside: Latencies,
        /// Wakes by a task that was itself just woken.
        relayed: Latencies,
    },
}

/// Runs the experiment once. `right` is the result of a computation.
pub(crate) fn run<P: Pool>(spec: &Spec, right: u64) -> Result<Outcome, Fault> {
    match spec.variant {
        Variant::Joins => joins::run::<P>(spec, right),
        Variant::Wakes => wakes::run::<P>(spec, right),
    }
}
