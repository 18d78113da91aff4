//! A worker kept busy by its objects gives some of them to a less busy one.

use evenkeel::object::{self, Object, Placement};
use evenkeel::{Builder, spawn, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A worker that has given nothing away by then never will.
const LONG: Duration = Duration::from_secs(60);

/// Objects with homes at two workers; those of worker 0 come first.
fn objects(count: usize) -> (Vec<Object<u64>>, Vec<Object<u64>>) {
    let all: Vec<_> =
        (0..count).map(|_| Object::new(0).placed("numbers", Placement::Home)).collect();
    all.into_iter().partition(|object| object.home() == Some(0))
}

/// Has tasks use `objects` until `done` returns true, and returns the number of operations.
async fn use_until(objects: &Arc<Vec<Object<u64>>>, done: impl Fn() -> bool) -> u64 {
    let stop = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..32)
        .map(|first| {
            let (objects, stop) = (objects.clone(), stop.clone());
            spawn(async move {
                let mut operations = 0;
                while !stop.load(Ordering::Relaxed) {
                    let object = &objects[(first + operations as usize) % objects.len()];
                    object
                        .with(|value| {
                            // About as long as a lookup in a directory.
                            (0..100).for_each(|n| *value = std::hint::black_box(*value ^ n ^ n));
                            *value += 1;
                        })
                        .await
                        .unwrap();
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
    // Read before the work, and with it the condition, ends.
    let is_done = start.elapsed() < LONG;
    stop.store(true, Ordering::Relaxed);
    let mut operations = 0;
    for task in tasks {
        operations += task.await.unwrap();
    }
    assert!(is_done, "nothing has been given away in {LONG:?}");
    operations
}

#[test]
fn half_of_what_one_worker_has_goes_to_the_other() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let (hot, cold) = objects(64);
        assert_eq!((hot.len(), cold.len()), (32, 32), "they are dealt out evenly");
        let hot = Arc::new(hot);
        let moved = || hot.iter().filter(|object| object.home() == Some(1)).count() >= 8;
        let operations = use_until(&hot, moved).await;
        let mut sum = 0;
        for object in hot.iter() {
            sum += object.with(|value| *value).await.unwrap();
        }
        assert_eq!(sum, operations, "each operation has been made once, wherever the object was");
        let report = object::report();
        let given: u64 = report.workers.iter().map(|worker| worker.given_away).sum();
        assert!(given >= 8, "{report}");
        let homes = &report.classes[0].homes;
        assert_eq!(homes.iter().sum::<usize>(), 64, "what goes is counted at its new home");
    });
}

#[test]
fn an_object_whose_home_the_caller_has_chosen_stays() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let pinned: Vec<_> =
            (0..8).map(|_| Object::new(0).placed("numbers", Placement::Home).at(0)).collect();
        let (hot, _cold) = objects(64);
        let pinned_too: Vec<_> = hot.iter().chain(&pinned).cloned().collect();
        let all = Arc::new(pinned_too);
        let moved = || hot.iter().any(|object| object.home() == Some(1));
        use_until(&all, moved).await;
        yield_now().await;
        assert!(pinned.iter().all(|object| object.home() == Some(0)));
    });
}

#[test]
fn journeys_are_counted_where_tasks_depart() {
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.block_on(async {
        let homes = [0, 1].map(|home| Object::new(0_u64).placed("two", Placement::Home).at(home));
        let tasks: Vec<_> = (0..16)
            .map(|first| {
                let homes = homes.clone();
                spawn(async move {
                    for n in 0..2_000 {
                        homes[(first + n) % 2].with(|count| *count += 1).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let after = object::report();
        let hops: u64 = after.workers.iter().map(|worker| worker.hops).sum();
        assert!(hops > 0, "{after}");
        assert_eq!(after.workers.iter().map(|worker| worker.given_away).sum::<u64>(), 0);
    });
}
