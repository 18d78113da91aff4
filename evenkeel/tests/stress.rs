//! All operations at random, with everything accounted for at the end.

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::sync::{Permit, Semaphore};
use evenkeel::task::{Task, current, park};
use evenkeel::{Builder, JoinHandle, Shutdown, spawn, yield_now};
use evenkeel_policy::random::Random;
use futures::future::BoxFuture;
use futures::{FutureExt, poll};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// Permits in circulation.
const PERMITS: usize = 6;

/// State of all tasks of a run.
struct World {
    semaphore: Semaphore<usize>,
    /// Parked tasks, for others to unpark.
    parked: Mutex<Vec<Task>>,
    begun: AtomicUsize,
    finished: AtomicUsize,
    dropped: AtomicUsize,
    aborted: AtomicUsize,
}

/// Counts a task out, however it ends.
struct Life(Arc<World>);

impl Life {
    fn begin(world: &Arc<World>) -> Self {
        world.begun.fetch_add(1, Ordering::AcqRel);
        Self(world.clone())
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::AcqRel);
    }
}

/// A random walk through all operations of a task. Only leaves are aborted, so that no task waits
/// for an aborted one.
fn walk(life: Life, seed: u64, depth: u32) -> BoxFuture<'static, ()> {
    steps(life, seed, depth).boxed()
}

async fn steps(life: Life, seed: u64, depth: u32) {
    let world = &*life.0;
    let mut random = Random::new(seed);
    let mut children: Vec<JoinHandle<()>> = Vec::new();
    for step in 0..30 {
        match random.below(8) {
            0 => yield_now().await,
            1 => {
                let _permit = world.semaphore.acquire().await;
                if random.below(2) == 0 {
                    yield_now().await;
                }
            }
            2 => {
                let mut acquire = Box::pin(world.semaphore.acquire());
                match poll!(&mut acquire) {
                    Poll::Ready(permit) => drop(permit),
                    Poll::Pending => yield_now().await,
                }
            }
            3 => {
                world.parked.lock().unwrap().push(current());
                park().await;
            }
            4 => {
                let other = world.parked.lock().unwrap().pop();
                if let Some(other) = other {
                    other.unpark();
                }
            }
            5 if depth > 0 => {
                let (life, seed) = (Life::begin(&life.0), seed * 31 + step);
                children.push(spawn(walk(life, seed, depth - 1)));
            }
            6 => {
                let victim = spawn(idle_for_ever(Life::begin(&life.0)));
                if random.below(2) == 0 {
                    yield_now().await;
                }
                victim.abort();
                if random.below(2) == 0 {
                    assert!(victim.await.unwrap_err().is_cancelled());
                }
                world.aborted.fetch_add(1, Ordering::AcqRel);
            }
            _ => {
                if let Some(child) = children.pop() {
                    child.await.unwrap();
                }
            }
        }
    }
    // The remaining children are joined or detached.
    for child in children {
        if random.below(2) == 0 {
            child.await.unwrap();
        }
    }
    world.finished.fetch_add(1, Ordering::AcqRel);
}

async fn idle_for_ever(_life: Life) {
    loop {
        park().await;
    }
}

/// Walks on `workers` workers, with threads that unpark from outside, and counts everything.
fn run(workers: usize, seed: u64, roots: u64) {
    let runtime = Builder::new().workers(workers).build().unwrap();
    let world = Arc::new(World {
        semaphore: Semaphore::with_data(0..PERMITS),
        parked: Mutex::default(),
        begun: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        dropped: AtomicUsize::new(0),
        aborted: AtomicUsize::new(0),
    });
    let ended = Arc::new(AtomicBool::new(false));
    let unparker = thread::spawn({
        let (world, ended) = (world.clone(), ended.clone());
        move || {
            until(|| {
                let parked = std::mem::take(&mut *world.parked.lock().unwrap());
                parked.iter().for_each(Task::unpark);
                ended.load(Ordering::Acquire)
            });
        }
    });
    let handle = runtime.handle();
    for root in 0..roots {
        drop(runtime.spawn(walk(Life::begin(&world), seed * 1_000 + root, 3)));
    }
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    ended.store(true, Ordering::Release);
    unparker.join().unwrap();

    let count = |counter: &AtomicUsize| counter.load(Ordering::Acquire);
    assert_eq!(count(&world.dropped), count(&world.begun));
    assert_eq!(count(&world.finished) + count(&world.aborted), count(&world.begun));
    let mut permits: Vec<_> =
        std::iter::from_fn(|| world.semaphore.try_acquire().map(Permit::into_inner)).collect();
    permits.sort_unstable();
    assert_eq!(permits, (0..PERMITS).collect::<Vec<_>>());
    assert_eq!(world.semaphore.waiting(), 0);

    let metrics = handle.metrics();
    assert_eq!(metrics.spawned_outside + metrics.sum(|p| p.spawned), count(&world.begun) as u64);
    assert_eq!(metrics.sum(|p| p.completed), count(&world.begun) as u64);
    world.parked.lock().unwrap().clear();
    assert_eq!(Arc::strong_count(&world), 1);
}

#[test]
fn one_worker() {
    let _watchdog = watchdog();
    (0..10).for_each(|seed| run(1, seed, 20));
}

#[test]
fn two_workers() {
    let _watchdog = watchdog();
    (10..20).for_each(|seed| run(2, seed, 20));
}

#[test]
fn eight_workers() {
    let _watchdog = watchdog();
    (20..30).for_each(|seed| run(8, seed, 20));
}

#[test]
fn aborted_in_the_middle() {
    let _watchdog = watchdog();
    for round in 0..30_u64 {
        let runtime = Builder::new().workers(1 + round as usize % 4).build().unwrap();
        let alive = Arc::new(());
        let turns = Arc::new(AtomicUsize::new(0));
        for task in 0..50 {
            let (alive, turns) = (alive.clone(), turns.clone());
            drop(runtime.spawn(async move {
                let mut last = None;
                loop {
                    turns.fetch_add(1, Ordering::Relaxed);
                    let alive = alive.clone();
                    let child = spawn(async move {
                        yield_now().await;
                        drop(alive);
                    });
                    match task % 3 {
                        0 => child.await.unwrap(),
                        1 => last = Some(child),
                        _ => yield_now().await,
                    }
                    if last.take().is_some() {
                        yield_now().await;
                    }
                }
            }));
        }
        until(|| turns.load(Ordering::Relaxed) > 500);
        drop(runtime);
        assert_eq!(Arc::strong_count(&alive), 1, "round {round}");
    }
}

#[test]
fn runtimes_come_and_go() {
    let _watchdog = watchdog();
    for round in 0..100_u32 {
        let runtime = Builder::new().workers(1 + round as usize % 3).build().unwrap();
        let tasks: Vec<_> = (0..round % 10).map(|n| runtime.spawn(async move { n })).collect();
        if round % 2 == 0 {
            for (n, task) in (0..).zip(tasks) {
                assert_eq!(runtime.block_on(task).unwrap(), n);
            }
        }
        match round % 3 {
            0 => drop(runtime),
            1 => assert!(runtime.shutdown(Shutdown::Drain).is_clean()),
            _ => drop(runtime.shutdown(Shutdown::Abort)),
        }
    }
}
