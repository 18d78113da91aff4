//! Workers that fall asleep, and work that comes from outside meanwhile.

use super::{check, join, spawn};
use crate::processor::shared::Shared;
use crate::sync::Semaphore;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::sync::Arc;

/// Spawns one task at a time, each after a pause about as long as a search, so that it meets
/// workers that search, fall asleep, or sleep.
fn spawn_one_by_one(shared: &Arc<Shared>) {
    for _ in 0..4 {
        for _ in 0..thread_rng().gen_range(0..128) {
            thread::yield_now();
        }
        join(spawn(shared, async {}));
    }
}

#[test]
fn spawns_from_outside_meet_the_only_processor_as_it_falls_asleep() {
    check(1, spawn_one_by_one);
}

#[test]
fn spawns_from_outside_meet_a_searcher_that_falls_asleep_beside_a_sleeper() {
    check(2, spawn_one_by_one);
}

#[test]
fn wakes_from_outside_meet_processors_that_fall_asleep() {
    check(2, |shared| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let semaphore = semaphore.clone();
                spawn(shared, async move { semaphore.take().await })
            })
            .collect();
        let releaser = {
            let semaphore = semaphore.clone();
            thread::spawn(move || (0..2).for_each(|_| semaphore.add_permits(1)))
        };
        semaphore.add_permits(1);
        releaser.join().expect("the thread does not panic");
        waiters.into_iter().for_each(join);
    });
}
