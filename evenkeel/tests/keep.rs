//! Tasks that a worker keeps after their polls, and that other threads signal. A build that detects
//! deadlocks keeps none: there these tests say that all other ways work too.

use common::stuck::Stuck;
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::sync::Semaphore;
use evenkeel::task::Task;
use evenkeel::{Builder, JoinHandle, Runtime, Shutdown, block_on, task, yield_now};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

mod common {
    pub(crate) mod stuck;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

fn on_workers(test: impl Fn(Runtime)) {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        test(Builder::new().workers(workers).build().unwrap());
    }
}

/// Tasks that wake each other without end: a worker that polls some of them keeps the others.
struct Ring {
    stop: Arc<AtomicBool>,
    /// The laps of each task.
    laps: Arc<[AtomicUsize]>,
    tasks: Vec<JoinHandle<()>>,
}

impl Ring {
    /// Each token goes around a ring of three.
    fn start(runtime: &Runtime, tokens: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let laps: Arc<[_]> = (0..3 * tokens).map(|_| AtomicUsize::new(0)).collect();
        let places: Vec<Arc<[OnceLock<Task>; 3]>> = (0..tokens).map(|_| Arc::default()).collect();
        let task = |me: usize| {
            runtime.spawn(go_round(places[me / 3].clone(), me, laps.clone(), stop.clone()))
        };
        let tasks = (0..3 * tokens).map(task).collect();
        Self { stop, laps, tasks }
    }

    /// Blocks this thread until each task has made `laps` laps.
    fn go_round(&self, laps: usize) {
        until(|| self.laps.iter().all(|made| made.load(Ordering::Relaxed) >= laps));
    }

    /// Ends the tasks.
    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tasks.into_iter().for_each(|task| block_on(task).unwrap());
    }
}

async fn go_round(
    places: Arc<[OnceLock<Task>; 3]>,
    me: usize,
    laps: Arc<[AtomicUsize]>,
    stop: Arc<AtomicBool>,
) {
    places[me % 3].set(task::current()).unwrap();
    let next = loop {
        match places[(me + 1) % 3].get() {
            Some(next) => break next,
            None => yield_now().await,
        }
    };
    if me.is_multiple_of(3) {
        task::current().unpark();
    }
    for lap in 1.. {
        task::park().await;
        let is_over = stop.load(Ordering::Relaxed);
        next.unpark();
        if is_over {
            return;
        }
        // No locked instruction, which would order what this lap tests.
        laps[me].store(lap, Ordering::Relaxed);
    }
}

#[test]
fn tokens_go_round_and_none_is_lost() {
    on_workers(|runtime| {
        for tokens in [1, 7, 400] {
            let ring = Ring::start(&runtime, tokens);
            ring.go_round(100);
            ring.end();
        }
    });
}

/// A thread outside and a task take turns, beside tasks that keep the workers busy.
#[test]
fn a_thread_outside_wakes_tasks_that_are_kept() {
    on_workers(|runtime| {
        let ring = Ring::start(&runtime, 20);
        let (there, back) = (Arc::new(Semaphore::empty()), mpsc::channel());
        let echo = runtime.spawn({
            let there = there.clone();
            async move {
                for round in 0..2_000 {
                    there.take().await;
                    back.0.send(round).unwrap();
                }
            }
        });
        for round in 0..2_000 {
            there.hand_over(());
            assert_eq!(back.1.recv(), Ok(round));
        }
        block_on(echo).unwrap();
        ring.end();
    });
}

/// Tasks of another runtime wake and are woken.
#[test]
fn tasks_of_two_runtimes_wake_each_other() {
    on_workers(|runtime| {
        let other = Builder::new().workers(1).build().unwrap();
        let rings = [Ring::start(&runtime, 10), Ring::start(&other, 10)];
        let (there, back) = (Arc::new(Semaphore::empty()), Arc::new(Semaphore::empty()));
        let one = runtime.spawn({
            let (there, back) = (there.clone(), back.clone());
            async move {
                for _ in 0..2_000 {
                    there.hand_over(());
                    back.take().await;
                }
            }
        });
        let two = other.spawn(async move {
            for _ in 0..2_000 {
                there.take().await;
                back.hand_over(());
            }
        });
        block_on(one).unwrap();
        block_on(two).unwrap();
        for ring in rings {
            ring.end();
        }
    });
}

/// All workers block in polls until a task that they keep has run.
#[test]
fn a_kept_task_is_woken_beside_keepers_that_are_stuck() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let ring = Ring::start(&runtime, 20);
        for _ in 0..20 {
            let (wake, ran) = (Arc::new(Semaphore::empty()), mpsc::channel());
            let waiters: Vec<_> = (0..4)
                .map(|_| {
                    let (wake, ran) = (wake.clone(), ran.0.clone());
                    runtime.spawn(async move {
                        wake.take().await;
                        ran.send(()).unwrap();
                    })
                })
                .collect();
            until(|| wake.waiting() == 4);
            let stuck: Vec<_> = (0..workers).map(|_| Stuck::new()).collect();
            let polls: Vec<_> = stuck
                .iter()
                .map(|stuck| {
                    let body = stuck.body();
                    runtime.spawn(async move { body() })
                })
                .collect();
            stuck.iter().for_each(Stuck::begun);
            (0..4).for_each(|_| wake.hand_over(()));
            (0..4).for_each(|_| ran.1.recv().unwrap());
            stuck.iter().for_each(Stuck::release);
            polls.into_iter().chain(waiters).for_each(|task| block_on(task).unwrap());
        }
        ring.end();
    }
}

#[test]
fn kept_tasks_are_aborted() {
    on_workers(|runtime| {
        let ring = Ring::start(&runtime, 20);
        for _ in 0..200 {
            let never = Arc::new(Semaphore::<()>::empty());
            let waiter = runtime.spawn({
                let never = never.clone();
                async move { never.take().await }
            });
            until(|| never.waiting() == 1);
            waiter.abort();
            assert!(block_on(waiter).unwrap_err().is_cancelled());
            assert_eq!(never.waiting(), 0, "its future is dropped");
        }
        ring.end();
    });
}

/// Tasks pass permits on by semaphores that they draw by chance.
#[test]
fn permits_that_are_passed_on_are_neither_lost_nor_doubled() {
    on_workers(|runtime| {
        const SPOTS: usize = 16;
        let spots: Arc<[Semaphore; SPOTS]> = Arc::new(std::array::from_fn(|_| Semaphore::new(1)));
        let held = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..64)
            .map(|number| {
                let (spots, held) = (spots.clone(), held.clone());
                runtime.spawn(async move {
                    let mut draw = number;
                    for _ in 0..2_000 {
                        draw = (draw * 1_103_515_245 + 12_345) % (1 << 31);
                        let spot = &spots[draw / 65_536 % SPOTS];
                        spot.take().await;
                        let others = held.fetch_add(1, Ordering::Relaxed);
                        assert!(others < SPOTS, "a permit was doubled");
                        yield_now().await;
                        held.fetch_sub(1, Ordering::Relaxed);
                        spot.hand_over(());
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| block_on(task).unwrap());
        assert!(spots.iter().all(|spot| spot.available_permits() == 1));
    });
}

/// A runtime ends by a deadline beside a poll that does not return: tasks that its worker has kept
/// are aborted, and only the poll is stuck.
#[test]
fn kept_tasks_of_a_stuck_worker_end_with_the_runtime() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let ring = Ring::start(&runtime, 20);
    thread::sleep(Duration::from_millis(20));
    let stuck = Stuck::new();
    let body = stuck.body();
    let blocker = runtime.spawn(async move { body() });
    stuck.begun();
    let (deadline, grace) = (Duration::ZERO, Duration::from_millis(500));
    let report = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
    assert_eq!(report.stuck.len(), 1, "{report}");
    assert!(block_on(blocker).unwrap_err().is_stuck());
    for task in ring.tasks {
        assert!(block_on(task).unwrap_err().is_cancelled());
    }
    stuck.release();
    stuck.returned();
}
