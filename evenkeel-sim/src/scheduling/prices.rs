//! What the tasks' steps cost.

use super::machine::Distance;

/// What the steps cost from which the experiments are made, in nanoseconds, and what else the
/// workers do. None follows from a run of an experiment. A step's memory is in the worker's own
/// core; [lines](Self::line) that are not come on top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// A wake of a task that waits for its token.
    pub wake: f64,
    /// A poll of such a task, until it waits again; with the scheduler's part.
    pub poll: f64,
    /// A yield, with the scheduler's part.
    pub yields: f64,
    /// A release of a semaphore at which a task waits.
    pub release: f64,
    /// A poll of that task, until it waits at another semaphore; with the scheduler's part.
    pub acquire: f64,
    /// A release of a semaphore at which no task waits, and the acquisition of that permit.
    pub returned: f64,
    /// A spawn of a task, until it is queued.
    pub spawn: f64,
    /// A poll of a task that completes it; with the scheduler's part.
    pub complete: f64,
    /// Taking the result of a complete task.
    pub join: f64,
    /// A sleep: arming its timer, its fire, and the poll that follows; with the scheduler's part.
    pub sleep: f64,
    /// What a task that waits adds to the end of a runtime, which aborts it.
    pub abort: f64,
    /// The increments of an operation of Locality.
    pub touch: f64,
    /// What a task does at each operation to count it, and to see whether it is the last.
    pub count: f64,
    /// A draw of the semaphore of an operation, or of the length of a sleep.
    pub draw: f64,
    /// A cache line from another core behind the same last-level cache.
    pub line: f64,
    /// How many times as long a line takes beyond that cache.
    pub far: f64,
    /// The heavy fence.
    pub heavy_fence: f64,
    /// The call that wakes a thread.
    pub unpark: f64,
    /// From that call until the thread runs.
    pub unpark_latency: f64,
    /// From a thread's last own step until another one, which waits for its end, has joined it.
    pub thread_end: f64,
    /// A join of a thread that has ended.
    pub thread_join: f64,
    /// How long a step takes beside another worker on the same core, in per cent of what it takes
    /// there alone.
    pub beside_sibling: u64,
}

/// The place of a price.
pub type Price = fn(&mut Prices) -> &mut f64;

impl Prices {
    /// The prices that are timed, with their names.
    pub const TIMED: [(&'static str, Price); 20] = [
        ("wake", |prices| &mut prices.wake),
        ("poll", |prices| &mut prices.poll),
        ("release", |prices| &mut prices.release),
        ("acquire", |prices| &mut prices.acquire),
        ("returned", |prices| &mut prices.returned),
        ("touch", |prices| &mut prices.touch),
        ("count", |prices| &mut prices.count),
        ("draw", |prices| &mut prices.draw),
        ("spawn", |prices| &mut prices.spawn),
        ("end", |prices| &mut prices.complete),
        ("join", |prices| &mut prices.join),
        ("sleep", |prices| &mut prices.sleep),
        ("abort", |prices| &mut prices.abort),
        ("yield", |prices| &mut prices.yields),
        ("line", |prices| &mut prices.line),
        ("fence", |prices| &mut prices.heavy_fence),
        ("wake-up", |prices| &mut prices.unpark),
        ("its latency", |prices| &mut prices.unpark_latency),
        ("thread end", |prices| &mut prices.thread_end),
        ("thread join", |prices| &mut prices.thread_join),
    ];

    /// Returns how long a line takes over a distance.
    pub(super) fn line_over(&self, distance: Distance) -> f64 {
        match distance {
            Distance::Core => 0.0,
            Distance::Cache => self.line,
            Distance::Far => self.line * self.far,
        }
    }
}
