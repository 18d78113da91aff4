//! Ends: a runtime is dropped while all its tasks wait. For a simulation, beside which they are
//! measured.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use evenkeel::{Builder, task};

use super::steps::median;
use super::threads::ASLEEP;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// Ends, of which the median counts.
const ENDS: usize = 20;

/// How many times as many tasks the other end has from which [`step`] knows what a task takes.
const MORE: usize = 10;

/// Drops runtimes with `procs` workers and `tasks` for each of them, which wait. Returns the
/// nanoseconds of the end for each task of a worker: a task's end, with its share of the runtime's.
///
/// # Errors
/// If a runtime or a task does not start.
pub fn once(procs: usize, tasks: usize) -> Result<f64, Fault> {
    Ok(end(procs, tasks)? / tasks as f64)
}

/// Returns the nanoseconds by which a task that waits makes the end of a runtime with one worker
/// longer, from one with this many tasks to one with [`MORE`] times as many.
///
/// # Errors
/// If a runtime or a task does not start.
pub fn step(tasks: usize) -> Result<f64, Fault> {
    let (few, many) = (end(1, tasks)?, end(1, MORE * tasks)?);
    Ok((many - few).max(0.0) / ((MORE - 1) * tasks) as f64)
}

/// Returns the nanoseconds of an end.
fn end(procs: usize, tasks: usize) -> Result<f64, Fault> {
    let times: Result<Vec<f64>, Fault> = (0..ENDS).map(|_| end_once(procs, tasks)).collect();
    times.map(median)
}

fn end_once(procs: usize, tasks: usize) -> Result<f64, Fault> {
    // Its only threads are its workers.
    let runtime = Builder::new().workers(procs).reliefs(0).build();
    let runtime = runtime.map_err(|error| Fault::Start(error.into()))?;
    let begun = Arc::<AtomicUsize>::default();
    let counted = begun.clone();
    let spawns = async move {
        for _ in 0..procs * tasks {
            let counted = counted.clone();
            drop(task::spawn(async move {
                counted.fetch_add(1, Ordering::Relaxed);
                pending::<()>().await;
            }));
        }
    };
    runtime.block_on(runtime.spawn(spawns)).map_err(|error| Lost(error.to_string()))?;
    while begun.load(Ordering::Relaxed) < procs * tasks {
        thread::sleep(ASLEEP);
    }
    thread::sleep(ASLEEP);
    let ends = Instant::now();
    drop(runtime);
    Ok(ends.elapsed().as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_runtimes_end_and_take_time() {
        step(10).unwrap();
        for procs in [1, 2] {
            assert!(once(procs, 10).unwrap() > 0.0);
        }
    }
}
