//! Ends of tasks: drains, aborts, and the permits of aborted tasks.

use super::{check, check_until, join, spawn};
use crate::processor::shared::Phase;
use crate::runtime::block_on;
use crate::scheduler::{run, sweep};
use crate::sync::Semaphore;
use crate::task::{self, JoinHandle, park, yield_now};
use shuttle::sync::mpsc;
use shuttle::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn spawns_race_the_end_of_a_drain_and_complete_or_are_cancelled() {
    check(2, |shared| {
        let spawner = {
            let shared = shared.clone();
            thread::spawn(move || (0..3).map(|_| spawn(&shared, yield_now())).collect::<Vec<_>>())
        };
        shared.advance(Phase::Draining);
        for handle in spawner.join().unwrap() {
            // Shuttle reports a deadlock if a task is left behind.
            let joined = block_on(handle);
            assert!(joined.is_ok() || joined.is_err_and(|error| error.is_cancelled()));
        }
    });
}

#[test]
fn aborting_ends_parked_and_ready_tasks_and_those_they_spawn() {
    check_until(3, Phase::Aborting, |shared| {
        for _ in 0..2 {
            drop(spawn(shared, async {
                drop(task::spawn(park()));
                loop {
                    // A schedule by priorities would run this worker alone for ever.
                    thread::yield_now();
                    yield_now().await;
                }
            }));
            drop(spawn(shared, park()));
        }
    });
}

/// The workers are treated as if they were stuck: each task is dropped once, by its worker or by
/// the thread that has swept it.
#[test]
fn tasks_are_swept_from_workers_that_go_on_meanwhile() {
    check_until(2, Phase::Aborting, |shared| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let parent = Noted(dropped.clone());
        let handles = [
            spawn(shared, async move {
                let _parent = parent;
                // It waits for a task that may be swept while it is polled itself.
                let _ = task::spawn(park()).await;
                park().await;
            }),
            spawn(shared, park()),
            spawn(shared, async {
                loop {
                    thread::yield_now();
                    yield_now().await;
                }
            }),
        ];
        shared.advance(Phase::Aborting);
        for _ in 0..2 {
            sweep::sweep(shared, |tasks| {
                tasks.into_iter().for_each(|task| run::cancel_elsewhere(shared, task));
            });
        }
        for handle in handles {
            assert!(block_on(handle).is_err_and(|error| error.is_cancelled()));
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    });
}

/// The tasks are treated as if they were stuck: each handle has the output, or is stuck.
#[test]
fn handles_that_are_given_up_while_their_tasks_run_are_complete_or_stuck() {
    check(2, |shared| {
        let handles: Vec<_> = (0..2).map(|_| spawn(shared, yield_now())).collect();
        let ids: Vec<_> = handles.iter().map(JoinHandle::id).collect();
        let waiter = spawn(shared, async move {
            let mut stuck = 0;
            for handle in handles {
                stuck += usize::from(handle.await.is_err_and(|error| error.is_stuck()));
            }
            stuck
        });
        let mut given_up = 0;
        for processor in shared.processors.iter() {
            for task in sweep::incomplete(processor).into_iter().flatten() {
                let is_meant = ids.contains(&task.live().footer().id);
                given_up += usize::from(is_meant && run::give_up(&task));
            }
        }
        assert_eq!(join(waiter), given_up);
    });
}

/// The only worker is inside a poll until all handles have finished.
#[test]
fn what_is_spawned_while_the_ender_leaves_is_cancelled_without_a_worker() {
    check_until(1, Phase::Aborting, |shared| {
        let (begin, begun) = mpsc::channel();
        let (free, freed) = mpsc::channel();
        let own = shared.clone();
        let stuck = spawn(shared, async move {
            let mut children = Vec::new();
            for _ in 0..2 {
                begin.send(()).expect("the ender listens");
                children.push(spawn(&own, park()));
            }
            freed.recv().expect("the ender frees it");
            children
        });
        begun.recv().expect("the task begins");
        let spawner = {
            let shared = shared.clone();
            thread::spawn(move || (0..2).map(|_| spawn(&shared, park())).collect::<Vec<_>>())
        };
        shared.advance(Phase::Aborting);
        let sweep_whole = || {
            let cancel = |task| run::cancel_elsewhere(shared, task);
            while !sweep::sweep(shared, |tasks| tasks.into_iter().for_each(cancel)) {
                thread::yield_now();
            }
        };
        sweep_whole();
        shared.ending().is_left_behind = true;
        sweep_whole();
        for handle in spawner.join().expect("the spawner does not panic") {
            assert!(block_on(handle).is_err_and(|error| error.is_cancelled()));
        }
        free.send(()).expect("the task waits");
        for child in join(stuck) {
            assert!(child.is_finished(), "it does not wait for its worker");
        }
    });
}

/// Counts its drops.
struct Noted(Arc<AtomicUsize>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waiter_that_is_aborted_passes_its_permit_on() {
    check(2, |shared| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = || {
            let semaphore = semaphore.clone();
            spawn(shared, async move { semaphore.take().await })
        };
        let (impatient, patient) = (waiter(), waiter());
        let releaser = {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.add_permits(1))
        };
        impatient.abort();
        if block_on(impatient).is_ok() {
            semaphore.add_permits(1);
        }
        join(patient);
        releaser.join().expect("the thread does not panic");
    });
}
