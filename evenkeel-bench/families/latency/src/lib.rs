//! Latency: how soon light tasks run beside tasks that compute, block or never wait.
//!
//! A thread outside of the runtime, the *sender*, wakes parked tasks and spawns others, each a
//! thousand times per second. These *light* tasks note when they run, and end. Beside them runs a
//! *load*: nothing, tasks that compute for a millisecond, tasks that block their threads, or loops
//! of awaits that are always ready. The figures are percentiles of the *delay* of a light task:
//! from the moment just before the call that wakes or spawns it until its first instruction. A task
//! that has not run a while after the last send is a figure too: *never run*.
//!
//! [`family`] presents the experiment to the suite, and [`promise`] looks for waits beyond the
//! bound that this project promises.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod board;
mod delays;
mod family;
mod foreign;
mod heat;
mod load;
mod peer;
mod pictures;
pub mod promise;
mod sends;
#[cfg(test)]
mod tests;

use std::time::Duration;

use board::Ran;
use delays::Delays;
use load::Load;
use sends::Beside;
use suite::entry::Entry;
use suite::kit::fault::Fault;
use suite::kit::runtime::Runtime;
use suite::named;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Latency>();

/// The experiment's name on the command line and in the tables.
pub(crate) const NAME: &str = "latency";

/// A description of the experiment in one line.
pub(crate) const DESCRIPTION: &str =
    "how soon light tasks run, alone and beside tasks that compute, block or never wait";

/// The usual number of wakes, and of spawns, per second.
pub(crate) const USUAL_RATE: u32 = 1_000;

/// How long a task computes in one poll.
pub(crate) const COMPUTE: Duration = Duration::from_millis(1);

/// Tasks that compute, per second and worker: they keep it busy for 70 % of the time.
pub(crate) const COMPUTES: u32 = 700;

/// How long a task blocks its thread.
pub(crate) const BLOCK: Duration = Duration::from_millis(100);

/// The time from one task that blocks its thread to the next: they do not overlap.
pub(crate) const BLOCK_EVERY: Duration = Duration::from_millis(101);

/// The time between the start of the load and the first send.
pub(crate) const WARM_UP: Duration = Duration::from_millis(30);

named! {
    /// What runs beside the light tasks.
    pub(crate) enum Variant as "variant of latency" {
        /// Nothing.
        Alone = "alone",
        /// Tasks that compute.
        Compute = "compute",
        /// Tasks that block their threads, one at a time.
        BlockOne = "block-one",
        /// The same, as many at a time as there are workers.
        BlockAll = "block-all",
        /// Loops of awaits that are always ready, two for each worker.
        Ready = "ready",
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The load.
    pub(crate) variant: Variant,
    /// Workers of the runtime.
    pub(crate) workers: usize,
    /// Wakes, and spawns, per second.
    pub(crate) rate: u32,
    /// Measured time.
    pub(crate) time: Duration,
    /// How long after the last send a light task may run.
    pub(crate) patience: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

impl Spec {
    /// Wakes, and spawns, of a run.
    pub(crate) fn events(&self) -> usize {
        (self.time.as_secs_f64() * f64::from(self.rate)) as usize
    }

    /// Tasks that compute, per second.
    pub(crate) fn computes(&self) -> u32 {
        if self.variant == Variant::Compute { COMPUTES * self.workers as u32 } else { 0 }
    }

    /// Tasks that block their threads at the same time.
    pub(crate) fn blocks(&self) -> usize {
        match self.variant {
            Variant::BlockOne => 1,
            Variant::BlockAll => self.workers,
            Variant::Alone | Variant::Compute | Variant::Ready => 0,
        }
    }

    /// What the runtime does beside the tasks that the sender sends.
    fn load(&self) -> Load {
        match self.variant {
            Variant::Ready => Load::Ready(self.workers),
            _ => Load::Nothing,
        }
    }
}

/// The measurements of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// From the first send to the last.
    pub(crate) seconds: f64,
    /// From wakes to the tasks' runs.
    pub(crate) wakes: Delays,
    /// From spawns to the tasks' runs.
    pub(crate) spawns: Delays,
    /// The lateness of the sender that 999 of 1,000 sends do not exceed, in microseconds.
    pub(crate) sender_us: Option<f64>,
}

/// Runs the experiment once.
pub(crate) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let beside = Beside { computes: spec.computes(), blocks: spec.blocks() };
    let sends = sends::steady(spec.events(), spec.rate, beside, spec.seed);
    let run = board::Run { load: spec.load(), sends: &sends, patience: spec.patience };
    let Ran { time, wakes, spawns, sender_us } = board::run::<R>(spec.workers, run)?;
    Ok(Outcome {
        seconds: Duration::from_nanos(time).as_secs_f64(),
        wakes: Delays::of(&wakes, time),
        spawns: Delays::of(&spawns, time),
        sender_us,
    })
}
