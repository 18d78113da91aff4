//! The promise on simulated machines: how long tasks wait under loads that are made to be unfair.
//!
//! The runtime promises that a task which becomes ready starts within `H + c·(N/W)·p`: `N` tasks
//! ready, `W` processors that make progress, `p` their mean poll. [`run`] says how long the task
//! that waited longest has waited beyond its share of the work, and how long it may have.

mod arrivals;
mod audit;
mod bound;
mod handover;
mod idle;
mod machine;
mod random;
mod task;
mod worker;

pub use arrivals::Kind;
pub use bound::NEGLECT;
pub use machine::Policy;

use arrivals::Scenario;
use machine::Machine;

/// What a run has come to, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// For how long the task that waited longest beyond its share of the work ahead did so.
    pub waited: u64,
    /// For how long the promise lets it.
    pub allowed: u64,
    /// For how long a backlog lay beside a sleeper, and none was woken: at most [`NEGLECT`] is
    /// right.
    pub neglected: u64,
    /// What the run was, which task has waited, and how often things have happened.
    pub account: String,
}

/// Runs a load of this kind, made from this seed, on so many processors.
///
/// # Panics
/// If the simulation loses a task or polls one twice.
///
/// # Examples
/// ```
/// use evenkeel_sim::promise::{Kind, Policy, run};
/// let outcome = run(Kind::Stuck, 1, 8, Policy::default());
/// assert!(outcome.waited <= outcome.allowed, "{}", outcome.account);
/// ```
#[must_use]
pub fn run(kind: Kind, seed: u64, processors: usize, policy: Policy) -> Outcome {
    let scenario = Scenario::new(kind, seed, processors);
    let machine = Machine::new(&scenario, policy).run(&scenario);
    let audit = &machine.audit;
    Outcome {
        waited: audit.worst,
        allowed: bound::beyond_share(&scenario),
        neglected: audit.neglect,
        account: format!(
            "{scenario:?}: task {} has waited {} ns at {}, with {} ns of work ahead; {:?}",
            audit.task, audit.wait, audit.at, audit.ahead, machine.counters
        ),
    }
}
