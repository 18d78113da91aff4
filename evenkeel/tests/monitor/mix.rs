//! A random mix of all operations of monitors, by coroutines in tasks: they are dropped while they
//! wait, go to other tasks, and wait for two things at once. No two tasks are ever inside together,
//! and nothing stays held.

use crate::common::watchdog::watchdog;
use evenkeel::coroutine::{BoxCoroutine, Coroutine, Phase, Resume, Step, Suspender};
use evenkeel::sync::monitor::{Clause, Condition, Entry, Held, Monitor, lock_all};
use evenkeel::time::{Sleep, sleep};
use evenkeel::{Builder, yield_now};
use evenkeel_policy::random::Random;
use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Clone, Copy)]
struct Op(u32);

impl Entry for Op {
    fn number(self) -> u32 {
        self.0
    }
}

type Guarded = Monitor<Inside, Condition<u64>>;

struct World {
    monitors: [Guarded; 3],
    /// Of the first and the last monitor.
    pair: Condition<u64>,
    done: AtomicUsize,
}

#[derive(Default)]
struct Inside {
    busy: AtomicBool,
    count: u64,
}

impl Inside {
    /// Fails if another task is inside, at the caller's line.
    #[track_caller]
    fn enter(&self) -> Busy<'_> {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "another task is inside");
        Busy(&self.busy)
    }
}

/// The caller is inside until this is dropped.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// A limit that passes within `most` microseconds.
fn within(most: u64, random: &mut Random) -> Sleep {
    sleep(Duration::from_micros(random.below(most)))
}

async fn act(world: &World, random: &mut Random) {
    let [one, _, last] = &world.monitors;
    let number = random.below(3) as usize;
    let (any, next) = (&world.monitors[number], &world.monitors[(number + 1) % 3]);
    match random.below(9) {
        0 | 1 => enter(any, random.below(3) == 0).await,
        2 => wait(any, random.below(100)).await,
        3 => signal(any, random.below(2) == 0).await,
        4 => enter_two(any, next).await,
        5 => wait_in_two(one, last, &world.pair, within(3_000, random)).await,
        6 => signal_in_two(one, last, &world.pair).await,
        7 => accept(any).await,
        _ => call(any, Op(random.below(2) as u32)).await,
    }
    world.done.fetch_add(1, Ordering::Relaxed);
}

async fn enter(monitor: &Guarded, yields: bool) {
    let mut held = monitor.enter().await;
    held.count += 1;
    let _busy = held.enter();
    if yields {
        yield_now().await;
    }
}

async fn wait(monitor: &Guarded, note: u64) {
    let held = monitor.enter().await;
    _ = held.enter();
    let held = monitor.conditions().wait_with(held, note).await;
    _ = held.enter();
}

async fn signal(monitor: &Guarded, blocks: bool) {
    let mut held = monitor.enter().await;
    _ = held.enter();
    _ = monitor.conditions().front(&held);
    monitor.conditions().signal(&mut held);
    if blocks {
        let (held, _) = monitor.conditions().signal_block(held).await;
        _ = held.enter();
    }
}

async fn enter_two(one: &Guarded, other: &Guarded) {
    let mut held = lock_all((one, other)).await;
    let (one, other) = held.values_mut();
    one.count += 1;
    other.count += 1;
    _ = (one.enter(), other.enter());
}

async fn wait_in_two(one: &Guarded, other: &Guarded, pair: &Condition<u64>, limit: Sleep) {
    let held = lock_all((one, other)).await;
    let enter = |(one, other): (&Inside, &Inside)| _ = (one.enter(), other.enter());
    enter(held.values());
    let (held, _) = pair.wait_until(held, 3, limit).await;
    enter(held.values());
}

async fn signal_in_two(one: &Guarded, other: &Guarded, pair: &Condition<u64>) {
    let mut held = lock_all((other, one)).await;
    pair.signal_all(&mut held);
    _ = pair.front(&held);
}

async fn accept(monitor: &Guarded) {
    let held = monitor.enter().await;
    _ = held.enter();
    let limit = sleep(Duration::from_micros(500));
    let (held, _) = Held::accept_until(held, [Clause::new(Op(0)).or(Op(1))], limit).await;
    _ = held.enter();
}

async fn call(monitor: &Guarded, operation: Op) {
    let inside = async |held: Held<&Guarded>| {
        let _busy = held.enter();
        yield_now().await;
    };
    monitor.call(operation, inside).await;
}

type Actor = BoxCoroutine<'static, u64, u64, ()>;

fn coroutine(world: Arc<World>, seed: u64) -> Actor {
    Coroutine::new(async move |mut suspender: Suspender<u64, u64>, first: u64| {
        let mut random = Random::new(seed ^ first);
        for _ in 0..20 {
            match random.below(3) {
                0 => _ = suspender.suspend(1).await,
                1 => act(&world, &mut random).await,
                _ => {
                    let mut two: FuturesUnordered<_> = (0..2)
                        .map(|_| {
                            let (world, mut random) = (world.clone(), Random::new(random.next()));
                            Box::pin(async move { act(&world, &mut random).await })
                        })
                        .collect();
                    two.next().await;
                    if random.below(2) == 0 {
                        two.next().await;
                    }
                }
            }
        }
    })
    .boxed()
}

/// Resumes the coroutine until it is complete. When a step takes too long, the coroutine may be
/// dropped, or go on in another task.
fn drive(mut coroutine: Actor, seed: u64, depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let mut random = Random::new(seed);
        loop {
            let limit = within(2_000, &mut random);
            let step = async {
                match coroutine.phase() {
                    Phase::Waiting => coroutine.continue_async().await,
                    Phase::Finished => Step::Complete(()),
                    _ => coroutine.resume_async(seed).await,
                }
            };
            match select(pin!(step), pin!(limit)).await {
                Either::Left((Step::Complete(()), _)) => return,
                Either::Left(..) => {}
                Either::Right(..) => match random.below(3) {
                    0 => return,
                    1 if depth < 3 => {
                        let moved = drive(coroutine, random.next(), depth + 1);
                        evenkeel::spawn(moved).await.unwrap();
                        return;
                    }
                    _ => {}
                },
            }
        }
    })
}

#[test]
fn mix() {
    let mut done = 0;
    for round in 0..60 {
        let _watchdog = watchdog();
        let world = Arc::new(World {
            monitors: Default::default(),
            pair: Condition::new(),
            done: AtomicUsize::new(0),
        });
        let runtime = Builder::new()
            .workers(1 + (round % 3) as usize)
            .on_deadlock(|deadlock| eprintln!("DEADLOCK? {deadlock}"))
            .build()
            .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let signaller = runtime.spawn({
            let (world, stop) = (world.clone(), stop.clone());
            async move {
                while !stop.load(Ordering::Relaxed) {
                    for monitor in &world.monitors {
                        let mut held = monitor.enter().await;
                        monitor.conditions().signal_all(&mut held);
                    }
                    sleep(Duration::from_micros(300)).await;
                }
            }
        });
        let task = |number: u64| {
            let seed = round * 1_000 + number;
            runtime.spawn(drive(coroutine(world.clone(), seed), seed, 0))
        };
        let tasks: Vec<_> = (0..12).map(task).collect();
        if round % 4 == 3 {
            tasks.iter().step_by(2).for_each(|task| task.abort());
        }
        runtime.block_on(async {
            for task in tasks {
                if let Err(error) = task.await {
                    assert!(error.is_cancelled(), "{error:?}");
                }
            }
        });
        stop.store(true, Ordering::Relaxed);
        runtime.block_on(signaller).unwrap();
        drop(runtime);
        for monitor in &world.monitors {
            assert!(monitor.try_enter().is_some(), "left held, round {round}");
        }
        done += world.done.load(Ordering::Relaxed);
    }
    // On a busy machine a single round may run out of all limits before any operation.
    assert!(done > 0);
}
