//! Travel keeps the promise of fairness: visitors are ready tasks like others, and no task waits
//! for ever for a busy home.

use common::objects::{at, in_place, runtime};
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::object::Object;
use evenkeel::{JoinHandle, Runtime, block_on, spawn, yield_now};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

mod common {
    pub(crate) mod objects;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// Tasks of one kind, which go on until they are told to stop, and the turns of each.
struct Players {
    turns: Vec<Arc<AtomicUsize>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Players {
    fn spawn<F>(
        runtime: &Runtime,
        count: usize,
        stop: &Arc<AtomicBool>,
        player: impl Fn(Arc<AtomicBool>, Arc<AtomicUsize>) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let turns: Vec<_> = (0..count).map(|_| Arc::default()).collect();
        let tasks = turns
            .iter()
            .map(|turns: &Arc<AtomicUsize>| runtime.spawn(player(stop.clone(), turns.clone())))
            .collect();
        Self { turns, tasks }
    }

    /// Tasks that go round the objects without end; each operation is a turn.
    fn visitors(
        runtime: &Runtime,
        count: usize,
        objects: &[Object<usize>],
        stop: &Arc<AtomicBool>,
    ) -> Self {
        Self::spawn(runtime, count, stop, |stop, turns| {
            let objects = objects.to_vec();
            async move {
                for object in objects.iter().cycle() {
                    object.with(|value| *value += 1).await.unwrap();
                    turns.fetch_add(1, Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }
        })
    }

    /// Tasks that yield without end.
    fn yielding(runtime: &Runtime, count: usize, stop: &Arc<AtomicBool>) -> Self {
        Self::spawn(runtime, count, stop, |stop, turns| async move {
            while !stop.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        })
    }

    fn least(&self) -> usize {
        self.turns.iter().map(|turns| turns.load(Ordering::Relaxed)).min().expect("there are some")
    }

    fn join(self) {
        for task in self.tasks {
            block_on(task).expect("the task ends well");
        }
    }
}

/// Objects at each of the workers, or in place.
fn objects(runtime: &Runtime, workers: usize, home: bool) -> Vec<Object<usize>> {
    let object = |number| if home { at(runtime, number, 0) } else { in_place(runtime, 0) };
    (0..workers).map(object).collect()
}

/// Counts the polls of a future.
async fn polled<F: Future>(future: F, polls: &AtomicUsize) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(cx)
    })
    .await
}

/// On one worker the light task itself counts turns exactly: a turn is a poll.
#[test]
fn a_light_task_beside_visitors_without_end() {
    const TURNS: usize = 2_000;
    let _watchdog = watchdog();
    for home in [false, true] {
        let runtime = runtime(1);
        let objects = objects(&runtime, 1, home);
        let stop = Arc::new(AtomicBool::new(false));
        let visitors = Players::spawn(&runtime, 8, &stop, |stop, turns| {
            let object = objects[0].clone();
            async move {
                let visits = async {
                    while !stop.load(Ordering::Relaxed) {
                        object.with(|value| *value += 1).await.unwrap();
                    }
                };
                polled(visits, &turns).await;
            }
        });
        until(|| visitors.least() > 0);
        let light = runtime.spawn({
            let turns = visitors.turns.clone();
            async move {
                let count = || turns.iter().map(|turns| turns.load(Ordering::Relaxed)).max();
                let before = count().unwrap_or(0);
                for _ in 0..TURNS {
                    yield_now().await;
                }
                count().unwrap_or(0) - before
            }
        });
        let most = block_on(light).expect("the task ends well");
        stop.store(true, Ordering::Relaxed);
        visitors.join();
        assert!(most <= TURNS + 2, "a visitor had {most}");
    }
}

/// Time stands still there, so a number of operations ends a turn.
#[test]
fn in_a_deterministic_run_operations_are_counted() {
    const TURNS: usize = 100;
    let polls = |seed| {
        evenkeel::deterministic::run(seed, async {
            let object = Object::new(0);
            let task = spawn(async move {
                let polls = AtomicUsize::new(0);
                let visits = async {
                    for _ in 0..64 * TURNS {
                        object.with(|value| *value += 1).await.unwrap();
                    }
                };
                polled(visits, &polls).await;
                polls.into_inner()
            });
            task.await.expect("it ends well")
        })
    };
    let turns = polls(1);
    assert!((TURNS / 2..2 * TURNS).contains(&turns), "{turns}");
    assert_eq!(turns, polls(1));
}

#[test]
fn visitors_beside_a_task_that_yields_without_end() {
    const TURNS: usize = 2_000;
    let _watchdog = watchdog();
    for home in [false, true] {
        let runtime = runtime(1);
        let objects = objects(&runtime, 1, home);
        let stop = Arc::new(AtomicBool::new(false));
        let greedy = Players::yielding(&runtime, 4, &stop);
        until(|| greedy.least() > 0);
        let visitor = runtime.spawn({
            let turns = greedy.turns.clone();
            async move {
                let count = || turns.iter().map(|turns| turns.load(Ordering::Relaxed)).max();
                let before = count().unwrap_or(0);
                for _ in 0..TURNS {
                    objects[0].with(|value| *value += 1).await.unwrap();
                    yield_now().await;
                }
                count().unwrap_or(0) - before
            }
        });
        let most = block_on(visitor).expect("the task ends well");
        stop.store(true, Ordering::Relaxed);
        greedy.join();
        // Now and then an operation is also a turn.
        assert!(most <= TURNS * 2 + 2, "a greedy task had {most}");
    }
}

/// From home to home and back, on several workers: every task has turns without end.
#[test]
fn all_of_them_on_several_workers() {
    const TURNS: usize = 500;
    let _watchdog = watchdog();
    for workers in [2, 3, 6] {
        let runtime = runtime(workers);
        let objects = objects(&runtime, workers, true);
        let stop = Arc::new(AtomicBool::new(false));
        let groups = [
            Players::visitors(&runtime, 30, &objects, &stop),
            Players::visitors(&runtime, 10, &objects[..1], &stop),
            Players::yielding(&runtime, 2 * workers, &stop),
        ];
        for group in &groups {
            until(|| group.least() >= TURNS);
        }
        stop.store(true, Ordering::Relaxed);
        groups.into_iter().for_each(Players::join);
    }
}

/// Threads enter beside tasks that are inside the object all the time, and tasks beside such
/// threads.
#[test]
fn threads_beside_tasks() {
    const TURNS: usize = 500;
    let _watchdog = watchdog();
    for home in [false, true] {
        let runtime = runtime(2);
        let objects = objects(&runtime, 1, home);
        let stop = Arc::new(AtomicBool::new(false));
        let visitors = Players::visitors(&runtime, 8, &objects, &stop);
        let threads = [0; 2].map(|_| {
            let (object, stop) = (objects[0].clone(), stop.clone());
            let turns = Arc::new(AtomicUsize::new(0));
            let counted = turns.clone();
            let thread = thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    object.call_blocking(|value| *value += 1).unwrap();
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
            (turns, thread)
        });
        until(|| visitors.least() >= TURNS);
        for (turns, _) in &threads {
            until(|| turns.load(Ordering::Relaxed) >= TURNS);
        }
        stop.store(true, Ordering::Relaxed);
        visitors.join();
        for (_, thread) in threads {
            thread.join().expect("the thread ends well");
        }
    }
}
