//! Time: sleeping, limits on waiting, and intervals, by a clock that a test can stop.
//!
//! # How exact it is
//! Nothing ends early. A timer fires at the first tick that is not before its deadline, where a
//! tick is [524 µs by default](crate::Builder::timer_resolution), and then its task waits for its
//! turn as every ready task does. A worker looks at its timers between two polls, some 4 µs after
//! each other if they are short. Behind a poll that lasts for longer another worker fires its
//! timers: one that works or searches 0.1 ms after the tick, or, if all others sleep, one of them,
//! which wakes for it within 1.1 ms, or within 8 ms of a timer that was armed after that fell
//! asleep. A single worker has nobody. `evenkeel-bench run --bench timers` shows how late timers
//! are. A deadline more than 292 years from the beginning of the process never comes.
//!
//! # What it costs
//! Each processor has timers of its own: to create a timer and to cancel it takes a look at the
//! processor's cycle counter (or, where Linux does not trust that, at the clock), two locked
//! instructions on lines that nobody else uses, and no allocation, however many there are; what is
//! ready at its first poll needs no timer. A timer that has fired is dropped without any. A worker
//! asleep wakes for its next timer, and a runtime without timers does not wake at all; for a timer
//! that was cancelled by another thread while its worker slept, that wakes once in vain.
//! [Metrics](crate::metrics::RuntimeMetrics) count the timers of each processor, and its wake-ups.
//!
//! # Where a timer belongs
//! To the runtime inside which it is polled first: in its tasks and in its `block_on`. Outside of
//! any, as in [`evenkeel::block_on`](crate::block_on()) on a plain thread, a sleep may be created,
//! and panics when it is polled. Such a one counts from the machine's clock: if that of its runtime
//! stands, create it inside, as in `spawn(async { sleep(SECOND).await })`.
//!
//! # A clock for tests
//! Each runtime has a clock, which [`Instant::now`] reads. One that was built with
//! [`start_paused`](crate::Builder::start_paused), or that has been [paused](pause), stands still
//! while anything runs in the runtime, and moves to the next deadline when everything in it is
//! idle: a test of an hour's waiting takes no time, and each task sees the exact time that it has
//! waited for. With one worker such a test takes the same course each time, unless it has threads
//! of its own.
//!
//! The clock moves by itself only if all of this holds: every worker sleeps; no task is ready; no
//! job of fork-join and no part of a broadcast is waiting; the relief rests; no thread is awake in
//! a `block_on` of the runtime; and no closure of [`spawn_blocking`](crate::spawn_blocking) runs,
//! unless it waits in a `block_on` itself. So a task that spins or blocks its worker holds it back,
//! and so does a worker that has [settled](crate::WorkerThread::settle) or was dropped, for ever:
//! it runs no loop in which it could sleep. Do not pause the clock of such a runtime. A thread that
//! is not of the runtime holds nothing back: if it is to wake a task, the clock may have moved
//! before.
//!
//! ```
//! use evenkeel::time::{Duration, Instant, sleep, timeout};
//! let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
//! runtime.block_on(async {
//!     let start = Instant::now();
//!     let slow = evenkeel::spawn(async {
//!         sleep(Duration::from_secs(60)).await;
//!         "late"
//!     });
//!     assert!(timeout(Duration::from_secs(10), slow).await.is_err());
//!     assert_eq!(start.elapsed(), Duration::from_secs(10));
//! });
//! ```

mod control;
mod instant;
mod interval;
mod sleep;
mod timeout;

pub use control::{advance, pause, resume};
pub use instant::Instant;
pub use interval::{Interval, MissedTicks, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use std::time::Duration;
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
