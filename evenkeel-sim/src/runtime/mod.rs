//! The runtime's workers on a simulated machine: in virtual time, with the runtime's own policy.
//!
//! A [`Setup`] says where the workers are, what things cost, and what is queued at the beginning; a
//! [`Load`](load::Load) says what the tasks do. The [audit](audit::Audit) measures every wait.

pub(crate) mod audit;
pub(crate) mod costs;
mod gathering;
mod handover;
mod idle;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod random;
pub(crate) mod relief;
pub(crate) mod task;
mod worker;

use costs::Costs;
use machine::Policy;
use task::Task;

/// Where a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// The number of its core, which it may share with another worker.
    pub(crate) core: usize,
    /// The number of its last-level cache.
    pub(crate) cache: usize,
}

/// A machine before its run.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    /// The workers.
    pub(crate) seats: Vec<Seat>,
    /// Reliefs beside them.
    pub(crate) reliefs: usize,
    /// Processors that make progress for the whole run.
    pub(crate) progress: usize,
    pub(crate) tasks: Vec<Task>,
    /// Processors, each with a task in its queue at the beginning.
    pub(crate) queued: Vec<(usize, usize)>,
    /// Whether thieves leave the tasks of all processors together.
    pub(crate) together: bool,
    /// Whether sockets wake the tasks, so that quick ones are left to their processor for a while.
    pub(crate) serves: bool,
    /// Whether threads that are no workers want the cores, so that they are left to it for longer.
    pub(crate) contended: bool,
    /// Whether workers bring quick tasks together, and thieves try whether a steal of them pays.
    pub(crate) gathers: bool,
    pub(crate) costs: Costs,
    pub(crate) policy: Policy,
}

/// A task that an outside thread makes ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) time: u64,
    pub(crate) processor: usize,
    pub(crate) task: usize,
}
