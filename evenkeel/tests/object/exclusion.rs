//! One operation at a time is inside an object, whatever its origin.

use crate::common::objects::{at, in_place, runtime};
use crate::common::watchdog::watchdog;
use evenkeel::object::{Object, enter2};
use evenkeel::{Runtime, block_on, yield_now};
use evenkeel_policy::random::Random;
use std::thread;

/// Detects two operations that are inside together.
#[derive(Default)]
struct Tally {
    inside: bool,
    count: u64,
    again: u64,
}

impl Tally {
    fn add(&mut self) {
        assert!(!std::mem::replace(&mut self.inside, true), "two are inside");
        let count = std::hint::black_box(self.count);
        assert_eq!(count, self.again);
        self.count = count + 1;
        std::hint::black_box(&mut self.count);
        self.again = count + 1;
        self.inside = false;
    }
}

/// Operations of one task or thread.
const OPERATIONS: u64 = if cfg!(debug_assertions) { 3_000 } else { 30_000 };

/// Makes one operation by one of the ways in, on one or two of the objects. Returns its number of
/// increments.
async fn operate(objects: &[Object<Tally>], random: &mut Random) -> u64 {
    let object = &objects[random.below(objects.len() as u64) as usize];
    match random.below(16) {
        0 => {
            let mut held = object.enter_held().await.unwrap();
            held.inside = true;
            yield_now().await;
            held.inside = false;
            held.add();
            1
        }
        1 => {
            let other = &objects[random.below(objects.len() as u64) as usize];
            if other.ptr_eq(object) {
                return 0;
            }
            let (mut one, mut other) = enter2(object, other).await.unwrap();
            one.add();
            other.add();
            2
        }
        2 => {
            let Some(mut guard) = object.try_enter().unwrap() else { return 0 };
            guard.add();
            1
        }
        3..6 => {
            object.enter().await.unwrap().add();
            1
        }
        _ => {
            object.with(Tally::add).await.unwrap();
            1
        }
    }
}

/// Spawns `count` tasks in a runtime, each with its seed.
fn tasks(
    runtime: &Runtime,
    count: u64,
    objects: &[Object<Tally>],
) -> Vec<evenkeel::JoinHandle<u64>> {
    (0..count)
        .map(|task| {
            let objects = objects.to_vec();
            runtime.spawn(async move {
                let mut random = Random::new(task);
                let mut sum = 0;
                for _ in 0..OPERATIONS {
                    sum += operate(&objects, &mut random).await;
                    if random.below(64) == 0 {
                        yield_now().await;
                    }
                }
                sum
            })
        })
        .collect()
}

/// All at once on the same objects: tasks of the objects' runtime and of another, threads that
/// enter as such, and threads that block on futures.
fn all_at_once(runtime: &Runtime, objects: &[Object<Tally>]) {
    among(runtime, 12, objects);
}

/// The same, with `count` tasks of the objects' runtime.
fn among(runtime: &Runtime, count: u64, objects: &[Object<Tally>]) {
    let other = crate::common::objects::runtime(2);
    let tasks: Vec<_> =
        tasks(runtime, count, objects).into_iter().chain(tasks(&other, 4, objects)).collect();
    let callers = (0..2).map(|caller| {
        let objects = objects.to_vec();
        thread::spawn(move || {
            let mut random = Random::new(100 + caller);
            for _ in 0..OPERATIONS {
                let object = &objects[random.below(objects.len() as u64) as usize];
                object.call_blocking(Tally::add).unwrap();
            }
            OPERATIONS
        })
    });
    let blocked = (0..2).map(|caller| {
        let objects = objects.to_vec();
        thread::spawn(move || {
            block_on(async {
                let mut random = Random::new(200 + caller);
                let mut sum = 0;
                for _ in 0..OPERATIONS {
                    sum += operate(&objects, &mut random).await;
                }
                sum
            })
        })
    });
    let threads: Vec<_> = callers.chain(blocked).collect();
    let mut sum = 0;
    for task in tasks {
        sum += block_on(task).expect("the task ends well");
    }
    for thread in threads {
        sum += thread.join().expect("the thread ends well");
    }
    let counted: u64 =
        objects.iter().map(|object| object.call_blocking(|tally| tally.count).unwrap()).sum();
    assert_eq!(counted, sum);
}

#[test]
fn at_homes_on_more_workers_than_cores() {
    let _watchdog = watchdog();
    let runtime = runtime(8);
    let objects: Vec<_> = (0..8).map(|home| at(&runtime, home, Tally::default())).collect();
    all_at_once(&runtime, &objects);
}

#[test]
fn one_object_at_home() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    all_at_once(&runtime, &[at(&runtime, 1, Tally::default())]);
}

#[test]
fn at_homes_on_one_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let objects = [0, 1, 2].map(|_| at(&runtime, 0, Tally::default()));
    all_at_once(&runtime, &objects);
}

#[test]
fn in_place_on_more_workers_than_cores() {
    let _watchdog = watchdog();
    let runtime = runtime(8);
    let objects = [0, 1, 2].map(|_| in_place(&runtime, Tally::default()));
    all_at_once(&runtime, &objects);
}

#[test]
fn in_place_on_one_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    all_at_once(&runtime, &[in_place(&runtime, Tally::default())]);
}

/// Their class tries both ways, so that operations meet its changes: there are enough tasks for
/// journeys to overlap.
#[test]
fn of_an_automatic_class() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let object = || Object::new(Tally::default()).class("automatic");
        let objects: Vec<_> = runtime.block_on(async { (0..4).map(|_| object()).collect() });
        among(&runtime, 12 * workers as u64, &objects);
    }
}

/// Objects at home, in place, outside all runtimes, and of another runtime.
#[test]
fn of_all_kinds() {
    let _watchdog = watchdog();
    let (first, second) = (runtime(4), runtime(2));
    let objects = [
        at(&first, 0, Tally::default()),
        at(&first, 3, Tally::default()),
        at(&second, 1, Tally::default()),
        in_place(&first, Tally::default()),
        Object::new(Tally::default()),
    ];
    all_at_once(&first, &objects);
}
