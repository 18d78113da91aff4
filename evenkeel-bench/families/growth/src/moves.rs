//! Ready tasks of a worker that does not come to them, and that others take.
//!
//! **Roles.** The *driver*, a task, wakes all *waiters* in one poll, in a random order, and
//! computes in that poll until they have come to wait again: so each of them has moved to another
//! worker. The other worker has nothing else to do, and steals; or there are *busy* tasks, two for
//! each worker but the driver's, which do nothing but yield, and it helps.
//!
//! The driver waits for all but one: Tokio keeps the task that was woken last for the poll's end.
//! If none moves for [`PATIENCE`] it yields, and there is no figure.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::tasks::{STRIDES, Shared, each, measurements, spawn_all};
use super::{Variant, chase};
use suite::kit::afresh::resident_bytes;
use suite::kit::random::Random;
use suite::kit::runtime::{Parker, Runtime};
use suite::summary::Summary;

/// Moves that are measured at least, in each of the measurements.
const MOVES: usize = 100_000;

/// Busy tasks for each worker but one.
const BUSY: usize = 2;

/// How long the driver computes while no task moves. The slowest honest runtime needs milliseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// Looks at the count of moves between two looks at the clock.
const LOOKS: usize = 1_000;

/// What a move costs: nanoseconds of each, with the wake before it and the poll after it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// The move; none if tasks did not move.
    pub(crate) move_ns: Option<f64>,
    /// A step of a chase of pointers over as much memory as the tasks have.
    pub(crate) chase_ns: f64,
}

/// Measures on a runtime with this many workers, in a process that has done nothing before.
pub(crate) fn measure<R: Runtime>(
    variant: Variant,
    workers: usize,
    number: usize,
    seed: u64,
) -> anyhow::Result<Figures> {
    ensure!(workers > 1, "a task moves where there are two workers, and not {workers}");
    let runtime = R::start(workers)?;
    let busy = if variant == Variant::Help { BUSY * (workers - 1) } else { 0 };
    let driver = drive::<R>(busy, number, seed);
    let (move_ns, stride) = runtime.block_on(async { R::spawn(driver).await })??;
    drop(runtime);
    let chase_ns = chase::run(number, stride as usize, seed);
    Ok(Figures { move_ns, chase_ns })
}

/// The driver: returns the nanoseconds of a move beside this many busy tasks, and the bytes of a
/// task.
async fn drive<R: Runtime>(
    busy: usize,
    number: usize,
    seed: u64,
) -> anyhow::Result<(Option<f64>, f64)> {
    let before = resident_bytes()?;
    let shared = Shared::leaked();
    let tokens: Arc<[R::Parker]> = (0..number).map(|_| R::Parker::default()).collect();
    spawn_all::<R>(shared, &tokens).await;
    let bytes = resident_bytes()?.saturating_sub(before) as f64 / number as f64;
    let mut order: Vec<_> = tokens.iter().map(R::Parker::unparker).collect();
    Random::new(seed, 0).shuffle(&mut order);
    let is_over = Arc::new(AtomicBool::new(false));
    let busy = (0..busy).map(|_| {
        let is_over = is_over.clone();
        R::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                R::yield_now().await;
            }
        })
    });
    let busy: Vec<_> = busy.collect();
    let move_ns = move_all::<R>(shared, &order).await;
    is_over.store(true, Ordering::Relaxed);
    for task in busy {
        task.await?;
    }
    Ok((move_ns, bytes.clamp(*STRIDES.start(), *STRIDES.end())))
}

/// Has all waiters move, round by round, and returns the nanoseconds of a move, if they do.
async fn move_all<R: Runtime>(
    shared: &'static Shared,
    order: &[<R::Parker as Parker>::Unparker],
) -> Option<f64> {
    let number = order.len();
    let rounds = MOVES.div_ceil(number);
    let mut came = shared.came.load(Ordering::Acquire);
    let mut moves = Vec::new();
    for _ in 0..measurements(rounds * number) {
        let mut elapsed = 0.0;
        for _ in 0..rounds {
            came += number as u64;
            let started = Instant::now();
            order.iter().for_each(R::Parker::unpark);
            let has_moved = compute_until(shared, came - 1);
            elapsed += each(started, number * rounds);
            shared.come::<R>(came).await;
            if !has_moved {
                return None;
            }
        }
        moves.push(elapsed);
    }
    Summary::of(moves).map(|moves| moves.median)
}

/// Computes until waiters have come `times` times. Returns false if none has come for too long.
fn compute_until(shared: &Shared, times: u64) -> bool {
    let mut last = (shared.came.load(Ordering::Acquire), Instant::now());
    loop {
        for _ in 0..LOOKS {
            if shared.came.load(Ordering::Acquire) >= times {
                return true;
            }
            hint::spin_loop();
        }
        let came = shared.came.load(Ordering::Acquire);
        if came > last.0 {
            last = (came, Instant::now());
        } else if last.1.elapsed() > PATIENCE {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::kit::runtime::evenkeel::Evenkeel;

    #[test]
    fn workers_without_work_and_with_some_take_tasks_of_a_poll_that_goes_on() {
        for variant in [Variant::Steal, Variant::Help] {
            for number in [10, 100] {
                let found = measure::<Evenkeel>(variant, 2, number, 1).unwrap();
                assert!(found.move_ns.is_some_and(|ns| ns > 0.0), "{variant}, {number}: {found:?}");
            }
        }
        assert!(measure::<Evenkeel>(Variant::Steal, 1, 100, 1).is_err());
    }

    #[test]
    fn the_driver_does_not_wait_for_ever_for_tasks_that_do_not_move() {
        let shared = Shared::leaked();
        assert!(compute_until(shared, 0));
        assert!(!compute_until(shared, 1));
    }
}
