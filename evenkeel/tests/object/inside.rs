//! Entering an object from inside it is an error, for each way in that the caller took and each
//! that it tries.

use crate::common::objects::{Holding, at, in_place, runtime};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use evenkeel::object::{EnterError, Object, enter2};
use evenkeel::task;
use evenkeel::{Runtime, block_on, spawn};
use futures::FutureExt;

/// Tries all ways in, in one poll, while the caller is inside.
#[track_caller]
fn is_refused(object: &Object<u64>) {
    fn refused<T>(result: Result<T, EnterError>) {
        assert!(matches!(result, Err(EnterError::Inside { .. })));
    }
    /// Now and then other tasks have a turn first.
    #[track_caller]
    fn at_once<F: Future>(future: F) -> F::Output {
        let mut hand = Hand::new(future);
        hand.poll().or_else(|| hand.poll()).expect("it does not wait")
    }
    refused(object.try_enter());
    refused(at_once(object.enter()));
    refused(at_once(object.with(|value| *value += 1_000)));
    refused(at_once(object.read(|value| *value)));
    refused(at_once(object.enter_held()));
    refused(at_once(enter2(object, object)));
}

/// An object of each kind.
fn objects(runtime: &Runtime) -> [Object<u64>; 4] {
    [in_place(runtime, 0), at(runtime, 0, 0), at(runtime, 1, 0), Object::new(0)]
}

#[test]
fn by_a_guard_of_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let task = runtime.spawn({
            let object = object.clone();
            async move {
                {
                    let mut guard = object.enter().await.unwrap();
                    is_refused(&object);
                    *guard += 1;
                }
                let inner = object.clone();
                object
                    .with(move |value| {
                        is_refused(&inner);
                        *value += 1;
                    })
                    .await
                    .unwrap();
                loop {
                    if let Some(mut guard) = object.try_enter().unwrap() {
                        is_refused(&object);
                        *guard += 1;
                        break;
                    }
                    object.with(|_| ()).await.unwrap();
                }
            }
        });
        block_on(task).expect("the task ends well");
        assert_eq!(object.call_blocking(|value| *value), Ok(3));
    }
}

/// More objects than a worker has notes for, left in another order than that of entry.
#[test]
fn of_many_objects_at_a_time() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    for home in [false, true] {
        let objects: Vec<_> =
            (0..9).map(|_| if home { at(&runtime, 0, 0) } else { in_place(&runtime, 0) }).collect();
        let task = runtime.spawn(async move {
            let mut guards: Vec<_> = objects
                .iter()
                .map(|object| Some(object.try_enter().unwrap().expect("it is free")))
                .collect();
            objects.iter().for_each(is_refused);
            for leaves in [0, 3, 1, 8, 5] {
                guards[leaves] = None;
                drop(objects[leaves].try_enter().unwrap().expect("it is free"));
                for (object, guard) in objects.iter().zip(&guards) {
                    if guard.is_some() {
                        is_refused(object);
                    }
                }
                guards[leaves] = objects[leaves].try_enter().unwrap();
                is_refused(&objects[leaves]);
            }
            drop(guards);
            assert!(objects.iter().all(|object| object.try_enter().unwrap().is_some()));
        });
        block_on(task).expect("the task ends well");
    }
}

/// Outside all tasks, guards may be held across awaits.
#[test]
fn by_a_guard_of_a_thread() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let operation = async {
            let guard = object.enter().await.unwrap();
            is_refused(&object);
            assert!(matches!(object.enter().await, Err(EnterError::Inside { .. })));
            assert!(matches!(object.call_blocking(|_| ()), Err(EnterError::Inside { .. })));
            drop(guard);
            object.with(|value| *value += 1).await.unwrap();
        };
        block_on(operation);
        assert_eq!(runtime.block_on(object.read(|value| *value)), Ok(1));
        drop(object.try_enter().unwrap().expect("it is free"));
    }
}

#[test]
fn in_call_blocking() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        object
            .call_blocking(|value| {
                is_refused(&object);
                assert!(matches!(object.call_blocking(|_| ()), Err(EnterError::Inside { .. })));
                *value += 1;
            })
            .unwrap();
        assert_eq!(object.call_blocking(|value| *value), Ok(1));
    }
}

#[test]
fn in_a_held_operation() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let operation = |object: Object<u64>| async move {
            let mut held = object.enter_held().await.unwrap();
            *held += 1;
            evenkeel::yield_now().await;
            is_refused(&object);
            assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside { .. })));
            assert!(matches!(object.enter_held().await, Err(EnterError::Inside { .. })));
            drop(held);
            object.with(|value| *value += 1).await.unwrap();
        };
        block_on(runtime.spawn(operation(object.clone()))).expect("the task ends well");
        runtime.block_on(operation(object.clone()));
        block_on(async {
            let held = object.enter_held().await.unwrap();
            assert!(matches!(object.call_blocking(|_| ()), Err(EnterError::Inside { .. })));
            drop(held);
        });
        assert_eq!(object.call_blocking(|value| *value), Ok(4));
    }
}

/// A different object is no error.
#[test]
fn the_one_and_then_another() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (one, other) = (at(&runtime, 0, 1), at(&runtime, 0, 2));
    let task = runtime.spawn(async move {
        let one = one.enter().await.unwrap();
        let other = other.try_enter().unwrap().expect("it is at home here");
        *one + *other
    });
    assert_eq!(block_on(task).unwrap(), 3);
}

#[test]
fn the_error_has_names() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let error = runtime.block_on(async {
        let account = Object::new(vec![1_u16]).class("accounts");
        let clerk = async move {
            let result = account.with(|_| account.try_enter().map(|_| ())).await.unwrap();
            result.expect_err("it is inside")
        };
        task::Builder::new().name("clerk").spawn(clerk).await.unwrap()
    });
    let text = error.to_string();
    for part in ["clerk", "accounts", "Vec<u16>", "already"] {
        assert!(text.contains(part), "{text}");
    }
    let object = Object::new(0_u8);
    let error = object.call_blocking(|_| object.call_blocking(|_| ())).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the caller is inside"), "{error}");
}

/// A future that has entered and is kept keeps no task from its turn.
#[test]
fn a_future_that_is_complete_is_not_in_line() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let object = in_place(&runtime, 0);
    let holding = Holding::of(&runtime, &object);
    let mut enter = Box::pin(object.enter());
    assert!(enter.as_mut().now_or_never().is_none());
    let next = spawn_on_a_thread(&object);
    holding.leave();
    drop(block_on(enter.as_mut()).unwrap());
    next.join().expect("it gets in although the future is kept");
    drop(enter);
}

/// A held operation on a thread of its own.
fn spawn_on_a_thread(object: &Object<u64>) -> std::thread::JoinHandle<()> {
    let object = object.clone();
    std::thread::spawn(move || block_on(async { *object.enter_held().await.unwrap() += 1 }))
}

/// The worker is inside the object, for another task: this is no error, and no entry either.
#[test]
fn another_task_waits() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let object = in_place(&runtime, 0);
    let task = runtime.spawn({
        let object = object.clone();
        async move {
            let mut held = object.enter_held().await.unwrap();
            let other = spawn({
                let object = object.clone();
                async move { object.with(|value| *value += 1).await }
            });
            for _ in 0..10 {
                evenkeel::yield_now().await;
            }
            assert!(!other.is_finished());
            *held += 1;
            drop(held);
            other.await.unwrap().unwrap();
            object.with(|value| *value).await.unwrap()
        }
    });
    assert_eq!(block_on(task).unwrap(), 2);
}
