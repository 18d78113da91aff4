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
/// let sum = async { evenkeel::spawn(async { 40 }).await.unwrap() + 2 };
/// let finished = Options::new(7).run(sum).unwrap();
/// assert_eq!((finished.output, finished.steps), (42, 3));
/// ```
/// A hundred runs, in which a task without a joiner may panic:
/// ```
/// use evenkeel::deterministic::{Options, random};
///
/// async fn crash_of_a_part() {
///     drop(evenkeel::spawn(async { panic!("a part fails") }));
///     for _ in 0..random(10) {
///         evenkeel::yield_now().await;
///     }
/// }
///
/// let options = Options::new(0).max_steps(100).tolerate_panics(true);
/// options.explore(0..100, |_seed| crash_of_a_part());
/// // By default, a run fails if the part has its turn before the run ends.
/// assert!(Options::new(0).find(0..100, |_seed| crash_of_a_part()).is_err());
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
    ///
    /// # Examples
    /// The seed determines the order of the tasks:
    /// ```
    /// use evenkeel::deterministic::Options;
    ///
    /// let program = || async {
    ///     let tasks = [1, 2, 3].map(|_| evenkeel::spawn(evenkeel::yield_now()));
    ///     for task in tasks {
    ///         task.await.unwrap();
    ///     }
    /// };
    /// let options = Options::new(0).max_steps(50);
    /// let order = |seed| options.clone().seed(seed).run(program()).unwrap().fingerprint;
    /// assert_eq!(order(1), order(1));
    /// assert!((2..20).any(|seed| order(seed) != order(1)));
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how many steps the run may have; ten million by default. A program that never ends
    /// fails by it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::deterministic::{Cause, Options};
    ///
    /// let polls_for_ever = async {
    ///     loop {
    ///         evenkeel::yield_now().await;
    ///     }
    /// };
    /// let failure = Options::new(1).max_steps(1_000).run(polls_for_ever).unwrap_err();
    /// assert!(matches!(failure.cause, Cause::TooLong { steps: 1_000, .. }));
    /// ```
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }

    /// Sets whether tasks without a joiner may panic, and jobs that
    /// [`fork_join::spawn`](crate::fork_join::spawn()) makes. By default the run fails.
    pub fn tolerate_panics(mut self, tolerate: bool) -> Self {
        self.tolerates_panics = tolerate;
        self
    }

    /// Sets whether [all steps](Finished::trace) are kept, instead of only the last few.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::deterministic::Options;
    ///
    /// let naps = async {
    ///     for _ in 0..50 {
    ///         evenkeel::time::sleep(evenkeel::time::Duration::from_secs(1)).await;
    ///     }
    /// };
    /// let finished = Options::new(1).record(true).run(naps).unwrap();
    /// assert_eq!((finished.trace.len(), finished.steps), (51, 51));
    /// let last = &finished.trace[50];
    /// assert_eq!((last.elapsed.as_secs(), last.candidates, last.spawn_site), (50, 1, None));
    /// ```
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
