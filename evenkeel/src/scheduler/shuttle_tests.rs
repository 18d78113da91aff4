//! The whole scheduler under shuttle: workers, tasks and outside threads, by random and by
//! priority-based (PCT) schedules.
//!
//! Memory is sequentially consistent here; the loom models check memory orderings. A lost wake-up
//! shows as a deadlock, a task that is lost or polled twice as a failed assertion.
//!
//! [`checked`](crate::runtime::checked) has the number of schedules.

mod drivers;
mod ends;
mod moves;
mod relief;
mod sleepers;
mod timers;

use crate::processor::neighbours::Neighbours;
use crate::processor::shared::{Phase, Shared};
use crate::runtime::block_on;
use crate::runtime::checked::{check_with, execute};
use crate::task::{self, JoinHandle};
use crate::topology::Topology;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// Runs `scenario` on a scheduler with this many workers, under many schedules. In the end the
/// runtime drains.
pub(crate) fn check(workers: usize, scenario: fn(&Arc<Shared>)) {
    check_until(workers, Phase::Draining, scenario);
}

/// Does the same, with a relief; the system grants or refuses its thread.
pub(crate) fn check_relieved(workers: usize, granted: bool, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let places: Vec<_> = (0..workers).collect();
        let neighbours = Neighbours::all(&Topology::flat(workers), &places);
        execute(neighbours, Some(granted), Phase::Draining, |shared, _| scenario(shared));
    });
}

/// Does the same, with another end.
pub(crate) fn check_until(workers: usize, end: Phase, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let neighbours = (0..workers).map(|me| Neighbours::flat(me, workers));
        execute(neighbours.collect(), None, end, |shared, _| scenario(shared));
    });
}

#[track_caller]
pub(crate) fn spawn<F>(shared: &Arc<Shared>, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    super::spawn::on(shared, |birth| task::make(future, (), Location::caller(), birth))
}

pub(crate) fn join<T>(handle: JoinHandle<T>) -> T {
    block_on(handle).expect("the task does not panic")
}
