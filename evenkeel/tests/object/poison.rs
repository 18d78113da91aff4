//! An operation that panics poisons only its object.

use crate::common::objects::{at, comes_home, in_place, runtime};
use crate::common::watchdog::watchdog;
use evenkeel::object::{EnterError, Object, enter2};
use evenkeel::{Runtime, block_on, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// An object of each kind.
fn objects(runtime: &Runtime) -> [Object<u64>; 4] {
    [in_place(runtime, 0), at(runtime, 0, 0), at(runtime, 1, 0), Object::new(0)]
}

/// A panic without a message on standard error.
fn panic_inside(value: &mut u64) {
    *value = 7;
    resume_unwind(Box::new("halfway"));
}

/// Checks that all ways in fail, from a task and from a thread, until the poison is cleared, and
/// then succeed.
fn is_poisoned(runtime: &Runtime, object: &Object<u64>) {
    fn refused<T>(result: Result<T, EnterError>) {
        assert!(matches!(result, Err(EnterError::Poisoned { .. })));
    }
    async fn is_shut(object: &Object<u64>) {
        refused(object.enter().await.map(drop));
        refused(object.with(|_| ()).await);
        refused(object.read(|_| ()).await);
        refused(object.enter_held().await.map(drop));
        refused(object.try_enter());
        let whole = Object::new(0);
        refused(enter2(object, &whole).await.map(drop));
        refused(enter2(&whole, object).await.map(drop));
        assert!(whole.try_enter().unwrap().is_some(), "it has not stayed inside of the other");
    }
    assert!(object.is_poisoned());
    refused(object.call_blocking(|_| ()));
    block_on(is_shut(object));
    let task = runtime.spawn({
        let object = object.clone();
        async move { is_shut(&object).await }
    });
    block_on(task).expect("the task ends well");

    object.clear_poison();
    assert!(!object.is_poisoned());
    let task = runtime.spawn({
        let object = object.clone();
        async move {
            if object.home().is_some() {
                comes_home(&object).await;
            }
            let value = object.with(std::mem::take).await.unwrap();
            *object.enter_held().await.unwrap() += 1;
            value
        }
    });
    let value = block_on(task).expect("the task ends well");
    assert_eq!(value, 7, "the value is as the panic has left it");
    assert_eq!(object.call_blocking(std::mem::take), Ok(1));
}

#[test]
fn by_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let task = runtime.spawn({
            let object = object.clone();
            async move { object.with(panic_inside).await }
        });
        assert!(block_on(task).unwrap_err().is_panic());
        is_poisoned(&runtime, &object);
        let task = runtime.spawn({
            let object = object.clone();
            async move { panic_inside(&mut object.enter().await.unwrap()) }
        });
        assert!(block_on(task).unwrap_err().is_panic());
        is_poisoned(&runtime, &object);
    }
}

#[test]
fn by_a_thread() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let called = catch_unwind(AssertUnwindSafe(|| object.call_blocking(panic_inside)));
        assert!(called.is_err());
        is_poisoned(&runtime, &object);
    }
}

#[test]
fn by_a_held_operation() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let task = runtime.spawn({
            let object = object.clone();
            async move {
                let mut held = object.enter_held().await.unwrap();
                yield_now().await;
                panic_inside(&mut held);
            }
        });
        assert!(block_on(task).unwrap_err().is_panic());
        is_poisoned(&runtime, &object);
    }
}

#[test]
fn both_of_two() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (one, other) = (at(&runtime, 0, 7), at(&runtime, 1, 0));
    let task = runtime.spawn({
        let (one, other) = (one.clone(), other.clone());
        async move {
            let (_one, mut other) = enter2(&one, &other).await.unwrap();
            panic_inside(&mut other);
        }
    });
    assert!(block_on(task).unwrap_err().is_panic());
    is_poisoned(&runtime, &one);
    is_poisoned(&runtime, &other);
}

/// All tasks in line behind the panic receive the error.
#[test]
fn waiters_are_told_of_the_poison() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let (open, opened) = futures::channel::oneshot::channel::<()>();
        let (entered, inside) = futures::channel::oneshot::channel();
        let breaker = runtime.spawn({
            let object = object.clone();
            async move {
                let mut held = object.enter_held().await.unwrap();
                entered.send(()).expect("the test waits");
                opened.await.expect("the test opens");
                panic_inside(&mut held);
            }
        });
        block_on(inside).expect("it gets in");
        let waiters: Vec<_> = (0..8)
            .map(|waiter| {
                let object = object.clone();
                runtime.spawn(async move {
                    if waiter % 2 == 0 {
                        object.enter_held().await.map(|_| ())
                    } else {
                        object.with(|_| ()).await
                    }
                })
            })
            .collect();
        open.send(()).expect("it waits");
        assert!(block_on(breaker).unwrap_err().is_panic());
        for waiter in waiters {
            let result = block_on(waiter).expect("the task ends well");
            assert!(matches!(result, Err(EnterError::Poisoned { .. })));
        }
        is_poisoned(&runtime, &object);
    }
}

/// An operation that begins while its thread already unwinds, as in a drop, is not the source of
/// the panic.
#[test]
fn not_by_a_panic_outside() {
    struct Last(Object<u64>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.call_blocking(|value| *value += 1).unwrap();
            *block_on(self.0.enter_held()).unwrap() += 1;
        }
    }
    let object = Object::new(0);
    let last = Last(object.clone());
    let thread = thread::spawn(move || {
        let _last = last;
        resume_unwind(Box::new("elsewhere"));
    });
    assert!(thread.join().is_err());
    assert_eq!(object.call_blocking(|value| *value), Ok(2));
}

/// A clear is not undone by tasks that find the object poisoned at the same time.
#[test]
fn a_clear_is_not_lost() {
    let _watchdog = watchdog();
    let object = Object::new(0);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (object, over) = (&object, &over);
        for _ in 0..2 {
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let _ = object.call_blocking(|_| ());
                }
            });
        }
        for _ in 0..10_000 {
            let operation = || object.call_blocking(panic_inside);
            assert!(catch_unwind(AssertUnwindSafe(operation)).is_err());
            object.clear_poison();
            assert!(!object.is_poisoned());
            assert_eq!(object.call_blocking(|value| *value), Ok(7));
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn the_error_has_names() {
    let runtime = runtime(1);
    let object = runtime.block_on(async { Object::new(vec![0_u64]).class("accounts") });
    let operation = || object.call_blocking(|_| resume_unwind(Box::new("halfway")));
    assert!(catch_unwind(AssertUnwindSafe(operation)).is_err());
    let error = object.call_blocking(|_| ()).unwrap_err().to_string();
    for part in ["accounts", "Vec<u64>", "clear_poison"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_future_that_is_polled_once_too_often_leaves_the_object_as_it_was() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    async fn polls_twice(object: Object<u64>) {
        let mut with = pin!(object.with(|value| *value += 1));
        with.as_mut().await.unwrap();
        with.as_mut().await.unwrap();
    }
    for object in objects(&runtime) {
        // More often than a worker has notes.
        for n in 1..=10 {
            let task = runtime.spawn(polls_twice(object.clone()));
            assert!(block_on(task).is_err(), "it panics");
            assert!(
                catch_unwind(AssertUnwindSafe(|| block_on(polls_twice(object.clone())))).is_err()
            );
            assert!(!object.is_poisoned());
            assert_eq!(object.call_blocking(|value| *value), Ok(2 * n));
        }
    }
}

#[test]
fn an_operation_that_panics_while_its_thread_does_poisons() {
    struct Operates(Object<u64>);
    impl Drop for Operates {
        fn drop(&mut self) {
            let operate = || self.0.call_blocking(panic_inside);
            assert!(catch_unwind(AssertUnwindSafe(operate)).is_err());
        }
    }
    let object = Object::new(0);
    let operates = Operates(object.clone());
    let unwind = AssertUnwindSafe(|| {
        let _operates = operates;
        resume_unwind(Box::new("outside"));
    });
    assert!(catch_unwind(unwind).is_err());
    assert!(object.is_poisoned());
}
