//! The experiments of the evaluation of C∀'s scheduler (Delisle, "The C∀ scheduler", PhD thesis,
//! 2022) on simulated machines: those of the thesis, with up to 256 processors.
//!
//! The workers are those of the [promise](crate::promise), and decide by the runtime's own policy.
//! What the tasks' steps cost is measured by itself, on another machine ([`Prices`]); lines that
//! another core has come on top, by the distance. In each run every wait is audited. A timer is
//! armed at the worker that polls its task, and fires there. The end of a runtime, which is no
//! schedule of tasks, is followed step by step.
//!
//! # What it leaves out
//! The bandwidth between caches and memory has no bound. Lines move when tasks, semaphores and the
//! looks of others move them; false sharing and the sizes of caches do not appear.

mod crew;
mod end;
mod machine;
mod prices;
mod semaphores;
mod transfer;

pub use machine::Machine;
pub use prices::{Price, Prices};

use crate::promise::bound;
use crate::runtime::Setup;
use crate::runtime::costs::Costs;
use crate::runtime::machine::{Machine as Workers, Policy};
use crew::Crew;

/// Tasks around which a token travels: the thesis's number.
pub const RING: usize = 5;

/// A task that spawns, and the one that it spawns, whose memory is used again.
const PAIR: usize = 2;

/// The longest sleep, in nanoseconds: a hundred tasks need longer for their polls.
pub const SLEEP: u64 = 10_000;

/// When the measured time begins, and when it ends: the scheduler has settled by then, and each
/// task is polled often enough within it.
const BEGIN: u64 = 300_000;
const END: u64 = 1_300_000;
/// The same for Transfer, whose operations are longer.
const TRANSFER_END: u64 = 6_300_000;

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Rings of [`RING`] tasks around which a token travels: one wait and one post.
    Cycle,
    /// Tasks do nothing but yield.
    Yield,
    /// Tasks push each other out of semaphores: one V and one P.
    Churn,
    /// The same with increments in an array, which the woken task gets, or which each task keeps.
    Locality {
        /// Whether the woken task gets it.
        shares: bool,
    },
    /// Tasks spawn a task each, which completes, wait for its result, and begin again: one spawn
    /// and one join. The thesis has no such experiment.
    Spawn,
    /// Tasks sleep for up to [`SLEEP`] and begin again: one timer that is armed and fires. The
    /// thesis has no such experiment.
    Sleep,
    /// Tasks wait, and the runtime is dropped: the end of one task, with its share of that of the
    /// runtime. The thesis has no such experiment.
    End,
    /// A leader spins until all other tasks have run: one transfer. They wait by parking or by
    /// yielding. With a single worker, which a relief would have to help, it is not simulated.
    Transfer {
        /// Whether they park.
        parks: bool,
    },
}

/// A run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// What the tasks do.
    pub experiment: Experiment,
    /// The machine.
    pub machine: Machine,
    /// The number of workers.
    pub processors: usize,
    /// Tasks for each of them; rings for Cycle, and those that spawn for Spawn.
    pub tasks: usize,
    /// The seed of the random choices.
    pub seed: u64,
    /// What steps cost.
    pub prices: Prices,
    /// How many nanoseconds are measured, after a tenth of that. `None`: 1 ms after 0.3, of
    /// Transfer 6 ms, which is before workers begin to bring quick tasks together.
    pub time: Option<u64>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Operations in the measured time; for Transfer those after the first one.
    pub ops: u64,
    /// That time, in nanoseconds; for Transfer from the first to the last operation.
    pub time: u64,
    /// The longest wait of a task beyond its share of the work ahead, in nanoseconds; 0 in an
    /// [`End`](Experiment::End).
    pub waited: u64,
    /// The longest such wait that the promise allows; 0 in an [`End`](Experiment::End).
    pub allowed: u64,
    /// Polls, from the beginning.
    pub polls: u64,
    /// The times that a worker has got tasks of another, from the beginning: by a search, or to
    /// help it with old ones.
    pub moves: u64,
}

impl Outcome {
    /// Returns how long an operation takes one of the processors, in nanoseconds. A transfer takes
    /// all of them: its time is that of one processor.
    #[must_use]
    pub fn per_processor(&self, processors: usize) -> f64 {
        self.time as f64 * processors as f64 / self.ops as f64
    }
}

/// Makes a run.
///
/// # Panics
/// If there are no processors or no tasks, or more processors than the machine has; if Transfer has
/// a single processor; or if Churn or Locality has a single task, which finds none to push out.
///
/// # Examples
/// ```
/// use evenkeel_sim::scheduling::{Experiment, Machine, Prices, Run, run};
/// let prices = Prices { wake: 10.0, poll: 10.0, line: 40.0, far: 2.0, ..Prices::default() };
/// let (experiment, machine) = (Experiment::Cycle, Machine::Intel);
/// let (tasks, time) = (100, None);
/// let alone = run(&Run { experiment, machine, processors: 1, tasks, seed: 1, prices, time });
/// assert!((20.0..21.0).contains(&alone.per_processor(1)));
/// assert!(alone.waited <= alone.allowed);
/// ```
#[must_use]
pub fn run(run: &Run) -> Outcome {
    let Run { machine, processors, seed, prices, .. } = *run;
    assert!(run.tasks > 0, "a run needs tasks");
    assert!((1..=machine.threads()).contains(&processors), "{machine:?} has {processors} workers");
    if run.experiment == Experiment::End {
        return end::run(run);
    }
    let transfers = matches!(run.experiment, Experiment::Transfer { .. });
    assert!(!transfers || processors > 1, "Transfer needs two workers");
    let pushes = matches!(run.experiment, Experiment::Churn | Experiment::Locality { .. });
    assert!(!pushes || processors * run.tasks > 1, "{:?} needs two tasks", run.experiment);
    let usual = BEGIN..if transfers { TRANSFER_END } else { END };
    let measured = run.time.map_or(usual, |time| time / 10..time / 10 + time);
    let (begin, end) = (measured.start, measured.end);
    let crew = Crew::new(run, measured);
    let (tasks, queued) = crew.start();
    let longest = tasks.iter().map(|task| *task.polls.end()).max().unwrap_or_default();
    let setup = Setup {
        seed,
        seats: (0..processors).map(|worker| machine.seat(worker)).collect(),
        reliefs: 0,
        // A leader spins at one of them.
        progress: processors - usize::from(transfers),
        tasks,
        queued,
        together: false,
        serves: false,
        contended: false,
        gathers: true,
        costs: costs(&prices),
        policy: Policy::default(),
    };
    let allowed = bound::usual(processors, setup.progress, longest);
    let done = Workers::new(setup, crew).run(&[], end, end);
    let (ops, time) =
        if transfers { done.load.transfers() } else { (done.load.ops(), end - begin) };
    let (waited, polls, moves) = (done.audit.worst, done.counters.polls, done.counters.moves);
    Outcome { ops, time, waited, allowed, polls, moves }
}

/// Returns what the workers' own steps cost. The prices of tasks' steps have a pop and the end of a
/// batch in them.
fn costs(prices: &Prices) -> Costs {
    let ns = |price: f64| price.round() as u64;
    Costs {
        switch: 0,
        end_batch: 0,
        // A look takes a line from the other worker, and that one takes it back.
        look: ns(2.0 * prices.line),
        far_look: ns(2.0 * prices.line * prices.far),
        handover: ns(4.0 * prices.line),
        far_handover: ns(4.0 * prices.line * prices.far),
        heavy_fence: ns(prices.heavy_fence),
        announce: ns(2.0 * prices.line),
        wake: ns(prices.unpark),
        wake_latency: ns(prices.unpark_latency),
        beside_sibling: prices.beside_sibling.max(100),
        ..Costs::default()
    }
}
