//! The relief, beside workers that are inside fork-join.

use super::{check_relieved, join, spawn};
use crate::primitives::{Condvar, Mutex, lock};
use crate::processor::shared::Shared;
use crate::scheduler::errands;
use crate::sync::Semaphore;
use crate::task::park;
use shuttle::thread;
use std::sync::Arc;

/// Errands keep their workers inside fork-join until three tasks, which wait for each other, have
/// run.
fn beside_busy_workers(shared: &Arc<Shared>) {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    for _ in 0..shared.workers {
        let gate = gate.clone();
        let compute = move || {
            let mut open = lock(&gate.0);
            while !*open {
                open = gate.1.wait(open).expect("no thread panics");
            }
        };
        errands::send(shared, Box::new(compute));
    }
    let sleeper = spawn(shared, async {
        park().await;
    });
    let waker = spawn(shared, {
        let sleeper = sleeper.task().clone();
        async move { sleeper.unpark() }
    });
    let opener = spawn(shared, async move {
        sleeper.await.expect("it is not aborted");
        *lock(&gate.0) = true;
        gate.1.notify_all();
    });
    [waker, opener].into_iter().for_each(join);
}

#[test]
fn the_relief_runs_tasks_beside_one_busy_worker() {
    check_relieved(1, true, beside_busy_workers);
}

#[test]
fn the_relief_runs_tasks_beside_two_busy_workers() {
    check_relieved(2, true, beside_busy_workers);
}

#[test]
fn wakes_from_outside_meet_a_relief_that_is_about_to_rest() {
    check_relieved(2, true, wakes_beside_short_errands);
}

#[test]
fn tasks_wait_for_workers_if_the_system_refuses_the_relief() {
    check_relieved(2, false, wakes_beside_short_errands);
}

/// Tasks are woken from outside while workers go away and come back.
fn wakes_beside_short_errands(shared: &Arc<Shared>) {
    let semaphore = Arc::new(Semaphore::new(0));
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let semaphore = semaphore.clone();
            spawn(shared, async move { semaphore.take().await })
        })
        .collect();
    let computer = {
        let shared = shared.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                errands::send(&shared, Box::new(thread::yield_now));
                thread::yield_now();
            }
        })
    };
    (0..3).for_each(|_| semaphore.add_permits(1));
    computer.join().expect("the thread does not panic");
    waiters.into_iter().for_each(join);
}
