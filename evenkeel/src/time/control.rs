//! Functions by which a test controls the clock of a runtime.

use super::Duration;
use crate::Handle;

/// Pauses the clock of the caller's runtime. The clock then stands still while anything in the
/// runtime runs. It moves to the next deadline when all is idle: no task is ready, no thread is
/// awake in `block_on`, and no closure of [`spawn_blocking`](crate::spawn_blocking) runs. If the
/// clock is paused already, nothing happens.
///
/// When a thread outside the runtime wakes a task, the clock may have moved meanwhile.
///
/// # Panics
/// If the caller belongs to no runtime.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, pause, resume, sleep};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     pause();
///     let start = Instant::now();
///     sleep(Duration::from_secs(1_000)).await;
///     assert_eq!(start.elapsed(), Duration::from_secs(1_000));
///     resume();
/// });
/// ```
#[track_caller]
pub fn pause() {
    Handle::current_for("time::pause").shared().stop_clock();
}

/// Resumes the clock of the caller's runtime from where it stands. If it is not paused, nothing
/// happens.
///
/// # Panics
/// If the caller belongs to no runtime, or to a [deterministic](crate::deterministic) one: its
/// clock always moves by itself.
///
/// # Examples
/// The clock goes on from the time that it was moved to:
/// ```
/// use evenkeel::time::{Duration, Instant, advance, pause, resume, sleep};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let start = Instant::now();
///     pause();
///     advance(Duration::from_secs(3_600)).await;
///     resume();
///     sleep(Duration::from_millis(1)).await;
///     assert!(start.elapsed() >= Duration::from_millis(3_600_001));
/// });
/// ```
#[track_caller]
pub fn resume() {
    let handle = Handle::current_for("time::resume");
    assert!(
        !handle.shared().hooks.deterministic,
        "the clock of a deterministic run is never the machine's: it moves to the next deadline when nothing is ready"
    );
    handle.shared().start_clock();
}

/// Moves the paused clock of the caller's runtime ahead by `duration`, and gives other tasks a
/// turn.
///
/// The clock stops at each deadline on its way and wakes the tasks that wait for it, in the order
/// of the deadlines, and does not go beyond 146 years in all. These tasks do not run before the
/// clock has arrived, except on another worker; a timer that they then arm counts from there. With
/// one worker, all of them have had a turn when this returns, unless a
/// [relief](crate::Builder::reliefs) has come to the worker's help. To run each at its own time,
/// [`sleep`](super::sleep()) instead: the clock moves by itself. In a
/// [deterministic](crate::deterministic) run some tasks have had turns, but not all: sleep there.
///
/// # Cancel safety
/// The clock moves at the first poll.
///
/// # Panics
/// If the caller belongs to no runtime, or its clock is not paused.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, advance, sleep};
/// let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let sleeper = evenkeel::spawn(sleep(Duration::from_secs(5)));
///     evenkeel::spawn(async {}).await.unwrap();
///     advance(Duration::from_secs(5)).await;
///     assert!(sleeper.is_finished());
/// });
/// ```
pub async fn advance(duration: Duration) {
    let handle = Handle::current_for("time::advance");
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    assert!(
        handle.shared().move_clock(nanos),
        "advance is called while the clock runs: stop it with time::pause or Builder::start_paused"
    );
    // This task runs behind those that have just been woken. A runtime that shuts down takes no new
    // task; then there is none to wait for.
    let _ = handle.spawn(async {}).await;
}
