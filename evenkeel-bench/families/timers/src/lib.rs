//! Timers: the cost of creating and cancelling them, and their lateness.
//!
//! Cancel and timeout: each worker's task creates a timer of half a minute, or a future with such a
//! limit, polls it once and drops it, like a timer that turns out unnecessary. Idle, load and long:
//! tasks repeatedly sleep for a few milliseconds, alone, beside tasks that keep all workers busy
//! and yield every 5 µs, or beside one that keeps a worker for 2 ms in each poll. They record how
//! late they wake; an early wake is a fault. [`family`] presents the experiment to the suite.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod family;
mod sleeper;

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use sleeper::Sleeper;
use suite::entry::Entry;
use suite::kit::fault::Fault;
use suite::kit::latency::Latencies;
use suite::kit::processor_time::processor_time;
use suite::kit::random::Random;
use suite::named;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Timers>();

/// The experiment's name on the command line and in the tables.
pub(crate) const NAME: &str = "timers";

/// A description of the experiment in one line.
pub(crate) const DESCRIPTION: &str = "timers created and cancelled, and how late they fire";

/// The usual number of sleeping tasks.
pub(crate) const USUAL_TASKS: usize = 100;

/// A timeout that is always cancelled.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Timers in one poll, of which the yield after them is a small part. A pending one takes none of
/// the 128 operations after which Tokio refuses further ones to a poll.
const POLL: u64 = 100;

/// The shortest and the longest sleep, in microseconds.
const SLEEPS: (u64, u64) = (1_000, 10_000);

/// The length of a busy task's poll.
const BUSY: Duration = Duration::from_micros(5);

/// Busy tasks for each worker.
const BUSY_TASKS: usize = 2;

/// The length of a long poll.
const LONG: Duration = Duration::from_millis(2);

named! {
    /// One way of running the experiment.
    pub(crate) enum Variant as "variant of timers" {
        /// Timers are created and cancelled.
        Cancel = "cancel",
        /// Futures with a limit are created and cancelled.
        Timeout = "timeout",
        /// Tasks sleep, and nothing else runs.
        Idle = "idle",
        /// Tasks sleep beside busy ones.
        Load = "load",
        /// Tasks sleep beside one with long polls.
        Long = "long",
    }
}

impl Variant {
    /// Whether it cancels timers; otherwise they fire.
    pub(crate) fn cancels(self) -> bool {
        matches!(self, Variant::Cancel | Variant::Timeout)
    }

    /// The number of busy tasks beside the sleeping ones, and the length of their polls.
    fn busy(self, workers: usize) -> (usize, Duration) {
        match self {
            Variant::Cancel | Variant::Timeout | Variant::Idle => (0, BUSY),
            Variant::Load => (workers * BUSY_TASKS, BUSY),
            Variant::Long => (1, LONG),
        }
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The variant.
    pub(crate) variant: Variant,
    /// Workers of the runtime.
    pub(crate) workers: usize,
    /// Sleeping tasks; one for each worker if timers are cancelled.
    pub(crate) tasks: usize,
    /// Measured time.
    pub(crate) time: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

/// The measurements of a run.
pub(crate) struct Outcome {
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
    /// The number of timers.
    pub(crate) timers: u64,
    /// The lateness of the timers that fired.
    pub(crate) late: Latencies,
    /// The processor time of this process meanwhile.
    pub(crate) used: Duration,
}

/// Runs the experiment once.
pub(crate) fn run<S: Sleeper>(spec: &Spec) -> Result<Outcome, Fault> {
    let runtime = S::start(spec.workers).map_err(Fault::Start)?;
    match spec.variant {
        Variant::Cancel => cancel(&runtime, spec, || S::sleep(TIMEOUT)),
        Variant::Timeout => cancel(&runtime, spec, || S::timeout(TIMEOUT, pending::<()>())),
        Variant::Idle | Variant::Load | Variant::Long => late(&runtime, spec),
    }
}

fn cancel<S: Sleeper, F: Future + 'static>(
    runtime: &S,
    spec: &Spec,
    timer: fn() -> F,
) -> Result<Outcome, Fault> {
    let (start, used) = (Instant::now(), processor_time());
    let time = spec.time;
    let tasks: Vec<_> = (0..spec.workers)
        .map(|_| {
            runtime.spawn(async move {
                let (mut timers, mut fired) = (0, 0);
                // At least once: the system may first run a task when the time is over.
                loop {
                    fired += poll_fn(|context| {
                        let fired = (0..POLL).filter(|_| {
                            let timer = pin!(timer());
                            timer.poll(context).is_ready()
                        });
                        Poll::Ready(fired.count())
                    })
                    .await;
                    timers += POLL;
                    if start.elapsed() >= time {
                        return (timers, fired);
                    }
                    S::yield_now().await;
                }
            })
        })
        .collect();
    let mut timers = 0;
    for task in tasks {
        let (created, fired) = runtime.join(task)?;
        if fired > 0 {
            return Fault::check(format!("{fired} timers of {TIMEOUT:?} fired at once"));
        }
        timers += created;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Outcome { seconds, timers, late: Latencies::default(), used: processor_time() - used })
}

fn late<S: Sleeper>(runtime: &S, spec: &Spec) -> Result<Outcome, Fault> {
    let (start, used) = (Instant::now(), processor_time());
    let over = Arc::new(AtomicBool::new(false));
    let (busy, length) = spec.variant.busy(spec.workers);
    let busy: Vec<_> = (0..busy)
        .map(|_| {
            let over = over.clone();
            runtime.spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    let poll = Instant::now();
                    while poll.elapsed() < length {
                        std::hint::spin_loop();
                    }
                    S::yield_now().await;
                }
            })
        })
        .collect();
    let tasks: Vec<_> = (0..spec.tasks)
        .map(|task| {
            let (time, mut random) = (spec.time, Random::new(spec.seed, task));
            runtime.spawn(async move {
                let (shortest, longest) = SLEEPS;
                let mut late = Vec::new();
                loop {
                    let micros = shortest + random.below((longest - shortest) as usize) as u64;
                    let deadline = Instant::now() + Duration::from_micros(micros);
                    S::sleep(Duration::from_micros(micros)).await;
                    late.push(Instant::now().checked_duration_since(deadline));
                    if start.elapsed() >= time {
                        return late;
                    }
                }
            })
        })
        .collect();
    let mut late = Latencies::default();
    let mut early = 0;
    for task in tasks {
        for late_by in runtime.join(task)? {
            match late_by {
                Some(late_by) => late.add(late_by),
                None => early += 1,
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let used = processor_time() - used;
    over.store(true, Ordering::Relaxed);
    for task in busy {
        runtime.join(task)?;
    }
    if early > 0 {
        return Fault::check(format!("{early} timers fired early"));
    }
    Ok(Outcome { seconds, timers: late.count(), late, used })
}
