//! Homes with stuck workers: operations proceed elsewhere, and go home when the worker is back.

use common::objects::{at, comes_home, runtime, worker};
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::object::Object;
use evenkeel::{JoinHandle, Runtime, block_on};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod common {
    pub(crate) mod objects;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// Keeps worker `number` of a runtime inside one poll until it is released.
struct Stuck {
    open: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Stuck {
    fn of(runtime: &Runtime, number: usize) -> Self {
        let (begun, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let anchor = at(runtime, number, ());
        let task = runtime.spawn({
            let (begun, open) = (begun.clone(), open.clone());
            async move {
                comes_home(&anchor).await;
                begun.store(true, Ordering::Release);
                until(|| open.load(Ordering::Acquire));
            }
        });
        until(|| begun.load(Ordering::Acquire));
        Self { open, task }
    }

    fn release(self) {
        self.open.store(true, Ordering::Release);
        block_on(self.task).expect("the task ends well");
    }
}

/// Spawns a task of `count` operations, each of which returns its worker.
fn operations(runtime: &Runtime, object: &Object<u64>, count: u64) -> JoinHandle<Vec<usize>> {
    let object = object.clone();
    runtime.spawn(async move {
        let mut places = Vec::new();
        for _ in 0..count {
            let place = object.with(|value| {
                *value += 1;
                worker()
            });
            places.push(place.await.unwrap());
        }
        places
    })
}

#[test]
fn operations_proceed_elsewhere_and_come_home() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let object = at(&runtime, 0, 0);
    for round in 0..5 {
        let stuck = Stuck::of(&runtime, 0);
        let tasks = [0; 8].map(|_| operations(&runtime, &object, 50));
        for task in tasks {
            let places = block_on(task).expect("the task ends well");
            assert!(places.iter().all(|&place| place == 1), "worker 0 is elsewhere");
        }
        assert_eq!(object.call_blocking(|value| *value), Ok((round + 1) * 400));
        assert_eq!(object.home(), Some(0), "it has kept its home");
        stuck.release();
        let object = object.clone();
        let task = runtime.spawn(async move { comes_home(&object).await });
        block_on(task).expect("the task ends well");
    }
}

/// The worker returns while operations go on elsewhere.
#[test]
fn it_comes_back_in_the_midst_of_operations() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let object = at(&runtime, 0, 0);
    for round in 1..=3 {
        let stuck = Stuck::of(&runtime, 0);
        let tasks = [0; 8].map(|_| operations(&runtime, &object, 3_000));
        until(|| object.call_blocking(|value| *value >= (round - 1) * 24_000 + 1_000).unwrap());
        stuck.release();
        for task in tasks {
            block_on(task).expect("the task ends well");
        }
        assert_eq!(object.call_blocking(|value| *value), Ok(round * 24_000));
    }
    let task = runtime.spawn(async move { comes_home(&object).await });
    block_on(task).expect("the task ends well");
}

/// The home and all other workers but one are stuck; that one's objects go on too.
#[test]
fn all_but_one_are_stuck() {
    let _watchdog = watchdog();
    let runtime = runtime(4);
    let objects: Vec<_> = (0..4).map(|home| at(&runtime, home, 0)).collect();
    let stuck: Vec<_> = (0..3).map(|number| Stuck::of(&runtime, number)).collect();
    let tasks: Vec<_> = objects
        .iter()
        .flat_map(|object| [0; 4].map(|_| operations(&runtime, object, 20)))
        .collect();
    for task in tasks {
        let places = block_on(task).expect("the task ends well");
        assert!(places.iter().all(|&place| place == 3));
    }
    stuck.into_iter().for_each(Stuck::release);
    for object in objects {
        assert_eq!(object.call_blocking(|value| *value), Ok(80));
    }
}

/// The only worker is stuck: threads still enter.
#[test]
fn threads_do_not_need_the_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let object = at(&runtime, 0, 0);
    let stuck = Stuck::of(&runtime, 0);
    let task = operations(&runtime, &object, 100);
    for _ in 0..100 {
        object.call_blocking(|value| *value += 1).unwrap();
        runtime.block_on(object.with(|value| *value += 1)).unwrap();
    }
    assert_eq!(object.call_blocking(|value| *value), Ok(200));
    stuck.release();
    block_on(task).expect("the task ends well");
    assert_eq!(object.call_blocking(|value| *value), Ok(300));
}

/// Tasks of another runtime do not travel to the home.
#[test]
fn another_runtime_does_not_need_the_worker() {
    let _watchdog = watchdog();
    let (first, second) = (runtime(1), runtime(2));
    let object = at(&first, 0, 0);
    let stuck = Stuck::of(&first, 0);
    let tasks = [0; 4].map(|_| {
        let object = object.clone();
        second.spawn(async move {
            for _ in 0..100 {
                object.with(|value| *value += 1).await.unwrap();
            }
        })
    });
    for task in tasks {
        block_on(task).expect("the task ends well");
    }
    assert_eq!(object.call_blocking(|value| *value), Ok(400));
    stuck.release();
}

/// A worker stuck inside the object itself keeps all others out, by the meaning of exclusion.
#[test]
fn stuck_inside() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let object = at(&runtime, 0, 0);
    let (begun, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let long = runtime.spawn({
        let (object, begun, open) = (object.clone(), begun.clone(), open.clone());
        async move {
            let operation = |value: &mut u64| {
                begun.store(true, Ordering::Release);
                until(|| open.load(Ordering::Acquire));
                assert_eq!(*value, 0, "no other task has been inside");
            };
            object.with(operation).await.unwrap();
        }
    });
    until(|| begun.load(Ordering::Acquire));
    let tasks = [0; 4].map(|_| operations(&runtime, &object, 10));
    assert!(object.try_enter().unwrap().is_none());
    for _ in 0..100 {
        assert!(futures::FutureExt::now_or_never(object.enter()).is_none());
    }
    open.store(true, Ordering::Release);
    block_on(long).expect("the task ends well");
    for task in tasks {
        block_on(task).expect("the task ends well");
    }
    assert_eq!(object.call_blocking(|value| *value), Ok(40));
}
