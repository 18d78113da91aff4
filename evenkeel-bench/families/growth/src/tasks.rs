//! Tasks that are alive at the same time, and wait.
//!
//! **Roles.** The *driver*, a task, spawns the *waiters*. Each of them says that it has come, waits
//! for its token, and so on. The driver wakes them in a random order, a portion at a time, and
//! yields after each, so that no more of them are ready than a program has that goes on meanwhile.
//! In the end the runtime is dropped, while all of them wait.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::chase;
use suite::kit::afresh::resident_bytes;
use suite::kit::random::Random;
use suite::kit::runtime::{Parker, Runtime};
use suite::summary::Summary;

/// Wakes between two yields of the driver, and spawns.
const PORTION: usize = 1_000;

/// Wakes that are measured at least, in each of the measurements.
const WAKES: usize = 300_000;

/// Measurements, whose median counts. Of so many wakes that they take seconds there is only the
/// first, whose order is new to the caches: with so many tasks each order is.
pub(crate) fn measurements(wakes: usize) -> usize {
    if wakes < 10 * WAKES { 3 } else { 1 }
}

/// Bytes of a place of the chase, if the tasks are too few for their memory to be measured.
pub(crate) const STRIDES: std::ops::RangeInclusive<f64> = 64.0..=1024.0;

/// What a task costs: nanoseconds of each, and bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// A spawn and the first poll.
    pub(crate) spawn_ns: f64,
    /// A wake and the poll after it.
    pub(crate) wake_ns: f64,
    /// The end with the runtime, that of the token included.
    pub(crate) end_ns: f64,
    /// A step of a chase of pointers over as much memory.
    pub(crate) chase_ns: f64,
    /// Growth of the resident set by the spawns.
    pub(crate) bytes_per_task: f64,
    /// Size of the future, which is part of that.
    pub(crate) future_bytes: usize,
}

/// What the driver and the waiters share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// The times that a waiter has come to wait.
    pub(crate) came: AtomicU64,
    /// The waiters that have ended.
    pub(crate) ended: AtomicU64,
}

impl Shared {
    /// Makes it for waiters that have no room for a count of references.
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Waits until waiters have come this many times.
    pub(crate) async fn come<R: Runtime>(&self, times: u64) {
        while self.came.load(Ordering::Acquire) < times {
            R::yield_now().await;
        }
    }
}

/// Counts the waiter as ended when it is dropped.
struct Waiting(&'static Shared);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the driver has measured.
struct Driven {
    spawn_ns: f64,
    wake_ns: f64,
    bytes_per_task: f64,
    future_bytes: usize,
}

/// Measures on a runtime with this many workers, in a process that has done nothing before.
pub(crate) fn measure<R: Runtime>(
    workers: usize,
    number: usize,
    seed: u64,
) -> anyhow::Result<Figures> {
    let runtime = R::start(workers)?;
    let shared = Shared::leaked();
    let tokens: Arc<[R::Parker]> = (0..number).map(|_| R::Parker::default()).collect();
    let driver = drive::<R>(shared, tokens.clone(), seed);
    let Driven { spawn_ns, wake_ns, bytes_per_task, future_bytes } =
        runtime.block_on(async { R::spawn(driver).await })??;
    let started = Instant::now();
    drop(runtime);
    // A token of some runtimes keeps its task's memory, which others free with the runtime.
    drop(tokens);
    let end_ns = each(started, number);
    let ended = shared.ended.load(Ordering::Relaxed);
    ensure!(ended == number as u64, "{ended} of {number} tasks have ended with the runtime");
    let stride = bytes_per_task.clamp(*STRIDES.start(), *STRIDES.end());
    let chase_ns = chase::run(number, stride as usize, seed);
    Ok(Figures { spawn_ns, wake_ns, end_ns, chase_ns, bytes_per_task, future_bytes })
}

/// The driver.
async fn drive<R: Runtime>(
    shared: &'static Shared,
    tokens: Arc<[R::Parker]>,
    seed: u64,
) -> anyhow::Result<Driven> {
    let number = tokens.len();
    let before = resident_bytes()?;
    let started = Instant::now();
    let future_bytes = spawn_all::<R>(shared, &tokens).await;
    let spawn_ns = each(started, number);
    let bytes_per_task = resident_bytes()?.saturating_sub(before) as f64 / number as f64;
    let mut order: Vec<_> = tokens.iter().map(R::Parker::unparker).collect();
    Random::new(seed, 0).shuffle(&mut order);
    let rounds = WAKES.div_ceil(number);
    let mut times = 1;
    let measurements = measurements(rounds * number);
    let mut wakes = Vec::with_capacity(measurements);
    for _ in 0..measurements {
        let started = Instant::now();
        for _ in 0..rounds {
            for portion in order.chunks(PORTION) {
                portion.iter().for_each(R::Parker::unpark);
                R::yield_now().await;
            }
            times += 1;
            shared.come::<R>(times * number as u64).await;
        }
        wakes.push(each(started, number * rounds));
    }
    let wake_ns = Summary::of(wakes).map_or(f64::NAN, |wakes| wakes.median);
    Ok(Driven { spawn_ns, wake_ns, bytes_per_task, future_bytes })
}

/// Spawns a waiter for each token, and returns once all of them wait: the size of their futures.
pub(crate) async fn spawn_all<R: Runtime>(shared: &'static Shared, tokens: &[R::Parker]) -> usize {
    let mut future_bytes = 0;
    for portion in tokens.chunks(PORTION) {
        for token in portion {
            let waiter = wait::<R>(Waiting(shared), token.clone());
            future_bytes = mem::size_of_val(&waiter);
            // The handle is dropped: a waiter has no joiner.
            drop(R::spawn(waiter));
        }
        R::yield_now().await;
    }
    shared.come::<R>(tokens.len() as u64).await;
    future_bytes
}

/// A waiter.
async fn wait<R: Runtime>(waiting: Waiting, token: R::Parker) {
    token.attach().await;
    loop {
        // Release: its token is attached.
        waiting.0.came.fetch_add(1, Ordering::Release);
        token.park().await;
    }
}

/// Returns the nanoseconds of each of `number` since `started`.
pub(crate) fn each(started: Instant, number: usize) -> f64 {
    started.elapsed().as_nanos() as f64 / number as f64
}
