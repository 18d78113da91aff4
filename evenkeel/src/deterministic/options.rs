//! How a run goes, and what comes of it.

use super::drive;
use super::failure::{Cause, Failure, Step};
use std::future::Future;
use std::time::Duration;

/// Steps that a run may have unless said otherwise: some seconds of a program that goes round in a
/// circle. An estimate; no benchmark sets it.
const MAX_STEPS: u64 = 10_000_000;

/// How a run goes.
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
    /// The defaults, with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, max_steps: MAX_STEPS, tolerates_panics: false, records: false }
    }

    /// Another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many steps the run may have; ten million by default. A program that never ends fails by
    /// it.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }

    /// Whether tasks may panic, though nobody joins them. By default the run fails.
    pub fn tolerate_panics(mut self, tolerate: bool) -> Self {
        self.tolerates_panics = tolerate;
        self
    }

    /// Whether [all steps](Finished::trace) are kept, and not the last few alone.
    pub fn record(mut self, record: bool) -> Self {
        self.records = record;
        self
    }

    /// Runs a future to its end on this thread.
    ///
    /// # Errors
    /// If the run fails: see [the module](super).
    ///
    /// # Panics
    /// If the caller is a task.
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> Result<Finished<F::Output>, Failure> {
        drive::run(self, future)
    }

    /// Runs a program twice and compares all steps.
    ///
    /// # Errors
    /// [`Cause::Differs`] with the first step that was not the same; or whatever fails the first
    /// run.
    ///
    /// # Panics
    /// If the caller is a task.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::deterministic::{Cause, Options};
    /// use std::cell::Cell;
    /// Options::new(1).verify(|| async { evenkeel::yield_now().await }).unwrap();
    /// // What one run leaves to the next.
    /// let runs = Cell::new(0);
    /// let failure = Options::new(1)
    ///     .verify(|| async {
    ///         runs.set(runs.get() + 1);
    ///         for _ in 0..runs.get() {
    ///             evenkeel::yield_now().await;
    ///         }
    ///     })
    ///     .unwrap_err();
    /// assert!(matches!(failure.cause, Cause::Differs { .. }));
    /// ```
    #[track_caller]
    pub fn verify<F: Future>(
        &self,
        mut program: impl FnMut() -> F,
    ) -> Result<Finished<F::Output>, Failure> {
        let recording = self.clone().record(true);
        let first = recording.run(async { program().await })?;
        let (second, fingerprint) = match recording.run(async { program().await }) {
            Ok(second) => (second.trace, second.fingerprint),
            Err(failure) => (failure.trace, failure.fingerprint),
        };
        if fingerprint == first.fingerprint && second == first.trace {
            return Ok(first);
        }
        let pairs = first.trace.iter().zip(&second);
        let step = pairs.take_while(|(one, other)| one == other).count();
        let cause = Cause::Differs {
            step: step as u64,
            steps: [first.trace.get(step), second.get(step)].map(Option::<&Step>::copied),
        };
        let trace = first.trace;
        Err(Failure { seed: self.seed, cause, trace, fingerprint })
    }
}

/// What a run has come to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished<T> {
    /// The future's output.
    pub output: T,
    /// How many polls there were, of the future and of tasks.
    pub steps: u64,
    /// How far the clock has moved.
    pub elapsed: Duration,
    /// A number that two runs with the same steps have in common.
    pub fingerprint: u64,
    /// The last steps, or [all](Options::record).
    pub trace: Vec<Step>,
}
