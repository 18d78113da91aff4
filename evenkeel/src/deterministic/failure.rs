//! Failures of runs.

use crate::detect::Deadlock;
use crate::task::TaskInfo;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// How many tasks a failure's text lists.
const TOLD: usize = 20;

/// A run that has failed. Its `Debug` is its text, for tests that unwrap.
///
/// # Examples
/// A wait for a message that no task sends:
/// ```
/// use evenkeel::deterministic::{Cause, Failure, Options};
///
/// let run = Options::new(7).run(async {
///     let (_sender, receiver) = async_channel::unbounded::<u32>();
///     receiver.recv().await
/// });
/// let Failure { seed, cause, trace, .. } = run.unwrap_err();
/// assert!(seed == 7 && matches!(&cause, Cause::Stalled { waiting } if waiting.is_empty()));
/// assert_eq!(trace.len(), 1, "the future was polled once");
/// assert!(cause.to_string().starts_with("the future of the run waits for ever"));
/// ```
#[non_exhaustive]
pub struct Failure {
    /// The seed of the run.
    pub seed: u64,
    /// Why the run failed.
    pub cause: Cause,
    /// The last steps, or [all](super::Options::record).
    pub trace: Vec<Step>,
    /// A number that is the same for two runs with the same steps.
    pub fingerprint: u64,
}

/// One poll. [`Options::record`](super::Options::record) has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// How far the clock had moved.
    pub elapsed: Duration,
    /// The number of ready tasks, from which this one was chosen.
    pub candidates: usize,
    /// Where the task was spawned; none for the future of the run itself.
    pub spawn_site: Option<&'static Location<'static>>,
}

/// Why a run has failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The future of the run panicked.
    Panicked {
        /// The panic's payload.
        payload: Box<dyn Any + Send>,
    },
    /// A task without a joiner panicked, or a job of [`fork_join`](crate::fork_join) without one.
    TaskPanicked {
        /// The task; none for a job.
        task: Option<TaskInfo>,
        /// The panic's message.
        words: String,
    },
    /// Tasks wait for each other; only in builds that [detect](crate::detect) deadlocks.
    Deadlock(Deadlock),
    /// The future waits, and nothing is ready and no timer is set. The run does not wait for wakes
    /// by other threads.
    Stalled {
        /// The tasks that are not complete. The future itself is no task.
        waiting: Vec<TaskInfo>,
    },
    /// The run has taken more steps than it [may](super::Options::max_steps).
    TooLong {
        /// The number of steps.
        steps: u64,
        /// How far the clock has moved.
        elapsed: Duration,
    },
    /// Two runs with the same seed were not the same: see
    /// [`Options::verify`](super::Options::verify).
    Differs {
        /// The number of steps that were the same.
        step: u64,
        /// The first step that differs, in either run; none in a run that was over. Both are none
        /// if the runs have polled tasks of the same places in the program, but other ones of them.
        steps: [Option<Step>; 2],
    },
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run with seed {} failed: {}", self.seed, self.cause)?;
        if !self.trace.is_empty() && !matches!(self.cause, Cause::Differs { .. }) {
            f.write_str("\n  its last steps:")?;
            let last = self.trace.len().saturating_sub(TOLD);
            for equal in self.trace[last..].chunk_by(|one, next| one == next) {
                write!(f, "\n    {}", equal[0])?;
                if equal.len() > 1 {
                    write!(f, ", {} times", equal.len())?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:?}, of {} that were ready, ", self.elapsed, self.candidates)?;
        match self.spawn_site {
            Some(site) => write!(f, "a task spawned at {site}"),
            None => f.write_str("the future of the run"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked { payload } => {
                write!(f, "it panicked: {}", crate::raw_task::report::message(&**payload))
            }
            Self::TaskPanicked { task: Some(task), words } => {
                write!(f, "{task} panicked, and had no joiner: {words}")
            }
            Self::TaskPanicked { task: None, words } => {
                write!(f, "a job without a joiner panicked: {words}")
            }
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::Stalled { waiting } => {
                // The future is no task, so the list would name only the tasks that may well wait,
                // such as actors for messages.
                f.write_str(
                    "the future of the run waits for ever, or for another thread: nothing is ready and no timer is set",
                )?;
                match waiting.len() {
                    0 => f.write_str(
                        ", and no task beside it, but for local ones, which are not listed",
                    )?,
                    count => write!(f, "; tasks that wait beside it: {count}")?,
                }
                waiting.iter().take(TOLD).try_for_each(|task| write!(f, "\n    {task}"))?;
                if waiting.len() > TOLD {
                    f.write_str("\n    ...")?;
                }
                Ok(())
            }
            Self::TooLong { steps, elapsed } => write!(
                f,
                "it is not over after {steps} steps, in which the clock has moved by {elapsed:?}: either it loops for ever, or it needs more max_steps"
            ),
            Self::Differs { step, steps: [None, None] } => write!(
                f,
                "a second run differs from the first within {step} steps: tasks of the same places were polled, but other ones of them, so something there does not follow from the seed"
            ),
            Self::Differs { step, steps } => {
                write!(
                    f,
                    "a second run differs from the first after {step} equal steps: something there does not follow from the seed"
                )?;
                for (run, step) in ["first", "second"].iter().zip(steps) {
                    match step {
                        Some(step) => write!(f, "\n  the {run} run: {step}")?,
                        None => write!(f, "\n  the {run} run was over")?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl Error for Failure {}
