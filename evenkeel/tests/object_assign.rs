//! Objects of a class that chooses by measurement have homes from the beginning, and are entered
//! there when that is faster.

use evenkeel::object::{self, Mode, Object, Placement, enter_all, enter2};
use evenkeel::{Builder, spawn};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A class that has not tried a way by then never will.
const LONG: Duration = Duration::from_secs(60);

/// Has `tasks` tasks use `objects` until `done` returns true, and returns the number of operations.
async fn use_until(objects: &Arc<[Object<u64>]>, tasks: usize, done: impl Fn() -> bool) -> u64 {
    let stop = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..tasks)
        .map(|first| {
            let (objects, stop) = (objects.clone(), stop.clone());
            spawn(async move {
                let mut operations = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let object = &objects[(first + operations as usize) % objects.len()];
                    object.with(|value| *value += 1).await.unwrap();
                    operations += 1;
                }
                operations
            })
        })
        .collect();
    let start = Instant::now();
    while !done() && start.elapsed() < LONG {
        evenkeel::time::sleep(Duration::from_millis(1)).await;
    }
    stop.store(true, Ordering::Relaxed);
    let mut operations = 0;
    for task in tasks {
        operations += task.await.unwrap();
    }
    operations
}

fn objects(placement: Placement) -> Arc<[Object<u64>]> {
    (0..4).map(|_| Object::new(0).placed("numbers", placement)).collect()
}

/// The class tries each way while few or many tasks enter, and no operation is lost meanwhile.
#[test]
fn a_class_tries_each_way_while_it_is_used_and_its_objects_keep_their_homes() {
    for tasks in [2, 64] {
        let runtime = Builder::new().workers(2).build().unwrap();
        runtime.block_on(async {
            let objects = objects(Placement::Automatic);
            let homes_of =
                |objects: &[Object<u64>]| objects.iter().map(Object::home).collect::<Vec<_>>();
            let dealt = homes_of(&objects);
            assert!(
                dealt == [Some(0), Some(1), Some(0), Some(1)]
                    || dealt == [Some(1), Some(0), Some(1), Some(0)],
                "the one with the fewest: {dealt:?}"
            );
            let were_tried = || {
                let class = &object::report().classes[0];
                // One home is no other mode while all objects have the same.
                let is_other = |mode: &Mode| *mode != Mode::AtOneHome || !class.homes.contains(&0);
                Mode::ALL.into_iter().filter(is_other).all(|mode| class.verdict.rate(mode) > 0)
            };
            let operations = use_until(&objects, tasks, were_tried).await;
            assert!(were_tried(), "{}", object::report());
            let mut homes = [0; 2];
            objects.iter().filter_map(Object::home).for_each(|home| homes[home] += 1);
            assert_eq!(homes.iter().sum::<usize>(), objects.len(), "each has one");
            assert_eq!(object::report().classes[0].homes, homes);
            let mut sum = 0;
            for object in objects.iter() {
                sum += object.with(|value| *value).await.unwrap();
            }
            assert_eq!(sum, operations, "each operation has been made once");
            drop(objects);
            assert_eq!(object::report().classes[0].homes, [0, 0], "what is gone is nowhere");
        });
    }
}

#[test]
fn an_object_that_has_all_the_time_gets_a_home_although_few_tasks_use_it() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let objects: Arc<[Object<u64>]> = Arc::new([Object::new(0).class("number")]);
        let had_home = Cell::new(false);
        let operations = use_until(&objects, 2, || {
            had_home.set(had_home.get() || objects[0].home().is_some());
            had_home.get()
        })
        .await;
        assert!(had_home.get(), "{}", object::report());
        assert_eq!(objects[0].with(|value| *value).await, Ok(operations));
    });
}

#[test]
fn objects_of_a_class_that_stays_in_place_have_no_homes() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let objects = objects(Placement::InPlace);
        let soon = Instant::now() + Duration::from_millis(50);
        use_until(&objects, 64, || Instant::now() > soon).await;
        assert!(objects.iter().all(|object| object.home().is_none()));
        assert!(object::report().to_string().contains("in place: told to be"));
    });
}

#[test]
fn an_object_that_is_told_its_home_keeps_it_whatever_its_class_does() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let objects: Arc<[Object<u64>]> =
            (0..4).map(|n| Object::new(0).class("numbers").at(n % 2)).collect();
        let soon = Instant::now() + Duration::from_millis(100);
        use_until(&objects, 64, || Instant::now() > soon).await;
        use_until(&objects, 2, || Instant::now() > soon + Duration::from_millis(100)).await;
        let homes: Vec<_> = objects.iter().map(Object::home).collect();
        assert_eq!(homes, [Some(0), Some(1), Some(0), Some(1)]);
    });
}

/// The second of two objects, several at once, and entries that do not wait count like all others.
#[test]
fn every_entry_of_a_task_is_counted() {
    const ENTRIES: u64 = 100_000;
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let of = |name: &str| Object::new(0_u64).placed(name, Placement::InPlace);
        let [one, other, tried] = ["one", "other", "tried"].map(of);
        let many: Vec<_> = (0..4).map(|_| of("many")).collect();
        let task = spawn(async move {
            for _ in 0..ENTRIES {
                let (mut one, mut other) = enter2(&one, &other).await.unwrap();
                *one += 1;
                *other += 1;
            }
            for _ in 0..ENTRIES {
                *tried.try_enter().unwrap().expect("no other task is inside") += 1;
            }
            for _ in 0..ENTRIES / 4 {
                let all: Vec<_> = many.iter().collect();
                enter_all(&all).await.unwrap().iter_mut().for_each(|value| **value += 1);
            }
        });
        task.await.unwrap();
        let classes = object::report().classes;
        assert_eq!(classes.len(), 5);
        for class in classes.iter().filter(|class| &*class.name != "unnamed") {
            let (counted, name) = (class.operations, &class.name);
            // One in 64 stands for 64.
            assert!((ENTRIES / 2..ENTRIES * 2).contains(&counted), "{name}: {counted}");
        }
    });
}
