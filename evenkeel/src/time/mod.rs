//! Time: sleeping, limits on waiting, and intervals, by a clock that a test can stop.
//!
//! # How exact it is
//! Nothing ends early. A timer fires at the first tick that is not before its deadline, where a tick is
//! [524 µs by default](crate::Builder::timer_resolution), and then its task waits for its turn as every ready task does. `evenkeel-bench run
//! --bench timers` shows how late that is. A deadline more than 292 years from the beginning of the process never comes.
//!
//! # What it costs
//! Each processor has timers of its own: to create a timer and to cancel it takes a look at the clock, two locked instructions on lines
//! that nobody else uses, and no allocation, however many there are. A timer that has fired is dropped without any. A worker asleep wakes for
//! its next timer, and a runtime without timers does not wake at all; for a timer that was cancelled by another thread while its worker slept, that
//! wakes once in vain.
//!
//! # Where a timer belongs
//! To the runtime inside which it is polled first: in its tasks and in its `block_on`. The timers of a worker that is stuck in a long
//! poll are fired by the others, within about 10 ms if there is any other.
//!
//! # A clock for tests
//! Each runtime has a clock, which [`Instant::now`] reads. One that was built with [`start_paused`](crate::Builder::start_paused), or that has
//! been [paused](pause), stands still while anything runs in the runtime, and moves to the next deadline when everything in it is idle: a test of an hour's
//! waiting takes no time, and each task sees the exact time that it has waited for. With one worker such a test takes the same course each time, unless it has threads of
//! its own.
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
