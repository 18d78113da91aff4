//! What the tasks' steps cost.

use super::machine::Distance;

/// A step on what a core has in its own cache, and on what another core behind the same last-level
/// cache has, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// With all lines in the core's own cache.
    pub own: f64,
    /// With all lines in the cache of another core.
    pub foreign: f64,
}

impl Price {
    /// Returns the price at a distance. Beyond the last-level cache a line costs `far` times as
    /// much as within it.
    pub(super) fn at(self, distance: Distance, far: f64) -> f64 {
        let lines = (self.foreign - self.own).max(0.0);
        match distance {
            Distance::Core => self.own,
            Distance::Cache => self.own + lines,
            Distance::Far => self.own + lines * far,
        }
    }
}

/// What the steps cost from which the experiments are made, in nanoseconds. None follows from a run
/// of an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// A wake of a task that waits for its token.
    pub wake: Price,
    /// A poll of such a task, until it waits again; with the scheduler's part.
    pub poll: Price,
    /// A yield, with the scheduler's part.
    pub yields: f64,
    /// A release of a semaphore at which a task waits.
    pub release: Price,
    /// A poll of that task, until it waits at another semaphore; with the scheduler's part.
    pub acquire: Price,
    /// A cache line from another core behind the same last-level cache.
    pub line: f64,
    /// How many times as long a line takes beyond that cache.
    pub far: f64,
    /// The heavy fence.
    pub heavy_fence: f64,
    /// The call that wakes a thread, and how long it takes until that thread runs.
    pub unpark: f64,
    /// From that call until the thread runs.
    pub unpark_latency: f64,
    /// How long a step takes beside another worker on the same core, in per cent of what it takes
    /// there alone.
    pub beside_sibling: u64,
}
