//! The promise on simulated machines: how long tasks wait under adversarial loads.
//!
//! The runtime promises that a task which becomes ready starts within a bound (`docs/promise.md`).
//! [`run`] returns the longest wait beyond a task's share of the work, the last term of that bound,
//! and the longest that the promise allows.

mod arrivals;
pub(crate) mod bound;

pub use crate::runtime::machine::Policy;
pub use arrivals::{Kind, SOCKETS};

use crate::runtime::load::Planned;
use crate::runtime::machine::Machine;
use arrivals::Scenario;

/// The result of a run, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The longest wait of a task beyond its share of the work ahead.
    pub waited: u64,
    /// The longest such wait that the promise allows.
    pub allowed: u64,
    /// The longest time for which a backlog lay beside a sleeper and none was woken.
    pub neglected: u64,
    /// The longest such time that is allowed, if there is a limit.
    pub neglect_allowed: Option<u64>,
    /// A description of the run, its longest wait, and its counts.
    pub account: String,
}

/// Runs a load of this kind, made from this seed, on `processors` processors.
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
    let machine = Machine::new(scenario.setup(policy), Planned);
    let machine = machine.run(&scenario.arrivals, scenario.least, scenario.horizon);
    let audit = &machine.audit;
    Outcome {
        waited: audit.worst,
        allowed: bound::beyond_share(&scenario),
        neglected: audit.neglect,
        neglect_allowed: bound::neglect(&scenario),
        account: format!(
            "{scenario:?}: task {} has waited {} ns at {}, with {} ns of work ahead; {:?}",
            audit.task, audit.wait, audit.at, audit.ahead, machine.counters
        ),
    }
}
