//! The experiments, each written once for every runtime in this process.
//!
//! A run has a [`Spec`] and ends in an [`Outcome`] or a [`Fault`]: each experiment checks its own
//! result, and a run that fails its check has no figure.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod churn;
pub mod crew;
mod cycle;
pub mod ends;
mod family;
mod go;
mod locality;
pub mod memory;
mod peer;
pub mod sleeps;
mod spawn;
pub mod steps;
pub mod threads;
mod transfer;
mod yields;

use std::time::Duration;

use suite::entry::Entry;
use suite::kit::fault::Fault;
use suite::kit::runtime::Runtime;
use suite::named;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Scheduling>();

/// Tasks per ring of Cycle: the thesis's number, so that a task's successor is never the task that
/// has just blocked.
pub(crate) const RING: usize = 5;

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Rings of five tasks around which a token travels.
        Cycle = "cycle": "rings of 5 tasks pass a token: one wait and one post",
        /// Tasks that only yield.
        Yield = "yield": "tasks do nothing but yield: one yield",
        /// Tasks that push each other out of semaphores.
        Churn = "churn": "tasks push each other out of FIFO semaphores: one V and one P",
        /// The same with an array of data, private or handed over.
        Locality = "locality": "as Churn, with increments in an array that is handed over or kept",
        /// A leader spins until every other task has run.
        Transfer = "transfer": "a leader spins until all other tasks have run: one transfer",
        /// Spawns and joins of an empty task.
        Spawn = "spawn": "one spawn and one join of an empty task",
        /// Resident memory of parked tasks.
        Memory = "memory": "resident bytes per parked task, its future included",
    }
}

named! {
    /// One way of running an experiment.
    pub(crate) enum Variant as "variant" {
        /// The experiment has only one.
        Only = "-",
        /// The array travels with the permit.
        Share = "share",
        /// Each task keeps its array.
        Noshare = "noshare",
        /// Tasks wait by parking.
        Park = "park",
        /// Tasks wait by yielding.
        Yield = "yield",
        /// Spawn a thousand, then join them all.
        Batch = "batch",
        /// Spawn and join one by one.
        Serial = "serial",
    }
}

impl Bench {
    /// The variants of the experiment, the first one shown first.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Bench::Cycle | Bench::Yield | Bench::Churn | Bench::Memory => &[Variant::Only],
            Bench::Locality => &[Variant::Share, Variant::Noshare],
            Bench::Transfer => &[Variant::Park, Variant::Yield],
            Bench::Spawn => &[Variant::Batch, Variant::Serial],
        }
    }

    /// Tasks per processor unless the user says otherwise.
    pub(crate) fn usual_tasks(self) -> usize {
        match self {
            Bench::Spawn => 1,
            Bench::Memory => memory::TASKS,
            _ => 100,
        }
    }

    /// The least number of tasks with which the experiment makes sense.
    pub(crate) fn fewest_tasks(self) -> usize {
        match self {
            Bench::Churn | Bench::Locality | Bench::Transfer => 2,
            _ => 1,
        }
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The experiment.
    pub(crate) bench: Bench,
    /// One of the experiment's variants.
    pub(crate) variant: Variant,
    /// Processors of the runtime.
    pub(crate) procs: usize,
    /// Tasks per processor; rings for Cycle, spawning tasks for Spawn.
    pub(crate) tasks_per_proc: usize,
    /// Cells per array of Locality.
    pub(crate) words: usize,
    /// Increments per operation of Locality.
    pub(crate) touch: usize,
    /// Measured time.
    pub(crate) time: Duration,
    /// How long Transfer may go without a transfer before it counts as not completed.
    pub(crate) patience: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

impl Spec {
    /// Tasks in all.
    pub(crate) fn tasks(&self) -> usize {
        let tasks = self.procs * self.tasks_per_proc;
        match self.bench {
            Bench::Cycle => tasks * RING,
            // Memory is divided by a number of tasks in all, not per processor.
            Bench::Memory => self.tasks_per_proc,
            _ => tasks,
        }
    }
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Operations in the measured time.
    pub(crate) ops: u64,
    /// The measured time, in seconds.
    pub(crate) seconds: f64,
    /// Whether the run made no progress within the time allowed.
    pub(crate) dnc: bool,
    /// The result of Memory.
    pub(crate) footprint: Option<memory::Footprint>,
}

/// Runs an experiment once with this many tasks for each worker (rings for Cycle), and returns the
/// nanoseconds per operation and worker; for Transfer those per transfer. `name` may have a variant
/// behind a space, such as `locality share`.
///
/// # Errors
/// If the experiment or the variant is unknown, or has no operations; if its check fails, or if
/// Transfer does not complete.
pub fn once<R: Runtime>(
    name: &str,
    procs: usize,
    tasks: usize,
    time: Duration,
    seed: u64,
) -> Result<f64, Fault> {
    let unknown = || Fault::Check(format!("`{name}` is no experiment with operations"));
    let (bench, variant) = name.split_once(' ').unwrap_or((name, Variant::Only.name()));
    let bench: Bench = bench.parse().map_err(|_| unknown())?;
    let variant: Variant = variant.parse().map_err(|_| unknown())?;
    if !bench.variants().contains(&variant) || bench == Bench::Memory {
        return Err(unknown());
    }
    let (words, touch) = family::USUAL;
    let patience = time.max(family::PATIENCE);
    let tasks_per_proc = tasks;
    let spec = Spec { bench, variant, procs, tasks_per_proc, words, touch, time, patience, seed };
    let Outcome { ops, seconds, dnc, .. } = run::<R>(&spec)?;
    if dnc {
        return Fault::check(format!("`{name}` has not completed"));
    }
    let workers = if bench == Bench::Transfer { 1 } else { procs };
    Ok(seconds * 1e9 * workers as f64 / ops as f64)
}

/// Runs one experiment once on one runtime.
pub(crate) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    match spec.bench {
        Bench::Cycle => cycle::run::<R>(spec),
        Bench::Yield => yields::run::<R>(spec),
        Bench::Churn => churn::run::<R>(spec),
        Bench::Locality => locality::run::<R>(spec),
        Bench::Transfer => transfer::run::<R>(spec),
        Bench::Spawn => spawn::run::<R>(spec),
        Bench::Memory => memory::run(R::NAME, spec),
    }
}

#[cfg(test)]
mod tests;
