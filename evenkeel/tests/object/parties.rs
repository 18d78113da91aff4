//! Parties that take turns on one thread: the future of `block_on`, local tasks, and the tasks of a
//! current-thread runtime.

use crate::common::watchdog::watchdog;
use evenkeel::object::{EnterError, Object, enter2};
use evenkeel::task::{LocalSet, spawn_local};
use evenkeel::{Builder, Runtime, deterministic, spawn, yield_now};
use std::cell::Cell;
use std::rc::Rc;

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn refuses_to_block(object: &Object<u32>) -> bool {
    matches!(object.call_blocking(|_| ()), Err(EnterError::Inside(_)))
}

/// Has a guard across awaits while a task comes to the object.
async fn keep_a_guard_beside_a_task() {
    let (object, other) = (Object::new(0), Object::new(0));
    let guard = object.enter().await.unwrap();
    let task = spawn({
        let (object, other) = (object.clone(), other.clone());
        async move {
            let both = enter2(&object, &other).await.map(|(mut one, _)| *one += 1);
            (object.try_enter().map(|guard| guard.is_some()), both)
        }
    });
    for _ in 0..10 {
        yield_now().await;
    }
    assert_eq!(*guard, 0);
    assert!(!task.is_finished());
    assert!(matches!(object.enter().await, Err(EnterError::Inside(_))));
    drop(guard);
    assert_eq!(task.await.unwrap(), (Ok(true), Ok(())));
    assert_eq!(object.with(|value| *value).await, Ok(1));
}

#[test]
fn a_task_waits_for_a_guard_that_block_on_has_on_its_thread() {
    let _watchdog = watchdog();
    current_thread().block_on(keep_a_guard_beside_a_task());
    deterministic::explore(0..20, |_| keep_a_guard_beside_a_task());
}

#[test]
fn a_local_task_waits_for_another_that_is_inside() {
    let _watchdog = watchdog();
    for (is_driver, holds) in [(false, false), (false, true), (true, false), (true, true)] {
        let worker = || Builder::new().workers(1).build().unwrap();
        let runtime = if is_driver { current_thread() } else { worker() };
        let object = Object::new(0);
        LocalSet::new().block_on(&runtime, async {
            let is_inside = Rc::new(Cell::new(false));
            let first = spawn_local({
                let (object, is_inside) = (object.clone(), is_inside.clone());
                async move {
                    let (mut held, mut guard) = (None, None);
                    if holds {
                        held = Some(object.enter_held().await.unwrap());
                    } else {
                        guard = Some(object.enter().await.unwrap());
                    }
                    is_inside.set(true);
                    for _ in 0..10 {
                        yield_now().await;
                    }
                    // It is inside itself, in whichever way it comes again.
                    assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside(_))));
                    assert!(is_driver || refuses_to_block(&object));
                    is_inside.set(false);
                    drop((held.take(), guard.take()));
                }
            });
            let second = spawn_local({
                let (object, is_inside) = (object.clone(), is_inside.clone());
                async move {
                    while !is_inside.get() {
                        yield_now().await;
                    }
                    assert!(object.try_enter().unwrap().is_none());
                    // Its thread would never come to the one that is inside.
                    assert!(is_driver || refuses_to_block(&object));
                    object.with(|value| *value += 1).await.unwrap();
                    assert!(!is_inside.get());
                }
            });
            object.with(|value| *value += 1).await.unwrap();
            first.await.unwrap();
            second.await.unwrap();
            assert_eq!(object.with(|value| *value).await, Ok(2));
        });
    }
}

#[test]
fn the_future_of_block_on_and_a_local_task_wait_for_each_other() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let object = Object::new(0);
        let guard = object.enter().await.unwrap();
        let local = spawn_local({
            let object = object.clone();
            async move { object.with(|value| *value += 1).await }
        });
        for _ in 0..10 {
            yield_now().await;
        }
        drop(guard);
        assert_eq!(local.await.unwrap(), Ok(()));
    });
}

#[test]
fn an_operation_is_held_by_the_task_that_completes_its_entry() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    runtime.block_on(async {
        let object = Object::new(0);
        let held = object.enter_held().await.unwrap();
        let entry = spawn({
            let object = object.clone();
            async move {
                let mut entry = Box::pin(async move {
                    let held = object.enter_held().await.unwrap();
                    yield_now().await;
                    drop(held);
                });
                assert!(futures::poll!(entry.as_mut()).is_pending());
                Some(entry)
            }
        });
        let mut entry = entry.await.unwrap().expect("it is pending");
        drop(held);
        let second = spawn({
            let object = object.clone();
            async move {
                // It may give other tasks a turn before it is inside.
                while matches!(object.try_enter(), Ok(Some(_))) {
                    assert!(futures::poll!(entry.as_mut()).is_pending());
                    yield_now().await;
                }
                let again = object.with(|_| ()).await;
                entry.await;
                again
            }
        });
        let second = second.await.unwrap();
        assert!(matches!(second, Err(EnterError::Inside(_))), "{second:?}");
    });
}
