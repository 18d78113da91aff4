//! Runs that a seed determines: for tests of what depends on the order in which tasks run.
//!
//! [`run`] runs a future and all that it spawns on the caller's thread. Whenever several tasks are
//! ready, the seed says which is polled: any of them, not the oldest. The clock is
//! [paused](crate::time::pause) and moves to the next deadline when nothing is ready. So the same
//! program with the same seed does the same steps in the same order, and other seeds give other
//! orders. [`explore()`] runs a program with many seeds, and says which one has failed.
//!
//! A run fails by a panic of its future; by a panic of a task without a joiner; by a deadlock that
//! [`detect`](crate::detect) reports; if the future waits while nothing is ready and no timer is
//! set; and by more [steps](Options::max_steps) than it may have. Each failure says the seed.
//!
//! # Examples
//! A lost update: two tasks read, wait and write. In the order in which tasks become ready it would
//! be lost in every run or in none.
//! ```
//! use evenkeel::deterministic::{Cause, find, run};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! async fn two_updates() {
//!     let sum = Arc::new(AtomicU64::new(0));
//!     let update = |sum: Arc<AtomicU64>| async move {
//!         let before = sum.load(Ordering::Relaxed);
//!         evenkeel::yield_now().await;
//!         sum.store(before + 1, Ordering::Relaxed);
//!     };
//!     let tasks = [sum.clone(), sum.clone()].map(|sum| evenkeel::spawn(update(sum)));
//!     for task in tasks {
//!         task.await.unwrap();
//!     }
//!     assert_eq!(sum.load(Ordering::Relaxed), 2, "an update is lost");
//! }
//!
//! let failure = find(0..100, |_seed| two_updates()).expect_err("some order loses an update");
//! assert!(matches!(failure.cause, Cause::Panicked { .. }));
//! // The seed gives the same order again.
//! let again = std::panic::catch_unwind(|| run(failure.seed, two_updates()));
//! assert!(again.is_err());
//! ```
//!
//! # Fairness
//! Fairness is a matter of chance here: a ready task probably has its turn soon, and sometimes late
//! ([`policy::interleaving`](crate::policy::interleaving)). That is what such a run is for. The
//! [promise](crate) of an ordinary runtime does not hold.
//!
//! # What a step is
//! A step is one poll. A poll is not interrupted: two tasks interleave only where they await
//! something that is not there, or [`yield_now`](crate::yield_now()). Actors make every message a
//! step. The local tasks of a [set](crate::task::LocalSet) are polled in the order in which they
//! became ready, up to 64 of them in a step of the future that drives the set: no seed changes
//! that.
//!
//! # What a run does otherwise
//! * [`spawn_blocking`](crate::spawn_blocking) makes a task that is polled once, on this thread. A
//!   closure that waits there for another one waits for ever.
//! * Jobs of [`fork_join`](crate::fork_join) run as soon as the step that has left them is over,
//!   all of them, on this thread.
//! * When the future is complete, the tasks that it has spawned are cancelled, in an order that the
//!   seed determines.
//!
//! # What breaks it
//! Whatever a seed does not determine: the order of a `HashMap` or a `HashSet` with the standard
//! library's random state (take a `BTreeMap`, or another state); the machine's time ([`std::time`];
//! take [`evenkeel::time`](crate::time)); random numbers of other sources (take [`random`]), also
//! the branch with which a `select!` without `biased;` begins; other threads and their wakes, for
//! which the run does not wait; addresses, and with them the order in which a [set of
//! monitors](crate::sync::monitor) or [of objects](crate::object::enter_all) is entered; statics
//! that one run leaves to the next; the numbers of tasks, which go on from one run to the next in
//! the process, though their order is the same. [`Options::verify`] finds such differences, where
//! they change which task is polled, how many are ready, or the clock.
//!
//! # Source
//! Simulation in place of a test's own luck: FoundationDB's (Zhou and others, "FoundationDB: a
//! distributed unbundled transactional key value store", 2021).

mod drive;
mod explore;
mod failure;
mod options;

pub use explore::{explore, find};
pub use failure::{Cause, Failure, Step};
pub use options::{Finished, Options};

use crate::policy::interleaving;
use std::future::Future;

/// Runs a future to its end on this thread, in an order that `seed` determines, and returns its
/// output; see [the module](self).
///
/// # Panics
/// If the run [fails](Failure), with a text that contains the seed. If the caller is a task.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, sleep};
/// let waited = evenkeel::deterministic::run(1, async {
///     let start = Instant::now();
///     sleep(Duration::from_secs(3_600)).await;
///     start.elapsed()
/// });
/// assert_eq!(waited, Duration::from_secs(3_600));
/// ```
#[track_caller]
pub fn run<F: Future>(seed: u64, future: F) -> F::Output {
    match Options::new(seed).run(future) {
        Ok(finished) => finished.output,
        Err(failure) => panic!("{failure}"),
    }
}

/// Returns a random number below `bound`, which the seed of the run determines. Each call returns
/// the next number; these calls do not change the order of tasks.
///
/// # Panics
/// If the caller is not inside a run, or `bound` is zero.
///
/// # Examples
/// ```
/// use evenkeel::deterministic::{random, run};
/// let dice = || async { [random(6), random(6), random(6)] };
/// assert_eq!(run(4, dice()), run(4, dice()));
/// ```
#[track_caller]
#[must_use]
pub fn random(bound: u64) -> u64 {
    assert!(bound > 0, "`random`: the bound is 0; numbers are drawn below it");
    let drawn = drive::draw();
    let (seed, count) = drawn.expect("`random` is called outside of a run: call it inside one");
    // Another sequence than that of the steps.
    let bits = interleaving::bits(!seed, count);
    interleaving::among(bits, usize::try_from(bound).unwrap_or(usize::MAX)) as u64
}
