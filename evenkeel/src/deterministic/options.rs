//! The options of a run, and its result.

use super::failure::Step;
use std::time::Duration;

/// The default limit of steps: some seconds of a program that loops for ever. An estimate; no
/// benchmark sets it.
const MAX_STEPS: u64 = 10_000_000;

/// The options of a run.
///
/// # Examples
/// ```
/// use evenkeel::deterministic::Options;
/// let finished = Options::new(7).run(async { evenkeel::spawn(async { 42 }).await.unwrap() }).unwrap();
/// assert_eq!(finished.output, 42);
/// assert_eq!(finished.steps, 3);
/// ```
#[derive(Clone, Debug)]
#[must_use = "options run nothing by themselves"]
pub struct Options {
    pub(super) seed: u64,
    pub(super) max_steps: u64,
    pub(super) tolerates_panics: bool,
    pub(super) records: bool,
}

impl Options {
    /// Makes the default options, with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, max_steps: MAX_STEPS, tolerates_panics: false, records: false }
    }

    /// Sets another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how many steps the run may have; ten million by default. A program that never ends
    /// fails by it.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }

    /// Sets whether tasks without a joiner may panic. By default the run fails.
    pub fn tolerate_panics(mut self, tolerate: bool) -> Self {
        self.tolerates_panics = tolerate;
        self
    }

    /// Sets whether [all steps](Finished::trace) are kept, instead of only the last few.
    pub fn record(mut self, record: bool) -> Self {
        self.records = record;
        self
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished<T> {
    /// The future's output.
    pub output: T,
    /// The number of polls, of the future and of tasks.
    pub steps: u64,
    /// How far the clock has moved.
    pub elapsed: Duration,
    /// A number that is the same for two runs with the same steps.
    pub fingerprint: u64,
    /// The last steps, or [all](Options::record).
    pub trace: Vec<Step>,
}
