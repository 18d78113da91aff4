//! The ways in, one by one: their results, and where they run.

use crate::common::objects::{Holding, at, comes_home, in_place, join, runtime, worker};
use crate::common::panics::message_of;
use crate::common::watchdog::watchdog;
use evenkeel::object::{Object, Placement};
use evenkeel::{Runtime, block_on};

/// An object of each kind.
fn objects<T>(runtime: &Runtime, value: impl Fn() -> T) -> [Object<T>; 4] {
    let outside = Object::new(value());
    [in_place(runtime, value()), at(runtime, 0, value()), at(runtime, 1, value()), outside]
}

/// The closure may borrow its surroundings, and so may its result.
#[test]
fn with_borrows_its_surroundings() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, || vec![String::from("one")]) {
        let task = runtime.spawn(async move {
            let words = [String::from("two"), String::from("three")];
            let mut lengths = Vec::new();
            let longest = object
                .with(|list| {
                    list.extend(words.iter().cloned());
                    lengths.extend(list.iter().map(String::len));
                    words.iter().max_by_key(|word| word.len())
                })
                .await
                .unwrap();
            assert_eq!(lengths, [3, 3, 5]);
            longest.cloned()
        });
        assert_eq!(join([task]), [Some(String::from("three"))]);
    }
}

#[test]
fn all_ways_in_lead_to_the_same_value() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, || 0_u64) {
        let operations = |object: Object<u64>| async move {
            *object.enter().await.unwrap() += 1;
            object.with(|value| *value += 1).await.unwrap();
            *object.enter_held().await.unwrap() += 1;
            loop {
                let guard = object.try_enter().unwrap().map(|mut guard| *guard += 1);
                if guard.is_some() {
                    break;
                }
                // The object's home was elsewhere.
                object.with(|_| ()).await.unwrap();
            }
            object.read(|value| *value).await.unwrap()
        };
        let task = runtime.spawn(operations(object.clone()));
        assert_eq!(join([task]), [4]);
        assert_eq!(block_on(operations(object.clone())), 8);
        assert_eq!(runtime.block_on(operations(object.clone())), 12);
        object.call_blocking(|value| *value += 1).unwrap();
        let blocking = object.clone();
        let closure = runtime.spawn_blocking(move || blocking.call_blocking(|value| *value));
        assert_eq!(block_on(closure).unwrap(), Ok(13));
    }
}

#[test]
fn an_operation_is_made_at_home_and_the_task_stays_there() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let objects: Vec<_> = (0..3).map(|home| at(&runtime, home, ())).collect();
    let task = runtime.spawn(async move {
        for _ in 0..100 {
            for (home, object) in objects.iter().enumerate() {
                assert_eq!(object.home(), Some(home));
                comes_home(object).await;
                // In the same poll, so no worker has taken it away.
                assert_eq!(worker(), home);
            }
        }
    });
    join([task]);
    assert!(runtime.metrics().sum(|processor| processor.hops) > 0);
}

#[test]
fn try_enter_does_not_wait() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, || ()) {
        drop(object.try_enter().unwrap().expect("it is free"));
        let holding = Holding::of(&runtime, &object);
        assert!(object.try_enter().unwrap().is_none());
        let other = object.clone();
        let task = runtime.spawn(async move { other.try_enter().unwrap().is_none() });
        assert_eq!(join([task]), [true]);
        holding.leave();
        assert!(object.try_enter().unwrap().is_some());
    }
}

#[test]
fn call_blocking_is_not_for_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let object = Object::new(());
    let task = runtime.spawn(async move { object.call_blocking(|()| ()) });
    let error = block_on(task).unwrap_err();
    assert!(error.is_panic(), "{error}");
}

#[test]
fn values_of_no_size() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, || ()) {
        let tasks = (0..10).map(|_| {
            let object = object.clone();
            runtime.spawn(async move {
                for _ in 0..100 {
                    object.with(|()| ()).await.unwrap();
                    drop(object.enter_held().await.unwrap());
                }
            })
        });
        join(tasks.collect::<Vec<_>>());
        assert_eq!(object.call_blocking(|()| ()), Ok(()));
    }
    // Each still has a home.
    runtime.block_on(async {
        let objects: Vec<_> =
            (0..10).map(|_| Object::new(()).placed("nothing", Placement::Home)).collect();
        for home in 0..2 {
            assert_eq!(objects.iter().filter(|object| object.home() == Some(home)).count(), 5);
        }
    });
}

#[test]
fn a_worker_that_is_none() {
    let runtime = runtime(2);
    for number in [2, 3, usize::MAX] {
        let text = message_of(|| drop(at(&runtime, number, ())));
        assert!(
            text.ends_with(&format!(
                "no worker {number} in the runtime of this object: give 0 to 1"
            )),
            "{text}"
        );
    }
    let text = message_of(|| drop(Object::new(()).at(0)));
    assert!(text.contains("no worker 0, as the object was made outside of a runtime"), "{text}");
}

#[test]
fn what_is_said_too_late() {
    let runtime = runtime(1);
    let object = in_place(&runtime, ());
    let text = message_of(|| drop(object.clone().class("other")));
    assert!(text.contains("before it is cloned"), "{text}");
    let text = message_of(|| drop(object.clone().at(0)));
    assert!(text.contains("before it is cloned"), "{text}");
    assert!(object.try_enter().unwrap().is_some());
}

/// In a class in place, a home has no effect on the object.
#[test]
fn a_home_in_a_class_that_is_in_place() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let object =
        runtime.block_on(async { Object::new(0).placed("here", Placement::InPlace).at(1) });
    let before = runtime.metrics().sum(|processor| processor.hops);
    let tasks = (0..10).map(|_| {
        let object = object.clone();
        runtime.spawn(async move {
            for _ in 0..100 {
                object.with(|value| *value += 1).await.unwrap();
            }
        })
    });
    join(tasks.collect::<Vec<_>>());
    assert_eq!(object.call_blocking(|value| *value), Ok(1_000));
    assert_eq!(runtime.metrics().sum(|processor| processor.hops), before);
}

#[test]
fn clones_are_the_same_object() {
    let (object, other) = (Object::new(1), Object::new(1));
    assert!(object.ptr_eq(&object.clone()) && !object.ptr_eq(&other));
    object.clone().call_blocking(|value| *value = 2).unwrap();
    assert_eq!(object.call_blocking(|value| *value), Ok(2));
    assert_eq!(other.call_blocking(|value| *value), Ok(1));
    assert_eq!(format!("{object:?}"), "Object { class: \"unnamed\", home: None, .. }");
}
