//! No ready task waits for ever, whatever its neighbours do, on real threads.

use common::runtime::runtime;
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::task::{Task, current, park};
use evenkeel::{JoinHandle, Runtime, yield_now};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

mod common {
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// Two tasks that take turns by park and unpark until they are told to stop.
struct Pair {
    turns: Arc<AtomicUsize>,
    players: [JoinHandle<()>; 2],
}

impl Pair {
    /// Starts a pair that spins for `burn` rounds in each turn.
    fn spawn(runtime: &Runtime, burn: usize, stop: &Arc<AtomicBool>) -> Self {
        let turns = Arc::new(AtomicUsize::new(0));
        let others: Arc<[Mutex<Option<Task>>; 2]> = Arc::default();
        let players = [0, 1].map(|me| {
            let (turns, others, stop) = (turns.clone(), others.clone(), stop.clone());
            runtime.spawn(async move {
                park().await;
                let other = others[me].lock().unwrap().take().expect("it is there first");
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..burn {
                        spin_loop();
                    }
                    turns.fetch_add(1, Ordering::Relaxed);
                    other.unpark();
                    park().await;
                }
                other.unpark();
            })
        });
        for me in [0, 1] {
            *others[me].lock().unwrap() = Some(players[1 - me].task());
        }
        players[0].task().unpark();
        players[1].task().unpark();
        Self { turns, players }
    }

    fn turns(&self) -> usize {
        self.turns.load(Ordering::Relaxed)
    }

    fn join(self, runtime: &Runtime) {
        for player in self.players {
            runtime.block_on(player).unwrap();
        }
    }
}

/// Runs four greedy pairs and a light one until the light pair has had `turns` turns. Returns the
/// most turns of a greedy pair.
fn greedy_turns(workers: usize, turns: usize) -> usize {
    let runtime = runtime(workers);
    let stop = Arc::new(AtomicBool::new(false));
    let greedy: Vec<_> = (0..4).map(|_| Pair::spawn(&runtime, 100, &stop)).collect();
    let light = Pair::spawn(&runtime, 0, &stop);
    until(|| light.turns() >= turns);
    stop.store(true, Ordering::Relaxed);
    let most = greedy.iter().map(Pair::turns).max().expect("there are pairs");
    greedy.into_iter().for_each(|pair| pair.join(&runtime));
    light.join(&runtime);
    most
}

#[test]
fn greedy_pairs_and_a_light_pair_get_the_same_number_of_turns() {
    let _watchdog = watchdog();
    let most = greedy_turns(1, 20_000);
    assert!(most < 20_000 * 2, "a greedy pair had {most}");
}

#[test]
fn greedy_pairs_do_not_starve_a_light_pair_on_two_workers() {
    let _watchdog = watchdog();
    // Each worker may lose its core to the other for several time slices.
    let most = greedy_turns(2, 100_000);
    assert!(most < 100_000 * 20, "a greedy pair had {most}");
}

#[test]
fn a_successor_is_not_trapped_behind_the_task_that_woke_it() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let ran = Arc::new(AtomicUsize::new(0));
    let successor = runtime.spawn({
        let ran = ran.clone();
        async move {
            for _ in 0..50 {
                park().await;
                ran.fetch_add(1, Ordering::AcqRel);
            }
        }
    });
    let task = successor.task();
    let spinner = runtime.spawn(async move {
        for round in 0..50 {
            task.unpark();
            until(|| ran.load(Ordering::Acquire) > round);
        }
    });
    runtime.block_on(spinner).unwrap();
    runtime.block_on(successor).unwrap();
}

#[test]
fn a_task_just_spawned_is_not_trapped_behind_the_one_that_spawned_it() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let spinner = runtime.spawn(async {
        for _ in 0..20 {
            let child = evenkeel::spawn(async {});
            until(|| child.is_finished());
        }
    });
    runtime.block_on(spinner).unwrap();
}

/// A task that spins inside one poll until it is told to stop.
fn stuck(runtime: &Runtime, stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let started = Arc::new(AtomicBool::new(false));
    let handle = runtime.spawn({
        let (started, stop) = (started.clone(), stop.clone());
        async move {
            started.store(true, Ordering::Release);
            until(|| stop.load(Ordering::Acquire));
        }
    });
    until(|| started.load(Ordering::Acquire));
    handle
}

#[test]
fn tasks_from_outside_run_beside_a_stuck_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let stuck = stuck(&runtime, &stop);
    let handles: Vec<_> = (0..200)
        .map(|n| {
            runtime.spawn(async move {
                for _ in 0..3 {
                    yield_now().await;
                }
                n
            })
        })
        .collect();
    for (n, handle) in handles.into_iter().enumerate() {
        assert_eq!(runtime.block_on(handle).unwrap(), n);
    }
    stop.store(true, Ordering::Release);
    runtime.block_on(stuck).unwrap();
}

#[test]
fn tasks_queued_behind_an_endless_poll_all_run_elsewhere() {
    let _watchdog = watchdog();
    for behind in [1, 2, 100] {
        let runtime = runtime(2);
        let ran = Arc::new(AtomicUsize::new(0));
        let stuck = runtime.spawn(async move {
            for _ in 0..behind {
                let ran = ran.clone();
                drop(evenkeel::spawn(async move {
                    yield_now().await;
                    ran.fetch_add(1, Ordering::AcqRel);
                }));
            }
            // All of them are in this worker's queue.
            until(|| ran.load(Ordering::Acquire) == behind);
        });
        runtime.block_on(stuck).unwrap();
    }
}

#[test]
fn tasks_that_belong_to_a_stuck_worker_are_woken_elsewhere() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let parent = runtime.spawn({
        let stop = stop.clone();
        async move {
            let parked: Vec<_> = (0..20).map(|_| evenkeel::spawn(park())).collect();
            for _ in 0..3 {
                yield_now().await;
            }
            (parked, evenkeel::spawn(async move { until(|| stop.load(Ordering::Acquire)) }))
        }
    });
    let (parked, stuck) = runtime.block_on(parent).unwrap();
    for handle in parked {
        handle.task().unpark();
        runtime.block_on(handle).unwrap();
    }
    stop.store(true, Ordering::Release);
    runtime.block_on(stuck).unwrap();
}

#[test]
fn a_leader_that_spins_until_all_others_have_seen_its_word() {
    const FOLLOWERS: usize = 20;
    const ROUNDS: usize = 20;

    let _watchdog = watchdog();
    for parks in [true, false] {
        let runtime = runtime(2);
        let word = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let followers: Vec<_> = (0..FOLLOWERS)
            .map(|_| {
                let (word, seen) = (word.clone(), seen.clone());
                runtime.spawn(async move {
                    for round in 1..=ROUNDS {
                        while word.load(Ordering::Acquire) < round {
                            if parks { park().await } else { yield_now().await }
                        }
                        seen.fetch_add(1, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        let tasks: Vec<_> = followers.iter().map(JoinHandle::task).collect();
        let leader = runtime.spawn(async move {
            for round in 1..=ROUNDS {
                word.store(round, Ordering::Release);
                if parks {
                    tasks.iter().for_each(Task::unpark);
                }
                until(|| seen.load(Ordering::Acquire) == round * FOLLOWERS);
                yield_now().await;
            }
        });
        runtime.block_on(leader).unwrap();
        for follower in followers {
            runtime.block_on(follower).unwrap();
        }
    }
}

#[test]
fn a_task_that_yields_for_ever_stops_no_other() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let greedy: Vec<_> = (0..4)
            .map(|_| {
                runtime.spawn(async {
                    loop {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for _ in 0..100 {
            runtime.block_on(runtime.spawn(async { yield_now().await })).unwrap();
        }
        let woken = runtime.spawn(async {
            current().unpark();
            park().await;
        });
        runtime.block_on(woken).unwrap();
        for greedy in &greedy {
            let _: () = greedy.abort();
        }
    }
}

/// Keeps its worker inside one poll for a millisecond.
fn compute() {
    let begin = std::time::Instant::now();
    while begin.elapsed() < std::time::Duration::from_millis(1) {
        spin_loop();
    }
}

/// Spawns `count` tasks that each compute in one poll, and count themselves in `done`.
fn spawn_computations(count: usize, done: &Arc<AtomicUsize>) -> Vec<JoinHandle<()>> {
    let one = |_| {
        let done = done.clone();
        evenkeel::spawn(async move {
            compute();
            done.fetch_add(1, Ordering::Relaxed);
        })
    };
    (0..count).map(one).collect()
}

#[test]
fn short_tasks_overtake_long_ones() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let waited = runtime.spawn(async {
        let done = Arc::new(AtomicUsize::new(0));
        // The worker learns that these are long ones.
        for task in spawn_computations(10, &done) {
            task.await.unwrap();
        }
        let long = spawn_computations(40, &done);
        let before = done.load(Ordering::Relaxed);
        let short: Vec<_> = (0..40)
            .map(|_| {
                let done = done.clone();
                evenkeel::spawn(async move { done.load(Ordering::Relaxed) })
            })
            .collect();
        let mut waited = Vec::new();
        for task in short {
            waited.push(task.await.unwrap() - before);
        }
        for task in long {
            task.await.unwrap();
        }
        waited
    });
    let waited = runtime.block_on(waited).unwrap();
    // In the order of age each would wait for all forty.
    assert!(waited.iter().all(|&long| long < 20), "{waited:?}");
}

#[test]
fn short_tasks_that_are_always_ready_do_not_keep_long_ones_waiting() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let stop = Arc::new(AtomicBool::new(false));
        let short: Vec<_> = (0..10)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                })
            })
            .collect();
        let long = runtime.spawn(async {
            let done = Arc::default();
            for task in spawn_computations(100, &done) {
                task.await.unwrap();
            }
            done.load(Ordering::Relaxed)
        });
        assert_eq!(runtime.block_on(long).unwrap(), 100);
        stop.store(true, Ordering::Relaxed);
        for task in short {
            runtime.block_on(task).unwrap();
        }
    }
}
