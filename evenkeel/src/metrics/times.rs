//! How workers have spent their time, by the distances of the machine.

use crate::processor::Processor;
use crate::processor::meter::Doing;
use crate::topology::Distance;
use std::iter::Sum;
use std::ops::{Add, Index};
use std::time::Duration;

/// A value for each [`Distance`].
///
/// # Examples
/// ```
/// use evenkeel::metrics::ByDistance;
/// use evenkeel::topology::Distance;
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// runtime.install(|| evenkeel::fork_join::join(|| (), || ()));
/// let steals: ByDistance<u64> = runtime.metrics().times().steals;
/// let far = steals.iter().filter(|&(distance, _)| distance > Distance::SharedLlc);
/// let far: u64 = far.map(|(_, count)| count).sum();
/// assert!(far <= steals.total());
/// assert_eq!(steals[Distance::Same], 0, "no worker steals from itself");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByDistance<T>([T; Distance::ALL.len()]);

impl<T: Copy> ByDistance<T> {
    pub(crate) fn of(value: impl Fn(Distance) -> T) -> Self {
        Self(Distance::ALL.map(value))
    }

    /// Returns the values, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = (Distance, T)> {
        Distance::ALL.into_iter().zip(self.0)
    }

    /// Returns the sum of all values.
    pub fn total(&self) -> T
    where
        T: Sum,
    {
        self.0.into_iter().sum()
    }
}

impl<T> Index<Distance> for ByDistance<T> {
    type Output = T;

    fn index(&self, distance: Distance) -> &T {
        &self.0[distance as usize]
    }
}

/// How a worker, or several, have spent their time, and how often they have taken work from others:
/// the four metrics of the evaluation of the Cilk Locality runtime (Shuck, 2017), with
/// [`work_inflation`](Self::work_inflation).
///
/// The times of one worker add up to the time since its runtime began.
///
/// # Examples
/// How a phase of a program has used its workers:
/// ```
/// use evenkeel::metrics::Times;
/// use std::time::Duration;
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// let before: Times = runtime.metrics().times();
/// runtime.install(|| std::thread::sleep(Duration::from_millis(3)));
/// let phase = runtime.metrics().times().since(&before);
/// assert!(phase.execution.total() >= Duration::from_millis(3));
/// let overhead = phase.scheduling.total().as_secs_f64();
/// let all = overhead + (phase.execution.total() + phase.idle()).as_secs_f64();
/// println!("{:.1} % scheduling", 100.0 * overhead / all);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// Running tasks and jobs. Stolen fork-join jobs are listed by how far they came; all else is
    /// under [`Distance::Same`], tasks from elsewhere too. Includes time that the system gives to
    /// other threads, and time inside a task that blocks.
    pub execution: ByDistance<Duration>,
    /// *Scheduling overhead*: taking work from others with success, including the search that found
    /// the work.
    pub scheduling: ByDistance<Duration>,
    /// Searching for work without success, or waiting for a job that another worker has stolen.
    pub searching: Duration,
    /// Parked.
    pub asleep: Duration,
    /// How often work was taken: a job, or some tasks.
    pub steals: ByDistance<u64>,
}

impl Times {
    pub(crate) fn of(processor: &Processor, now: u64) -> Self {
        let reading = processor.meter.read(now);
        let time = |doing| Duration::from_nanos(reading.of(doing));
        Self {
            execution: ByDistance::of(|distance| time(Doing::Running(distance))),
            scheduling: ByDistance::of(|distance| time(Doing::Stealing(distance))),
            searching: time(Doing::Searching),
            asleep: time(Doing::Asleep),
            steals: ByDistance::of(|distance| processor.counters.steals_from(distance)),
        }
    }

    /// Returns the *idle time*: searching in vain and asleep.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.searching + self.asleep
    }

    /// Returns the *work inflation*, in seconds: how much longer all workers together have run the
    /// work than one worker alone runs it. The cause is the caches that the workers share, or do
    /// not share; below zero they help.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// let before = runtime.metrics().times();
    /// runtime.install(|| evenkeel::fork_join::join(|| (), || ()));
    /// let times = runtime.metrics().times().since(&before);
    /// println!("{:.6} s", times.work_inflation(Duration::from_micros(1)));
    /// ```
    #[must_use]
    pub fn work_inflation(&self, one_worker: Duration) -> f64 {
        self.execution.total().as_secs_f64() - one_worker.as_secs_f64()
    }

    /// Returns what has been added since an earlier snapshot of the same workers.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, Duration::saturating_sub, u64::saturating_sub)
    }

    fn with(
        &self,
        other: &Self,
        times: impl Fn(Duration, Duration) -> Duration,
        counts: impl Fn(u64, u64) -> u64,
    ) -> Self {
        Self {
            execution: ByDistance::of(|at| times(self.execution[at], other.execution[at])),
            scheduling: ByDistance::of(|at| times(self.scheduling[at], other.scheduling[at])),
            searching: times(self.searching, other.searching),
            asleep: times(self.asleep, other.asleep),
            steals: ByDistance::of(|at| counts(self.steals[at], other.steals[at])),
        }
    }
}

impl Add for Times {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(&other, Add::add, Add::add)
    }
}

impl Sum for Times {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::default(), Add::add)
    }
}
