//! Barriers, built on a monitor: laps of tasks that wait for each other. The names are those of
//! `tests/conformance.rs`.

use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::sync::monitor::{Condition, Monitor};
use evenkeel::time::sleep;
use evenkeel_policy::random::Random;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Tasks wait here until all have arrived.
struct Barrier {
    tasks: usize,
    arrived: Monitor<usize, Condition>,
}

impl Barrier {
    fn new(tasks: usize) -> Self {
        Self { tasks, arrived: Monitor::default() }
    }

    /// Waits until all tasks have come. The last one runs `last` before any task goes on. Returns
    /// how many were still missing.
    async fn block(&self, last: impl FnOnce()) -> usize {
        let mut held = self.arrived.enter().await;
        *held += 1;
        let to_come = self.tasks - *held;
        if to_come > 0 {
            // `if` and not `while`: there are no spurious wakes.
            drop(self.arrived.conditions().wait(held).await);
        } else {
            *held = 0;
            last();
            assert_eq!(self.arrived.conditions().signal_all(&mut held), self.tasks - 1);
        }
        to_come
    }
}

#[test]
fn b20_generations_do_not_mix() {
    const TASKS: usize = 9;
    const LAPS: usize = 10;
    const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let world = Arc::new((Barrier::new(TASKS), Mutex::new(String::new())));
        let tasks = (0..TASKS).map(|task| {
            let world = world.clone();
            runtime.spawn(async move {
                let mut random = Random::new(task as u64);
                for letter in (0..LAPS).flat_map(|_| LETTERS) {
                    weather.pass(&mut random).await;
                    world.1.lock().expect("no holder panics").push(letter);
                    world.0.block(|| ()).await;
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
        let lap: String = LETTERS.map(|letter| letter.to_string().repeat(TASKS)).collect();
        assert_eq!(*world.1.lock().expect("no holder panics"), lap.repeat(LAPS));
    });
}

#[test]
fn b21_the_last_arrival_acts_before_the_others_go_on() {
    const TASKS: usize = 13;
    const LAPS: usize = 223;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        #[derive(Default)]
        struct Generations {
            each: [AtomicUsize; TASKS],
            calls: AtomicUsize,
        }
        let world = Arc::new((Barrier::new(TASKS), Generations::default()));
        let tasks = (0..TASKS).map(|task| {
            let world = world.clone();
            runtime.spawn(async move {
                let mut random = Random::new(task as u64);
                let Generations { each, calls } = &world.1;
                for lap in 1..=LAPS {
                    weather.pass(&mut random).await;
                    each[task].store(lap, Ordering::Release);
                    let last = || {
                        assert!(each.iter().all(|each| each.load(Ordering::Acquire) == lap));
                        calls.fetch_add(1, Ordering::AcqRel);
                    };
                    world.0.block(last).await;
                    assert_eq!(calls.load(Ordering::Acquire), lap, "no task is a lap ahead");
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
        assert_eq!(world.1.calls.load(Ordering::Acquire), LAPS);
    });
}

#[test]
fn b22_the_order_of_arrival() {
    const TASKS: usize = 11;
    const LAPS: usize = 173;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let barrier = Arc::new(Barrier::new(TASKS));
        let tasks = (0..TASKS).map(|task| {
            let barrier = barrier.clone();
            runtime.spawn(async move {
                let mut random = Random::new(task as u64);
                let mut places = Vec::new();
                for _ in 0..LAPS {
                    weather.pass(&mut random).await;
                    places.push(barrier.block(|| ()).await);
                }
                places
            })
        });
        let places = join(runtime, tasks.collect::<Vec<_>>());
        for lap in 0..LAPS {
            let mut order: Vec<_> = places.iter().map(|places| places[lap]).collect();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..TASKS), "each place is taken once");
        }
    });
}

/// Some tasks come late, when the workers are asleep. The workers of a runtime are fixed, so
/// runtimes come and go instead of processors.
#[test]
fn b23_sleepers_at_a_barrier() {
    const EAGER: usize = 8;
    const SLEEPERS: usize = 3;
    const LAPS: usize = 50;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let barrier = Arc::new(Barrier::new(EAGER + SLEEPERS));
        let laps = Arc::new(AtomicUsize::new(0));
        let tasks = (0..EAGER + SLEEPERS).map(|task| {
            let (barrier, laps) = (barrier.clone(), laps.clone());
            runtime.spawn(async move {
                let mut random = Random::new(task as u64);
                for _ in 0..LAPS {
                    if task >= EAGER {
                        sleep(Duration::from_micros(500)).await;
                    }
                    weather.pass(&mut random).await;
                    barrier.block(|| _ = laps.fetch_add(1, Ordering::AcqRel)).await;
                }
            })
        });
        join(runtime, tasks.collect::<Vec<_>>());
        assert_eq!(laps.load(Ordering::Acquire), LAPS);
    });
}
