//! Conditions: which task goes on after a signal, and when.
//!
//! These cases cannot be written: a wait without a monitor (B16), because a wait takes the hold; a
//! wait after recursive entry (B18), because there is none. Barriers (B20 to B23) are in
//! `barrier.rs`.

use super::free::{hold, waiter};
use crate::buffer::{self, Buffer, SIZE};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::sync::monitor::{Condition, Monitor, lock_all};
use evenkeel::{spawn, yield_now};
use evenkeel_policy::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type Plain = Monitor<u32, Condition<u32>>;

#[test]
fn b1_conditions_of_many_sets() {
    const WAITS: usize = 1_000;
    let _watchdog = watchdog();
    #[derive(Default)]
    struct World {
        monitors: [Monitor<()>; 3],
        conditions: [Condition; 4],
        over: [AtomicBool; 4],
    }
    const SETS: [&[usize]; 4] = [&[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
    in_all_weathers(|runtime, weather| {
        let world = Arc::new(World::default());
        let waiters = (0..4).map(|index| {
            let world = world.clone();
            runtime.spawn(async move {
                let mut random = Random::new(index as u64);
                let set: Vec<_> = SETS[index].iter().map(|&one| &world.monitors[one]).collect();
                for _ in 0..WAITS {
                    let held = lock_all(&set[..]).await;
                    drop(world.conditions[index].wait(held).await);
                    weather.pass(&mut random).await;
                }
                world.over[index].store(true, Ordering::Release);
            })
        });
        let mut tasks: Vec<_> = waiters.collect();
        let signaller = world.clone();
        tasks.push(runtime.spawn(async move {
            let world = signaller;
            let mut random = Random::new(9);
            while !world.over.iter().all(|over| over.load(Ordering::Acquire)) {
                let index = random.below(4) as usize;
                let set: Vec<_> = SETS[index].iter().map(|&one| &world.monitors[one]).collect();
                world.conditions[index].signal(&mut lock_all(&set[..]).await);
                weather.pass(&mut random).await;
                yield_now().await;
            }
        }));
        join(runtime, tasks);
        let condition = Condition::<()>::new();
        let mut held = world.monitors[0].try_enter().expect("all have left");
        assert!(!condition.signal(&mut held), "no task has ever waited");
    });
}

/// The task that `signal_block` signals is inside next, on both monitors.
#[test]
fn b2_no_task_barges_in() {
    const ROUNDS: u32 = 1_500;
    const BARGER: u32 = 1_000;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let [one, two] = [0_u32; 2].map(Monitor::new);
        let world = Arc::new((one, two, Condition::<u32>::new(), AtomicBool::new(false)));
        let waiters: Vec<_> = (0..3)
            .map(|task| {
                let world = world.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    for _ in 0..ROUNDS {
                        let mut held = lock_all((&world.0, &world.1)).await;
                        held = world.2.wait_with(held, 0).await;
                        let (one, two) = held.values_mut();
                        assert!(*one == *two && *one < BARGER, "no other task came in between");
                        (*one, *two) = (BARGER, BARGER);
                        weather.pass(&mut random).await;
                    }
                })
            })
            .collect();
        let others: Vec<_> = (0..12)
            .map(|task| {
                let world = world.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    while !world.3.load(Ordering::Acquire) {
                        if task < 4 {
                            let mut held = lock_all((&world.0, &world.1)).await;
                            let (one, two) = held.values_mut();
                            (*one, *two) = (task as u32, task as u32);
                            let (held, some) = world.2.signal_block(held).await;
                            let after = if some { BARGER } else { task as u32 };
                            assert_eq!(held.values(), (&after, &after));
                        } else if task % 2 == 0 {
                            *world.0.enter().await = BARGER + 1;
                        } else {
                            *world.1.enter().await = BARGER + 2;
                        }
                        weather.pass(&mut random).await;
                        yield_now().await;
                    }
                })
            })
            .collect();
        join(runtime, waiters);
        world.3.store(true, Ordering::Release);
        join(runtime, others);
    });
}

#[test]
fn b4_front_is_the_datum_of_the_first() {
    let monitor = Plain::default();
    let waiters = [3, 1, 2].map(|datum| waiter(&monitor, datum));
    let condition = monitor.conditions();
    for (waiter, datum) in waiters.into_iter().zip([3, 1, 2]) {
        let mut held = hold(&monitor);
        assert_eq!((condition.front(&held), condition.is_empty(&held)), (Some(datum), false));
        assert!(condition.signal(&mut held));
        drop(held);
        drop(waiter.ready());
    }
    let held = hold(&monitor);
    assert_eq!((condition.front(&held), condition.is_empty(&held)), (None, true));
}

/// The signalled task comes after the signaller, and before an entrant that came first.
#[test]
fn b7_the_signaller_goes_on() {
    let monitor = Plain::default();
    let mut waits = waiter(&monitor, 0);
    let mut held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter());
    assert!(monitor.conditions().signal(&mut held));
    assert!(waits.poll().is_none() && waits.wakes() == 0);
    *held += 1;
    drop(held);
    assert_eq!((waits.wakes(), entrant.wakes()), (1, 0));
    assert_eq!(*waits.ready(), 1);
    drop(entrant.ready());
}

#[test]
fn b8_signalled_ones_come_before_entrants() {
    const ROUNDS: u32 = 1_000;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Plain::default());
        runtime.block_on(async {
            let mut random = Random::new(1);
            for _ in 0..ROUNDS {
                let waiter = spawn({
                    let monitor = monitor.clone();
                    async move {
                        let held = monitor.enter().await;
                        let mut held = monitor.conditions().wait_with(held, 1).await;
                        assert_eq!(*held, 0, "the entrant comes later");
                        *held = 1;
                    }
                });
                let mut held = monitor.enter().await;
                while monitor.conditions().is_empty(&held) {
                    drop(held);
                    yield_now().await;
                    held = monitor.enter().await;
                }
                *held = 0;
                let entrant = spawn({
                    let monitor = monitor.clone();
                    async move { assert_eq!(*monitor.enter().await, 1, "the signalled one was first") }
                });
                yield_now().await;
                weather.pass(&mut random).await;
                assert!(monitor.conditions().signal(&mut held));
                drop(held);
                waiter.await.expect("it is signalled");
                entrant.await.expect("it enters");
            }
        });
    });
}

/// C∀ and µC++ have a stack here, so the last signalled goes first; here tasks go in the order of
/// their signals.
#[test]
fn b9_signalled_ones_go_in_order() {
    let monitor = Plain::default();
    let mut waiters: Vec<_> = (0..4).map(|datum| waiter(&monitor, datum)).collect();
    let mut held = hold(&monitor);
    for _ in 0..3 {
        assert!(monitor.conditions().signal(&mut held));
    }
    drop(held);
    for index in 0..3 {
        assert_eq!(waiters[0].wakes(), 1, "{index}");
        drop(waiters.remove(0).ready());
    }
    assert_eq!(waiters[0].wakes(), 0);
}

#[test]
fn b10_waiters_are_signalled_in_the_order_of_their_waits() {
    let monitor = Plain::default();
    let waiters: Vec<_> = (0..10).map(|datum| waiter(&monitor, datum)).collect();
    for waiter in waiters {
        let mut held = hold(&monitor);
        assert!(monitor.conditions().signal(&mut held));
        drop(held);
        assert_eq!(waiter.wakes(), 1);
        drop(waiter.ready());
    }
}

#[test]
fn b11_signal_all() {
    let monitor = Plain::default();
    let waiters: Vec<_> = (0..5).map(|datum| waiter(&monitor, datum)).collect();
    let mut held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter());
    assert_eq!(monitor.conditions().signal_all(&mut held), 5);
    assert_eq!(monitor.conditions().signal_all(&mut held), 0);
    drop(held);
    for waiter in waiters {
        assert_eq!((waiter.wakes(), entrant.wakes()), (1, 0));
        let mut held = waiter.ready();
        assert!(!monitor.conditions().signal(&mut held));
    }
    drop(entrant.ready());
}

#[test]
fn b12_no_waiter_wakes_for_nothing() {
    let monitor = Plain::default();
    let mut waits = waiter(&monitor, 0);
    for _ in 0..1_000_000 {
        *hold(&monitor) += 1;
    }
    assert!(waits.wakes() == 0 && waits.poll().is_none());
}

#[derive(Default)]
struct Waiting(Monitor<Vec<i64>, Changes>);

#[derive(Default)]
struct Changes {
    filled: Condition,
    emptied: Condition,
}

/// `if` instead of `while`: this follows from B2 and B12.
impl Buffer for Waiting {
    async fn put(&self, item: i64) {
        let mut held = self.0.enter().await;
        if held.len() == SIZE {
            held = self.0.conditions().emptied.wait(held).await;
        }
        assert!(held.len() < SIZE);
        held.push(item);
        self.0.conditions().filled.signal(&mut held);
    }

    async fn take(&self) -> i64 {
        let mut held = self.0.enter().await;
        if held.is_empty() {
            held = self.0.conditions().filled.wait(held).await;
        }
        let item = held.remove(0);
        self.0.conditions().emptied.signal(&mut held);
        item
    }
}

#[test]
fn b13_bounded_buffer() {
    let _watchdog = watchdog();
    buffer::carries_all::<Waiting>(10_000);
}

/// A refused wait drops its hold.
#[test]
fn b15_a_condition_belongs_to_one_set() {
    let [a, b, c] = [0_u32; 3].map(Monitor::new);
    let condition = Condition::<u32>::new();
    let pair = Hand::new(lock_all((&a, &b))).ready();
    let _waits = Hand::waiting(condition.wait_with(pair, 1));
    macro_rules! is_refused {
        ($set:expr) => {{
            let mut held = Hand::new(lock_all($set)).ready();
            let signal = AssertUnwindSafe(|| condition.signal(&mut held));
            let panic = catch_unwind(signal).expect_err("it is refused");
            let message = panic.downcast_ref::<&str>().expect("it has a message");
            assert!(message.contains("other monitors than those of its first wait"), "{message}");
            assert!(catch_unwind(AssertUnwindSafe(|| condition.is_empty(&held))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| condition.front(&held))).is_err());
            let wait = AssertUnwindSafe(|| drop(condition.wait_with(held, 2)));
            assert!(catch_unwind(wait).is_err());
            let held = Hand::new(lock_all($set)).ready();
            let block = AssertUnwindSafe(|| drop(condition.signal_block(held)));
            assert!(catch_unwind(block).is_err());
        }};
    }
    is_refused!((&a,));
    is_refused!((&b,));
    is_refused!((&a, &b, &c));
    is_refused!((&b, &c));
    // The same set, in any order.
    assert!(condition.signal(&mut Hand::new(lock_all([&b, &a])).ready()));
}

/// Unoccupied monitors may move, and then another one of the set has the lowest address.
#[test]
fn b15_a_set_that_moves_is_the_same_set() {
    let mut monitors = [1_u32, 2, 3].map(Monitor::new);
    let condition = Condition::<u32>::new();
    for (a, b) in [(0, 1), (0, 2), (1, 2), (0, 1)] {
        let all: Vec<_> = monitors.iter().collect();
        let waits = Hand::waiting(condition.wait_with(Hand::new(lock_all(&all[..])).ready(), 7));
        let mut held = Hand::new(lock_all(&all[..])).ready();
        assert_eq!((condition.front(&held), condition.is_empty(&held)), (Some(7), false));
        assert!(condition.signal(&mut held));
        drop(held);
        drop(waits.ready());
        monitors.swap(a, b);
    }
    let part = Hand::new(lock_all((&monitors[0], &monitors[1]))).ready();
    assert!(catch_unwind(AssertUnwindSafe(|| condition.is_empty(&part))).is_err());
}

#[test]
fn b17_a_wait_leaves_its_own_set_alone() {
    let (outer, inner) = (Plain::default(), Plain::default());
    let held = hold(&outer);
    let waits = waiter(&inner, 0);
    assert!(outer.try_enter().is_none());
    let mut there = hold(&inner);
    assert!(inner.conditions().signal(&mut there));
    drop(there);
    drop(waits.ready());
    drop(held);
    drop(hold(&outer));
}
