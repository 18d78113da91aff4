//! Churn: tasks push each other out of semaphores, so that a task is woken by one that has no
//! connection with the processor where it ran.
//!
//! The spots are FIFO counting semaphores. There are half as many as tasks, and at most tasks less
//! processors, so that no processor need be idle. In one operation, a task draws a spot, does V on
//! it, which pushes out the task that has waited there longest, and then does P on it. The first
//! tasks, one per spot, skip their first V and wait before the others begin; so there are always as
//! many waiting tasks as spots, less those that are between their V and P.
//! At the stop each task ends after its P. One more V for each task that skipped its first then
//! releases the tasks that still wait. Each V has then met its P, and no permit may be left.

use std::sync::Arc;

use super::crew;
use super::{Outcome, Spec};
use suite::kit::fault::Fault;
use suite::kit::random::Random;
use suite::kit::runtime::{Runtime, Semaphores};

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let (tasks, seed) = (spec.tasks(), spec.seed);
    let spots = spots(tasks, spec.procs);
    // A single task has no other to push it out.
    let skips = spots.min(tasks - 1);
    let row = Arc::new(R::Permits::new(spots, tasks));
    let shared = row.clone();
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, tasks, move |number, mut meter| {
        let row = shared.clone();
        let mut seat = row.seat(number);
        let mut random = Random::new(seed, number);
        let mut spot = random.below(spots);
        let skips = number < skips;
        async move {
            if skips {
                meter.report();
            } else {
                meter.gather::<R>().await;
                row.release(spot, ());
            }
            loop {
                row.acquire(spot, &mut seat).await;
                if !meter.count(1) {
                    break meter.tally();
                }
                spot = random.below(spots);
                row.release(spot, ());
            }
        }
    })?;
    let (tallies, elapsed) = crew.measure(spec, || {
        for skipped in 0..skips {
            row.release(Random::new(seed, skipped).below(spots), ());
        }
    })?;
    for spot in 0..spots {
        let free = row.available(spot);
        if free != 0 {
            return Fault::check(format!("spot {spot} ends with {free} permits instead of none"));
        }
    }
    crew::outcome(&tallies, elapsed)
}

/// Half as many as tasks, but never more than tasks less processors, and at least one.
fn spots(tasks: usize, procs: usize) -> usize {
    (tasks / 2).min(tasks.saturating_sub(procs)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_leave_a_running_task_for_each_processor() {
        assert_eq!(spots(100, 1), 50);
        assert_eq!(spots(2, 1), 1);
        assert_eq!(spots(4, 3), 1);
        assert_eq!(spots(2, 2), 1);
    }
}
