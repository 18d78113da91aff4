//! Fork-join on a simulated machine of several packages, as in the evaluation of the Cilk Locality
//! runtime.
//!
//! Workers run trees of leaves and forks, which touch blocks of memory. They take jobs from each
//! other like the real ones, by [`evenkeel_policy`], or by the paper's rule. The time of a leaf
//! depends on the caches that have its blocks.

mod caches;
mod engine;
mod program;
mod scheduler;
mod work;
mod worker;

pub use engine::{Machine, Outcome, PUBLISH, RECLAIM, SEIZE};
pub use program::Program;
pub use scheduler::Scheduler;

/// Runs a program on the first `workers` cores of a machine, with one schedule for each seed.
///
/// # Examples
/// ```
/// use evenkeel_sim::forking::{Machine, Program, Scheduler, run};
/// let (program, machine) = (Program::transpose(8), Machine { packages: 2, cores: 2 });
/// let [alone, both] = [1, 4].map(|workers| run(&program, machine, workers, Scheduler::Biased, 1));
/// assert!(both.makespan < alone.makespan && alone.idle == 0);
/// ```
#[must_use]
pub fn run(
    program: &Program,
    machine: Machine,
    workers: usize,
    scheduler: Scheduler,
    seed: u64,
) -> Outcome {
    engine::Engine::new(&program.work, machine, workers, scheduler, seed).run()
}
