//! Time: sleeps, timeouts, and intervals, by a clock that a test can pause.
//!
//! # Accuracy
//! No timer ends early. A timer fires at the first tick that is not before its deadline; a tick is
//! [524 µs by default](crate::Builder::timer_resolution). Then its task waits for its turn as every
//! ready task does. A worker checks its timers between two batches of polls, about every 4 µs if
//! polls are short, or 32 µs where sockets wake the tasks; a batch in which polls turn from short
//! to long may have 256 of the long ones. If a batch lasts longer, another worker fires these
//! timers. A worker that works or searches does so 0.1 ms after the tick. If all others sleep, one
//! of them wakes for it within 1.1 ms, or within 8 ms if the timer was armed after that worker fell
//! asleep. A single worker has no such help. `evenkeel-bench run --bench timers` shows how late
//! timers are. A deadline more than 292 years from the beginning of the process never comes.
//!
//! # Cost
//! Each processor has timers of its own. To create a timer and cancel it takes a look at the
//! processor's cycle counter (or, where Linux does not trust that, at the clock), two locked
//! instructions on cache lines that no other thread uses, and no allocation, however many timers
//! there are. A future that is ready at its first poll needs no timer. Dropping a fired timer takes
//! no locked instruction. A sleeping worker wakes for its next timer, and a runtime without timers
//! does not wake at all. If another thread cancels a timer while its worker sleeps, the worker
//! wakes once in vain. [Metrics](crate::metrics::RuntimeMetrics) count the timers of each
//! processor, and its wake-ups.
//!
//! # Where a timer belongs
//! A timer belongs to the runtime inside which it is first polled: in its tasks and in its
//! `block_on`. Outside of any runtime, as in [`evenkeel::block_on`](crate::block_on()) on a plain
//! thread, a sleep can be created, but panics when it is polled. A sleep that is created outside
//! counts from the machine's clock. If its runtime's clock is paused, create it inside, as in
//! `spawn(async { sleep(SECOND).await })`.
//!
//! # A clock for tests
//! Each runtime has a clock, which [`Instant::now`] reads. After
//! [`start_paused`](crate::Builder::start_paused) or [`pause`] the clock stands still while
//! anything runs in the runtime. It moves to the next deadline when everything in the runtime is
//! idle. So a test that waits for an hour takes no time, and each task sees exactly the time that
//! it waited for. With one worker such a test takes the same course each time, unless it has
//! threads of its own.
//!
//! The clock moves by itself only if all of this holds: every worker sleeps; no task is ready; no
//! job of fork-join and no part of a broadcast is waiting; the system has nothing ready for a
//! [socket](crate::net) of the runtime, so that a limit on a read does not end it while tasks of
//! the runtime answer; the relief on duty rests; no thread is awake in a `block_on` of the runtime;
//! and no closure of [`spawn_blocking`](crate::spawn_blocking) runs, unless it waits in a
//! `block_on` itself. So a task that spins or blocks its worker holds the clock back. A worker that
//! has [settled](crate::WorkerThread::settle) or was dropped holds it back for ever: it runs no
//! loop in which it could sleep. Do not pause the clock of such a runtime. A thread outside the
//! runtime does not hold the clock back: when it wakes a task, the clock may have moved before. Nor
//! do other processes, and other nodes of actors.
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
