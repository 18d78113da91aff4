//! The clock of the runtime in the hands of a test.

use super::Duration;
use crate::Handle;

/// Stops the clock of the runtime that the caller belongs to: it stands still for as long as
/// anything in the runtime runs, and moves to the next deadline when all is idle: no task is ready,
/// nobody runs in `block_on`, and no closure of [`spawn_blocking`](crate::spawn_blocking) is under
/// way. If the clock stands already, nothing happens.
///
/// Whoever is woken by a thread that is not of the runtime should expect the clock to have moved
/// meanwhile.
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
    Handle::current().shared().stop_clock();
}

/// Has the clock of the runtime that the caller belongs to go on from where it stands. If it does
/// not stand, nothing happens.
///
/// # Panics
/// If the caller belongs to no runtime, or to a [deterministic](crate::deterministic) one, whose
/// clock goes by itself.
#[track_caller]
pub fn resume() {
    let handle = Handle::current();
    assert!(
        !handle.shared().hooks.deterministic,
        "the clock of a deterministic run is never the machine's: it moves to the next deadline when nothing is ready"
    );
    handle.shared().start_clock();
}

/// Moves the clock of the runtime that the caller belongs to, and that stands, so far ahead, and
/// gives the others a turn.
///
/// The clock stops at each deadline on its way and wakes who waits for that, in the order of the
/// deadlines. None of them runs before the clock has arrived, except on another worker; what they
/// arm then is counted from there. With one worker, all have had a turn when this returns. To have
/// each run at its own time, [`sleep`](super::sleep()) instead: the clock moves by itself. In a
/// [deterministic](crate::deterministic) run the others have had turns, but not all: sleep there.
///
/// # Cancel safety
/// The clock moves at the first poll.
///
/// # Panics
/// If the caller belongs to no runtime, or its clock does not stand.
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
    let handle = Handle::current();
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    assert!(
        handle.shared().move_clock(nanos),
        "advance is called while the clock runs: stop it with time::pause or Builder::start_paused"
    );
    // It runs behind whoever has just been woken. A runtime that ends takes no more, and has nobody
    // to wait for.
    let _ = handle.spawn(async {}).await;
}
