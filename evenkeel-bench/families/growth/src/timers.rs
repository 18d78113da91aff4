//! Timers that are armed at the same time.
//!
//! One task arms all of them, a portion in each poll, with deadlines that lie hours away, and
//! cancels them in a random order. Then it arms as many with deadlines within a tenth of a second,
//! later than the last is armed, and waits until they are over: what the process computes meanwhile
//! is what the fires cost, the wakes of that task included.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::tasks::each;
use suite::kit::afresh::resident_bytes;
use suite::kit::processor_time::processor_time;
use suite::kit::random::Random;
use suite::kit::runtime::Lost;
use suite::kit::runtime::tokio_hand::builder;

/// Timers of one poll. Those that are due take units of the 128 operations after which Tokio
/// refuses further ones to a poll; pending ones take none.
const PORTION: usize = 100;

/// The deadlines of timers that are cancelled: within this time after as much again.
const FAR: Duration = Duration::from_secs(3_600);

/// The deadlines of timers that fire lie within this time.
const WINDOW: Duration = Duration::from_millis(100);

/// What a timer costs: nanoseconds of each, and bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// Making it and polling it once.
    pub(crate) arm_ns: f64,
    /// Dropping it while it is armed.
    pub(crate) cancel_ns: f64,
    /// Processor time of the whole process for its firing, and for the poll that finds it fired.
    pub(crate) fire_ns: f64,
    /// Growth of the resident set by the timers.
    pub(crate) bytes_per_timer: f64,
}

/// A runtime with timers.
pub(crate) trait Timed: Sized + 'static {
    /// A timer.
    type Sleep: Future<Output = ()> + Send + 'static;

    /// Runs a task on a runtime with this many workers, and stops the runtime.
    fn run<T: Send + 'static>(
        workers: usize,
        task: impl Future<Output = T> + Send + 'static,
    ) -> anyhow::Result<T>;

    fn sleep(duration: Duration) -> Self::Sleep;

    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// This project's runtime.
pub(crate) struct Evenkeel;

impl Timed for Evenkeel {
    type Sleep = evenkeel::time::Sleep;

    fn run<T: Send + 'static>(
        workers: usize,
        task: impl Future<Output = T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let runtime = evenkeel::Builder::new().workers(workers).build()?;
        let task = runtime.spawn(task);
        Ok(runtime.block_on(task).map_err(|error| Lost(error.to_string()))?)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        evenkeel::time::sleep(duration)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        evenkeel::yield_now()
    }
}

/// Tokio, with one worker its current-thread runtime, as everywhere in the suite.
pub(crate) struct Tokio;

impl Timed for Tokio {
    type Sleep = tokio::time::Sleep;

    fn run<T: Send + 'static>(
        workers: usize,
        task: impl Future<Output = T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let runtime = builder(workers).enable_time().build()?;
        let task = runtime.spawn(task);
        Ok(runtime.block_on(task).map_err(|error| Lost(error.to_string()))?)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}

/// Measures on a runtime with this many workers, in a process that has done nothing before.
pub(crate) fn measure<T: Timed>(
    workers: usize,
    number: usize,
    seed: u64,
) -> anyhow::Result<Figures> {
    T::run(workers, drive::<T>(number, seed))?
}

/// An armed timer, in a box of its own, as in a task that waits.
type Armed<T> = Pin<Box<<T as Timed>::Sleep>>;

async fn drive<T: Timed>(number: usize, seed: u64) -> anyhow::Result<Figures> {
    let mut random = Random::new(seed, 0);
    let before = resident_bytes()?;
    let started = Instant::now();
    let mut armed = arm::<T>(number, || FAR + within(FAR, &mut random)).await?;
    let arm_ns = each(started, number);
    let bytes_per_timer = resident_bytes()?.saturating_sub(before) as f64 / number as f64;
    random.shuffle(&mut armed);
    let started = Instant::now();
    while !armed.is_empty() {
        armed.truncate(armed.len().saturating_sub(PORTION));
        T::yield_now().await;
    }
    let cancel_ns = each(started, number);
    // Twice as long as it took before: then the last is armed before the first fires.
    let lead = WINDOW + Duration::from_nanos((2.0 * arm_ns * number as f64) as u64);
    let armed = arm::<T>(number, || lead + within(WINDOW, &mut random)).await?;
    let fire_ns = fire::<T>(armed, lead).await;
    Ok(Figures { arm_ns, cancel_ns, fire_ns, bytes_per_timer })
}

/// Returns a random part of `time`.
fn within(time: Duration, random: &mut Random) -> Duration {
    Duration::from_micros(random.below(time.as_micros() as usize) as u64)
}

/// Arms timers, each for what `duration` says.
async fn arm<T: Timed>(
    number: usize,
    mut duration: impl FnMut() -> Duration + Send,
) -> anyhow::Result<Vec<Armed<T>>> {
    let mut armed = Vec::with_capacity(number);
    while armed.len() < number {
        let fired = poll_fn(|context| {
            let portion = PORTION.min(number - armed.len());
            let fired = (0..portion).filter(|_| {
                let mut timer = Box::pin(T::sleep(duration()));
                let is_ready = timer.as_mut().poll(context).is_ready();
                armed.push(timer);
                is_ready
            });
            Poll::Ready(fired.count())
        });
        let fired = fired.await;
        ensure!(fired == 0, "{fired} timers fired at once");
        T::yield_now().await;
    }
    Ok(armed)
}

/// Waits until all have fired, after `lead` at the earliest, and returns the processor time that
/// each has taken.
async fn fire<T: Timed>(mut armed: Vec<Armed<T>>, lead: Duration) -> f64 {
    let number = armed.len();
    let begun = processor_time();
    T::sleep(lead + WINDOW).await;
    while !armed.is_empty() {
        let mut late = Vec::new();
        while !armed.is_empty() {
            let mut portion = armed.split_off(armed.len().saturating_sub(PORTION));
            poll_fn(|context| {
                let mut is_late = |timer: &mut Armed<T>| timer.as_mut().poll(context).is_pending();
                late.extend(
                    portion.drain(..).filter_map(|mut timer| is_late(&mut timer).then_some(timer)),
                );
                Poll::Ready(())
            })
            .await;
            T::yield_now().await;
        }
        armed = late;
        T::sleep(Duration::from_millis(1)).await;
    }
    processor_time().saturating_sub(begun).as_nanos() as f64 / number as f64
}
