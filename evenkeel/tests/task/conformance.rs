//! Tasks in the role of C∀'s threads: parking, joining, elections, sleep, and moves from one
//! runtime to another. The names are those of `tests/conformance.rs`.
//!
//! There is no preemption: where a case needs it (D7), its tasks yield.

use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::coroutine::{BoxCoroutine, Coroutine, Resume, Step};
use evenkeel::fork_join::{self, scope};
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::{Condition, Monitor};
use evenkeel::task::{Task, current, park};
use evenkeel::time::{Instant, sleep};
use evenkeel::{Builder, Handle, Shutdown, spawn, yield_now};
use evenkeel_policy::random::Random;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn d1_unpark_before_the_first_park() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        runtime.block_on(async {
            let mut random = Random::new(1);
            for _ in 0..1_000 {
                let parked = spawn(park());
                weather.pass(&mut random).await;
                parked.task().unpark();
                parked.await.expect("it is unparked once");
            }
        });
    });
}

/// Tasks leave themselves in slots and park, and unpark the tasks that they find there.
#[test]
fn d2_parks_and_unparks_at_random() {
    const TASKS: u64 = 20;
    const ROUNDS: usize = 1_000;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let slots: Arc<[Mutex<Option<Task>>; 10]> = Arc::default();
        let swap = |slots: &[Mutex<Option<Task>>; 10], random: &mut Random, next| {
            let mut slot = slots[random.below(10) as usize].lock().expect("no task panics");
            std::mem::replace(&mut *slot, next)
        };
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let slots = slots.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    for _ in 0..ROUNDS {
                        weather.pass(&mut random).await;
                        let parks = random.below(2) == 0;
                        let other = swap(&slots, &mut random, parks.then(current));
                        if let Some(other) = other {
                            other.unpark();
                        }
                        if parks {
                            park().await;
                        }
                    }
                })
            })
            .collect();
        let over = Arc::new(AtomicBool::new(false));
        let unparker = runtime.spawn({
            let over = over.clone();
            async move {
                let mut random = Random::new(TASKS);
                while !over.load(Ordering::Acquire) {
                    if let Some(other) = swap(&slots, &mut random, None) {
                        other.unpark();
                    }
                    yield_now().await;
                }
            }
        });
        join(runtime, tasks);
        over.store(true, Ordering::Release);
        join(runtime, [unparker]);
    });
}

#[test]
fn d3_unpark_oneself_and_park_after_other_turns() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let tasks = (0..10_u64).map(|seed| {
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for round in 0..100 {
                    let locals = [round, seed, !round];
                    current().unpark();
                    yield_now().await;
                    weather.pass(&mut random).await;
                    park().await;
                    assert_eq!(locals, [round, seed, !round]);
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
    });
}

#[test]
fn d4_results_come_through_joins() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let tasks = (0..17).map(|seed| {
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..50 {
                    yield_now().await;
                    weather.pass(&mut random).await;
                }
                42
            })
        });
        assert_eq!(join(runtime, tasks.collect::<Vec<_>>()), [42; 17]);
    });
}

/// Clusters are runtimes, and their processors go with them: a drained runtime first runs all
/// remaining tasks.
#[test]
fn d5_clusters_come_and_go() {
    let _watchdog = watchdog();
    for round in 0..20 {
        let cluster = Builder::new().workers(4).build().expect("the runtime starts");
        let turns = Arc::new(AtomicUsize::new(0));
        let tasks = (0..17).map(|_| {
            let turns = turns.clone();
            cluster.spawn(async move {
                for _ in 0..50 {
                    yield_now().await;
                    turns.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let tasks: Vec<_> = tasks.collect();
        if round % 2 == 0 {
            join(&cluster, tasks);
        }
        assert!(cluster.shutdown(Shutdown::Drain).is_clean());
        assert_eq!(turns.load(Ordering::Relaxed), 17 * 50);
    }
}

/// The leader of an epoch spins without a yield until all others have seen it: another worker runs
/// the tasks behind it in its worker's queue. A single worker cannot.
#[test]
fn d6_a_leader_spins_until_all_have_seen_it() {
    const TASKS: usize = 17;
    const EPOCHS: usize = 100;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        if weather.workers == 1 {
            return;
        }
        let led = Arc::new(AtomicUsize::new(0));
        let seen: Arc<[AtomicUsize; TASKS]> = Arc::default();
        let tasks = (0..TASKS).map(|me| {
            let (led, seen) = (led.clone(), seen.clone());
            runtime.spawn(async move {
                let mut random = Random::new(me as u64);
                for epoch in 1..=EPOCHS {
                    weather.pass(&mut random).await;
                    let is =
                        |epoch| move |task: &AtomicUsize| task.load(Ordering::Acquire) >= epoch;
                    seen[me].store(epoch, Ordering::Release);
                    let before = Ordering::AcqRel;
                    if led.compare_exchange(epoch - 1, epoch, before, Ordering::Acquire).is_ok() {
                        while !seen.iter().all(is(epoch)) {
                            std::thread::yield_now();
                        }
                    }
                    // No task is an epoch ahead of another.
                    while !seen.iter().all(is(epoch)) {
                        yield_now().await;
                    }
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
        assert_eq!(led.load(Ordering::Acquire), EPOCHS);
    });
}

#[test]
fn d7_turns_by_yielding() {
    const TASKS: usize = 7;
    const TURNS: usize = 500;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, _| {
        let counter = Arc::new(AtomicUsize::new(0));
        let tasks = (0..TASKS).map(|me| {
            let counter = counter.clone();
            runtime.spawn(async move {
                loop {
                    match counter.load(Ordering::Acquire) {
                        count if count >= TURNS => break,
                        count if count % TASKS == me => {
                            counter.store(count + 1, Ordering::Release);
                        }
                        _ => yield_now().await,
                    }
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
        assert_eq!(counter.load(Ordering::Acquire), TURNS);
    });
}

/// By a monitor: a task that comes while the function runs waits until it is complete.
#[test]
fn d8_call_once() {
    const TASKS: u64 = 11;
    const GENERATIONS: usize = 200;
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    enum State {
        #[default]
        New,
        Runs,
        Complete,
    }
    type Once = Monitor<State, Condition>;
    async fn call_once(once: &Once, function: impl Future<Output = ()>) {
        let mut held = once.enter().await;
        match *held {
            State::Complete => {}
            State::Runs => {
                let held = once.conditions().wait(held).await;
                assert!(*held == State::Complete);
            }
            State::New => {
                *held = State::Runs;
                drop(held);
                function.await;
                let mut held = once.enter().await;
                *held = State::Complete;
                once.conditions().signal_all(&mut held);
            }
        }
    }
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let generations = (0..GENERATIONS).map(|_| (Once::default(), AtomicUsize::new(0)));
        let generations: Arc<[_]> = generations.collect();
        let tasks = (0..TASKS).map(|task| {
            let generations = generations.clone();
            runtime.spawn(async move {
                let mut random = Random::new(task);
                for (once, runs) in &*generations {
                    let function = async {
                        weather.pass(&mut random).await;
                        runs.fetch_add(1, Ordering::AcqRel);
                    };
                    call_once(once, function).await;
                    assert_eq!(runs.load(Ordering::Acquire), 1, "it is complete");
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
    });
}

/// On a paused clock that advances when all sleep, no task is early.
#[test]
fn d9_a_fast_and_a_slow_sleeper() {
    const FAST: Duration = Duration::from_millis(47);
    const SLOW: Duration = Duration::from_millis(277);
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = Builder::new().workers(workers).start_paused(true).build();
        let runtime = runtime.expect("the runtime starts");
        let counter = Arc::new(AtomicI64::new(0));
        let sleeper = |times, each: Duration, step| {
            let counter = counter.clone();
            runtime.spawn(async move {
                let begin = Instant::now();
                for time in 1..=times {
                    sleep(each).await;
                    assert!(begin.elapsed() >= each * time, "it has slept long enough");
                    let now = counter.fetch_add(step, Ordering::AcqRel) + step;
                    assert!(now >= -9, "the other one sleeps too long");
                }
            })
        };
        join(&runtime, [sleeper(20, FAST, 1), sleeper(4, SLOW, -5)]);
        assert_eq!(counter.load(Ordering::Acquire), 0);
    }
}

#[test]
fn d10_blocks_that_run_together_end_together() {
    let _watchdog = watchdog();
    for workers in [1, 2, 5] {
        let runtime = Builder::new().workers(workers).build().expect("the runtime starts");
        let sum = AtomicI64::new(0);
        let add = |count| _ = sum.fetch_add(count, Ordering::Relaxed);
        runtime.handle().install(|| {
            scope(|scope| (0..10).for_each(|count| scope.spawn(move |_| add(count))));
            assert_eq!(sum.load(Ordering::Relaxed), 45, "its end is the end of all");
            fork_join::join(
                || fork_join::join(|| add(11), || add(12)),
                || fork_join::join(|| add(13), || fork_join::join(|| add(14), || add(15))),
            );
        });
        assert_eq!(sum.into_inner(), 110);
    }
}

/// A task belongs to one runtime. A coroutine runs where it is resumed: here it chooses the next
/// place, and checks that it is there.
#[test]
fn c24_a_coroutine_goes_from_runtime_to_runtime() {
    const HOPS: u64 = 100;
    const PLACES: usize = 3;
    type Traveller = BoxCoroutine<'static, usize, usize>;
    fn go(
        places: Arc<[Handle; PLACES]>,
        to: usize,
        mut traveller: Traveller,
        home: Arc<Semaphore>,
    ) {
        drop(places.clone()[to].spawn(async move {
            match traveller.resume(to) {
                Step::Yielded(next) => go(places, next, traveller, home),
                Step::Complete(()) => home.add_permits(1),
            }
        }));
    }
    let _watchdog = watchdog();
    let place = |place: usize| {
        let name = format!("place-{place}");
        Builder::new().workers(1 + place % 2).name(name).build().expect("the runtime starts")
    };
    let runtimes = [0, 1, 2].map(place);
    let places: Arc<[Handle; PLACES]> = Arc::new(runtimes.each_ref().map(|one| one.handle()));
    let home = Arc::new(Semaphore::new(0));
    for seed in 0..17 {
        let traveller = Coroutine::new(async move |mut suspender, mut here: usize| {
            let mut random = Random::new(seed);
            for _ in 0..HOPS {
                let thread = std::thread::current();
                let name = thread.name().expect("workers have names");
                assert!(name.starts_with(&format!("place-{here}")), "{name} is not {here}");
                let next = random.below(PLACES as u64) as usize;
                here = suspender.suspend(next).await;
                assert_eq!(here, next);
            }
        });
        go(places.clone(), seed as usize % PLACES, traveller.boxed(), home.clone());
    }
    runtimes[0].block_on(async {
        for _ in 0..17 {
            home.take().await;
        }
    });
}
