//! Moves of tasks from worker to worker: wakes, yields, queues behind stuck tasks.

use super::{check, join, spawn};
use crate::processor::entered;
use crate::processor::shared::Shared;
use crate::scheduler::gathering;
use crate::sync::Semaphore;
use crate::task::{self, current, park, yield_now};
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_ring_of_parked_tasks_passes_a_token_round() {
    const TASKS: usize = 4;
    const ROUNDS: usize = 2;
    check(3, |shared| {
        let turns = Arc::new(AtomicUsize::new(0));
        let semaphores: Arc<Vec<Semaphore>> =
            Arc::new((0..TASKS).map(|_| Semaphore::new(0)).collect());
        let handles: Vec<_> = (0..TASKS)
            .map(|me| {
                let (semaphores, turns) = (semaphores.clone(), turns.clone());
                spawn(shared, async move {
                    for _ in 0..ROUNDS {
                        semaphores[me].take().await;
                        turns.fetch_add(1, Ordering::Relaxed);
                        semaphores[(me + 1) % TASKS].add_permits(1);
                    }
                })
            })
            .collect();
        semaphores[0].add_permits(1);
        handles.into_iter().for_each(join);
        assert_eq!(turns.load(Ordering::Relaxed), TASKS * ROUNDS);
    });
}

/// Each poll, by a random choice, sends the ready tasks of its processor to a random one, sets
/// whether its owner makes full fences, or does neither.
#[test]
fn queues_are_given_back_and_owners_fenced_at_random() {
    const TASKS: usize = 5;
    check(3, |shared| {
        let turns = Arc::new(AtomicUsize::new(0));
        let task = |_| {
            let turns = turns.clone();
            spawn(shared, async move {
                for _ in 0..2 {
                    turns.fetch_add(1, Ordering::Relaxed);
                    entered::with(|context| {
                        let context = context.expect("a task is polled by a worker");
                        match thread_rng().gen_range(0..4) {
                            0 => gathering::give_back(
                                context,
                                thread_rng().gen_range(0..3),
                                context.now.get(),
                            ),
                            1 => context.seat.set_fenced(true),
                            2 => context.seat.set_fenced(false),
                            _ => {}
                        }
                    });
                    yield_now().await;
                }
            })
        };
        let handles: Vec<_> = (0..TASKS).map(task).collect();
        handles.into_iter().for_each(join);
        assert_eq!(turns.load(Ordering::Relaxed), 2 * TASKS);
    });
}

#[test]
fn two_tasks_unpark_each_other_in_turns() {
    const TURNS: usize = 3;
    check(2, |shared| {
        let one = spawn(shared, async {
            for _ in 0..TURNS {
                park().await;
            }
        });
        let first = one.task();
        let other = spawn(shared, async move {
            let me = current();
            for _ in 0..TURNS {
                // Tokens do not add up, so each task waits until the other has had its turn.
                first.unpark();
                let first = first.clone();
                let me = me.clone();
                drop(task::spawn(async move {
                    first.unpark();
                    me.unpark();
                }));
                park().await;
            }
        });
        join(other);
        // The last token may have merged with its predecessor.
        while !one.is_finished() {
            one.task().unpark();
            thread::yield_now();
        }
        join(one);
    });
}

#[test]
fn the_queue_behind_a_stuck_task_is_taken_by_others() {
    check(2, |shared| {
        join(spawn(shared, async {
            let released = Arc::new(AtomicBool::new(false));
            let releaser = task::spawn({
                let released = released.clone();
                async move { released.store(true, Ordering::Relaxed) }
            });
            // The releaser is behind this poll, which does not end before it has run.
            while !released.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            releaser.await.expect("the task does not panic");
        }));
    });
}

#[test]
fn a_processor_stays_awake_enough_beside_two_stuck_ones() {
    check(3, |shared| {
        let stuck = |shared: &Arc<Shared>| {
            spawn(shared, async {
                let ran = Arc::new(AtomicUsize::new(0));
                for _ in 0..2 {
                    let ran = ran.clone();
                    drop(task::spawn(async move { ran.fetch_add(1, Ordering::Relaxed) }));
                }
                while ran.load(Ordering::Relaxed) < 2 {
                    thread::yield_now();
                }
            })
        };
        let tasks = [stuck(shared), stuck(shared)];
        tasks.into_iter().for_each(join);
    });
}

#[test]
fn a_storm_of_spawns_is_drained() {
    check(4, |shared| {
        for _ in 0..3 {
            drop(spawn(shared, async {
                for _ in 0..4 {
                    drop(task::spawn(yield_now()));
                }
                yield_now().await;
            }));
        }
        // No joiner waits for them: draining does.
    });
}
