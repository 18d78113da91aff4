//! Runtimes that end with operations on their way, or before the objects made in them.

use crate::common::objects::{at, comes_home, in_place, join, runtime};
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::object::{Object, report};
use evenkeel::{Runtime, Shutdown, block_on, yield_now};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Tasks that go from object to object, for a number of operations or without end.
fn travellers(
    runtime: &Runtime,
    objects: &[Object<u64>],
    count: u64,
    operations: Option<u64>,
) -> (Vec<evenkeel::JoinHandle<()>>, Arc<AtomicUsize>) {
    let done = Arc::new(AtomicUsize::new(0));
    let tasks = (0..count)
        .map(|seed| {
            let (objects, done) = (objects.to_vec(), done.clone());
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                let mut left = operations;
                while left != Some(0) {
                    left = left.map(|left| left - 1);
                    let object = &objects[random.below(objects.len() as u64) as usize];
                    let operation = |value: &mut u64| {
                        *value += 1;
                        done.fetch_add(1, Ordering::Relaxed);
                    };
                    if random.below(16) > 0 {
                        object.with(operation).await.unwrap();
                    } else {
                        let mut held = object.enter_held().await.unwrap();
                        yield_now().await;
                        operation(&mut held);
                    }
                }
            })
        })
        .collect();
    (tasks, done)
}

fn objects(runtime: &Runtime, workers: usize) -> Vec<Object<u64>> {
    let mut objects: Vec<_> = (0..workers).map(|home| at(runtime, home, 0)).collect();
    objects.push(in_place(runtime, 0));
    objects
}

fn sum(objects: &[Object<u64>]) -> usize {
    let values = objects.iter().map(|object| object.call_blocking(|value| *value).unwrap());
    values.sum::<u64>() as usize
}

#[test]
fn the_last_handle_takes_the_value_out_and_the_object_is_gone() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let value = Arc::new(());
        let (home, place) = (at(&runtime, 0, value.clone()), in_place(&runtime, value.clone()));
        let homes = || -> usize {
            let classes = runtime.block_on(async { report().classes });
            classes.iter().flat_map(|class| &class.homes).sum()
        };
        assert_eq!((Arc::strong_count(&value), homes()), (3, 1));
        let clone = home.clone();
        let home = home.try_into_inner().unwrap_err();
        assert!(home.ptr_eq(&clone));
        let guard =
            runtime.spawn(async move { clone.with(|value| Arc::strong_count(value)).await });
        assert_eq!(block_on(guard).unwrap(), Ok(3));
        let taken = [home, place].map(|object| object.try_into_inner().unwrap());
        assert_eq!((Arc::strong_count(&value), homes()), (3, 0));
        drop(taken);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

#[test]
fn the_value_of_a_poisoned_object_or_of_one_behind_a_forgotten_guard_can_be_taken() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let values = runtime.block_on(async {
        let (poisoned, locked) = (Object::from(1), Object::default());
        let clone = poisoned.clone();
        let panics = evenkeel::spawn(async move { clone.with(|_| panic!("halfway")).await });
        panics.await.map(drop).unwrap_err();
        assert!(poisoned.is_poisoned());
        std::mem::forget(locked.enter().await.unwrap());
        [poisoned, locked].map(|object| object.try_into_inner().unwrap())
    });
    assert_eq!(values, [1, 0]);
}

#[test]
fn drain_waits_for_those_on_their_way() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        for count in [1, 10, 300] {
            let runtime = runtime(workers);
            let objects = objects(&runtime, workers);
            let (tasks, done) = travellers(&runtime, &objects, count, Some(50));
            drop(tasks);
            assert!(runtime.shutdown(Shutdown::Drain).is_clean());
            assert_eq!(done.load(Ordering::Relaxed) as u64, count * 50);
            assert_eq!(sum(&objects) as u64, count * 50);
        }
    }
}

#[test]
fn abort_cancels_those_on_their_way() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        for count in [1, 10, 300] {
            let runtime = runtime(workers);
            let objects = objects(&runtime, workers);
            let (tasks, done) = travellers(&runtime, &objects, count, None);
            until(|| done.load(Ordering::Relaxed) >= 1_000);
            let report = runtime.shutdown(Shutdown::Abort);
            assert!(report.stuck.is_empty());
            for task in tasks {
                assert!(block_on(task).unwrap_err().is_cancelled());
            }
            assert_eq!(sum(&objects), done.load(Ordering::Relaxed));
            assert!(objects.iter().all(|object| !object.is_poisoned()));
        }
    }
}

#[test]
fn a_deadline_cancels_them_too() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let objects = objects(&runtime, 2);
    let (tasks, done) = travellers(&runtime, &objects, 20, None);
    until(|| done.load(Ordering::Relaxed) >= 1_000);
    // Whether they reach their next turn in the grace period depends on the machine.
    let _report = runtime.shutdown(Shutdown::Deadline(Duration::ZERO));
    for task in tasks {
        let error = block_on(task).unwrap_err();
        assert!(error.is_cancelled() || error.is_stuck());
    }
    assert_eq!(sum(&objects), done.load(Ordering::Relaxed));
}

/// Without its home the object is entered in place.
#[test]
fn an_object_outlives_its_runtime() {
    let _watchdog = watchdog();
    let first = runtime(3);
    let objects = objects(&first, 3);
    let (tasks, _) = travellers(&first, &objects, 10, Some(100));
    join(tasks);
    drop(first);
    assert_eq!(sum(&objects), 1_000);
    assert!(objects.iter().all(|object| object.home().is_none()));
    block_on(async {
        for object in &objects {
            *object.enter_held().await.unwrap() += 1;
        }
    });
    let second = runtime(2);
    let (tasks, _) = travellers(&second, &objects, 10, Some(100));
    join(tasks);
    assert_eq!(sum(&objects), 2_004);
    second.block_on(async {
        for object in &objects {
            object.with(|value| *value += 1).await.unwrap();
        }
    });
    assert_eq!(sum(&objects), 2_008);
}

/// A worker of a new runtime is not the home of an old runtime's objects, even if its processor has
/// the address of the old home's.
#[test]
fn a_new_runtime_is_not_the_old_one() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let old = runtime(2);
        let objects = objects(&old, 2);
        drop(old);
        let new = runtime(2);
        let (tasks, done) = travellers(&new, &objects, 6, Some(2_000));
        let threads = [0, 1].map(|_| {
            let (objects, done) = (objects.clone(), done.clone());
            thread::spawn(move || {
                for _ in 0..2_000 {
                    for object in &objects {
                        let operation = |value: &mut u64| *value += 1;
                        object.call_blocking(operation).unwrap();
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        });
        join(tasks);
        for thread in threads {
            thread.join().expect("the thread ends well");
        }
        assert_eq!(sum(&objects), done.load(Ordering::Relaxed));
        assert_eq!(new.metrics().sum(|processor| processor.hops), 0, "they have no home");
    }
}

/// The last handle goes with the last task, inside the ending runtime.
#[test]
fn objects_that_end_with_their_runtime() {
    struct Last(Arc<AtomicUsize>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    let _watchdog = watchdog();
    for mode in [Shutdown::Drain, Shutdown::Abort] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let runtime = runtime(2);
        let drains = matches!(mode, Shutdown::Drain);
        for home in 0..2 {
            let object = at(&runtime, home, Last(dropped.clone()));
            drop(runtime.spawn(async move {
                comes_home(&object).await;
                let held = object.enter_held().await.unwrap();
                if !drains {
                    std::future::pending::<()>().await;
                }
                drop(held);
            }));
        }
        runtime.shutdown(mode);
        assert_eq!(dropped.load(Ordering::Acquire), 2);
    }
}
