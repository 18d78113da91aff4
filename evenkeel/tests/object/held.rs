//! Operations that await inside: the order of entry, and the effect of cancellation.

use crate::common::objects::{Holding, at, in_place, runtime, worker};
use crate::common::polling::Hand;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::object::{Object, Placement};
use evenkeel::{JoinHandle, Runtime, block_on, yield_now};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object at home and one in place.
fn objects<T>(runtime: &Runtime, value: impl Fn() -> T) -> [Object<T>; 2] {
    [at(runtime, 0, value()), in_place(runtime, value())]
}

/// Returns a task that holds the object and pushes its number, once the task stands in line.
fn in_line(
    runtime: &Runtime,
    object: &Object<Vec<u64>>,
    number: u64,
    begun: &Arc<AtomicUsize>,
) -> JoinHandle<()> {
    let (object, begun) = (object.clone(), begun.clone());
    runtime.spawn(async move {
        let mut enter = Box::pin(object.enter_held());
        let first = futures::poll!(enter.as_mut());
        begun.fetch_add(1, Ordering::AcqRel);
        assert!(first.is_pending(), "a task is inside");
        let mut held = enter.await.unwrap();
        yield_now().await;
        held.push(number);
    })
}

/// Spawns tasks one after another, so that they stand in this order.
fn stand_in_line(
    runtime: &Runtime,
    object: &Object<Vec<u64>>,
    numbers: std::ops::Range<u64>,
) -> Vec<JoinHandle<()>> {
    let begun = Arc::new(AtomicUsize::new(0));
    numbers
        .enumerate()
        .map(|(before, number)| {
            let task = in_line(runtime, object, number, &begun);
            until(|| begun.load(Ordering::Acquire) > before);
            task
        })
        .collect()
}

#[test]
fn first_come_first_served() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, Vec::new) {
        let holding = Holding::of(&runtime, &object);
        let tasks = stand_in_line(&runtime, &object, 0..20);
        holding.leave();
        join(&runtime, tasks);
        assert!(object.call_blocking(|numbers| numbers.iter().copied().eq(0..20)).unwrap());
    }
}

/// Operations of one poll stand in the same line.
#[test]
fn entrants_wait_behind_a_held_operation() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, || 0_u64) {
        let holding = Holding::of(&runtime, &object);
        assert!(object.try_enter().unwrap().is_none());
        let entered = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..10)
            .map(|task| {
                let (object, entered) = (object.clone(), entered.clone());
                runtime.spawn(async move {
                    if task % 2 == 0 {
                        object.with(|value| *value += 1).await.unwrap();
                    } else {
                        *object.enter().await.unwrap() += 1;
                    }
                    entered.fetch_add(1, Ordering::AcqRel);
                })
            })
            .collect();
        // By then other tasks have had many turns.
        runtime
            .block_on(runtime.spawn(async {
                for _ in 0..1_000 {
                    yield_now().await;
                }
            }))
            .expect("the task ends well");
        assert_eq!(entered.load(Ordering::Acquire), 0);
        holding.leave();
        join(&runtime, tasks);
        assert_eq!(object.call_blocking(|value| *value), Ok(10));
    }
}

#[test]
fn cancelled_in_line() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, Vec::new) {
        let holding = Holding::of(&runtime, &object);
        let tasks = stand_in_line(&runtime, &object, 0..9);
        for (number, task) in tasks.iter().enumerate() {
            if number % 3 != 1 {
                task.abort();
            }
        }
        for (number, task) in tasks.into_iter().enumerate() {
            if number % 3 != 1 {
                assert!(block_on(task).unwrap_err().is_cancelled());
            }
        }
        holding.leave();
        until(|| object.call_blocking(|numbers| numbers.len() == 3).unwrap());
        assert_eq!(object.call_blocking(|numbers| numbers.clone()).unwrap(), [1, 4, 7]);
        assert!(!object.is_poisoned());
    }
}

/// The turn was granted to a future that is dropped before its next poll: the turn goes on to the
/// next.
#[test]
fn cancelled_after_it_was_granted() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    for object in objects(&runtime, Vec::new) {
        let holding = Holding::of(&runtime, &object);
        let first = Hand::waiting(object.enter_held());
        let second = Hand::waiting(object.enter_held());
        let third = stand_in_line(&runtime, &object, 3..4);
        holding.leave();
        until(|| first.wakes() > 0);
        assert_eq!(second.wakes(), 0);
        drop(first);
        until(|| second.wakes() > 0);
        drop(second);
        join(&runtime, third);
        assert_eq!(object.call_blocking(|numbers| numbers.clone()).unwrap(), [3]);
    }
}

#[test]
fn cancelled_before_its_first_poll() {
    let object = Object::new(());
    drop(object.enter_held());
    drop(object.enter());
    drop(object.with(|()| unreachable!("it is not polled")));
    assert!(object.try_enter().unwrap().is_some());
}

/// A task that is cancelled inside leaves the object, with the value as it is: cancellation is no
/// panic.
#[test]
fn cancelled_inside() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, Vec::new) {
        let holding = Holding::of(&runtime, &object);
        let next = stand_in_line(&runtime, &object, 5..6);
        holding.task.abort();
        assert!(block_on(holding.task).unwrap_err().is_cancelled());
        join(&runtime, next);
        assert!(!object.is_poisoned());
        assert_eq!(object.call_blocking(|numbers| numbers.clone()).unwrap(), [5]);
    }
}

/// The next entrant is chosen when the object is left, by any way and anywhere: all ways at once.
#[test]
fn all_of_it_at_random() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        for object in objects(runtime, || (0_u64, 0_u64)) {
            let tasks: Vec<_> = (0..24)
                .map(|task| {
                    let object = object.clone();
                    runtime.spawn(async move {
                        let mut random = Random::new(task);
                        let mut count = 0;
                        for _ in 0..100 {
                            let mut enter = Box::pin(object.enter_held());
                            if random.below(4) == 0 && futures::poll!(enter.as_mut()).is_pending() {
                                weather.pass(&mut random).await;
                                continue;
                            }
                            drop(enter);
                            if random.below(2) == 0 {
                                object.with(|value| value.0 += 1).await.unwrap();
                            } else {
                                let mut held = object.enter_held().await.unwrap();
                                let before = held.0;
                                weather.pass(&mut random).await;
                                held.0 = before + 1;
                            }
                            count += 1;
                        }
                        count
                    })
                })
                .collect();
            let sum: u64 = join(runtime, tasks).into_iter().sum();
            assert_eq!(object.call_blocking(|value| value.0), Ok(sum));
        }
    });
}

/// The value stays at its place; its task may travel meanwhile.
#[test]
fn a_held_operation_enters_other_objects() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let outer = at(&runtime, 0, Vec::new());
    let inner: Vec<_> = (0..3)
        .map(|home| {
            runtime.block_on(async { Object::new(()).placed("i", Placement::Home).at(home) })
        })
        .collect();
    let task = runtime.spawn({
        let outer = outer.clone();
        async move {
            let mut held = outer.enter_held().await.unwrap();
            for inner in inner {
                held.push(inner.with(|()| worker()).await.unwrap());
            }
        }
    });
    block_on(task).expect("the task ends well");
    assert_eq!(outer.home(), Some(0));
    assert_eq!(outer.call_blocking(|workers| workers.len()), Ok(3));
}

/// The forgotten guard locks its own object for ever, but no later one at the same address.
#[test]
fn a_guard_that_is_forgotten_holds_no_other_object() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    runtime.block_on(async {
        for _ in 0..100 {
            let object = Object::new(0);
            std::mem::forget(object.enter_held().await.unwrap());
            drop(object.class("another"));
            let next = Object::new(0);
            *next.enter_held().await.unwrap() += 1;
        }
    });
}
