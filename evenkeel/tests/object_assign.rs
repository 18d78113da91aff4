//! Objects whose class decides by measurement have no home before it is worth one, and none afterwards.

use evenkeel::object::{self, Object, Placement};
use evenkeel::{Builder, spawn};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// After so long an object that has not got a home, or lost it, never will.
const LONG: Duration = Duration::from_secs(60);

/// Has so many tasks use `objects` until `done` says so, and gives the number of operations.
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

#[test]
fn objects_get_homes_when_many_tasks_use_them_and_lose_them_when_few_do() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let objects = objects(Placement::Automatic);
        assert!(objects.iter().all(|object| object.home().is_none()), "nobody has used them");
        // Whatever the trials come to, they begin with homes.
        let have_homes = || objects.iter().all(|object| object.home().is_some());
        let had_homes = Cell::new(false);
        let mut operations = use_until(&objects, 64, || {
            had_homes.set(had_homes.get() || have_homes());
            had_homes.get()
        })
        .await;
        assert!(had_homes.get(), "{}", object::report());
        let homes = objects.iter().filter(|object| object.home().is_some()).count();
        let bytes = object::report().classes[0].bytes.iter().sum::<usize>();
        assert_eq!(bytes, 8 * homes, "each is charged to its home once");
        // Two tasks are too few for journeys to overlap. A home that outlasts the time in which all are given up goes with the next change.
        let have_none = || objects.iter().all(|object| object.home().is_none());
        let start = Instant::now();
        while !have_none() && start.elapsed() < LONG {
            let soon = Instant::now() + Duration::from_millis(200);
            operations += use_until(&objects, 2, || have_none() || Instant::now() > soon).await;
            if !have_none() {
                operations += use_until(&objects, 64, have_homes).await;
            }
        }
        assert!(have_none(), "{}", object::report());
        assert_eq!(object::report().classes[0].bytes, [0, 0]);
        let mut sum = 0;
        for object in objects.iter() {
            sum += object.with(|value| *value).await.unwrap();
        }
        assert_eq!(sum, operations, "each operation has been made once");
    });
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
