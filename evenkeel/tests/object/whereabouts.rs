//! Tasks whose worker has a wrong note of an object's whereabouts: they still enter, and after some
//! time by the short way.
//!
//! A wrong note costs a journey each time that a task follows it. The worker doubts it once in 127
//! times, so few of many operations make that journey.

use crate::common::objects::{at, comes_home, join, runtime, worker};
use crate::common::watchdog::watchdog;
use evenkeel::Runtime;
use evenkeel::object::Object;
use evenkeel_policy::object::sharing::READS;

/// Several times the number of operations after which a note is doubted.
const OPERATIONS: u64 = 1_000;

/// The most futile journeys of that many operations: those before the note is doubted, and those
/// that the system causes when it takes workers off their cores.
const FEW: u64 = OPERATIONS / 4;

/// Rounds: while the system keeps a worker off its core, all workers may forget their notes before
/// they doubt them.
const ROUNDS: usize = 8;

/// The most journeys of one operation: after those it takes the object from its home.
const MOST: u64 = 4;

/// Has a task make `operations` operations, each of them begun at worker `from`, and returns its
/// futile journeys. An operation reports how many journeys it needs.
fn in_vain<F>(
    runtime: &Runtime,
    from: usize,
    object: &Object<u64>,
    count: u64,
    operate: impl Fn(Object<u64>) -> F + Send + 'static,
) -> u64
where
    F: Future<Output = u64> + Send,
{
    let (anchor, object, handle) = (at(runtime, from, ()), object.clone(), runtime.handle());
    let task = runtime.spawn(async move {
        let hops = || handle.metrics().sum(|processor| processor.hops);
        let mut in_vain = 0;
        for _ in 0..count {
            comes_home(&anchor).await;
            let before = hops();
            let needed = operate(object.clone()).await;
            let made = hops() - before;
            assert!(made <= MOST, "{made}");
            in_vain += made.saturating_sub(needed);
        }
        in_vain
    });
    join([task])[0]
}

/// An operation that all may make in place.
async fn read(object: Object<u64>) -> u64 {
    object.read(|_| ()).await.unwrap();
    0
}

/// An operation at the object's home. If the home turns out to be stuck, it does not count.
async fn add(object: Object<u64>) -> u64 {
    let operation = |value: &mut u64| {
        *value += 1;
        worker()
    };
    let place = object.with(operation).await.unwrap();
    if object.home() == Some(place) { 1 } else { MOST }
}

/// An object at worker 1, with a correct note at worker 0.
fn known(runtime: &Runtime) -> Object<u64> {
    let object = at(runtime, 1, 0);
    in_vain(runtime, 0, &object, 3, add);
    object
}

/// The address of its value.
fn address_of(object: &Object<u64>) -> usize {
    object.call_blocking(|value| std::ptr::from_mut(value).addr()).unwrap()
}

/// An object that all workers read in place, but to which tasks at worker 0 still travel, by an old
/// note.
fn read_by_all(runtime: &Runtime) -> Object<u64> {
    loop {
        let object = known(runtime);
        let task = runtime.spawn({
            let object = object.clone();
            async move {
                comes_home(&object).await;
                for _ in 0..2 * READS {
                    object.read(|_| ()).await.unwrap();
                }
            }
        });
        join([task]);
        // A worker that the system took off its core may have prevented the sharing, or have lost
        // its note.
        let is_read_by_all = in_vain(runtime, 2, &object, 1, read) == 0;
        if is_read_by_all && in_vain(runtime, 0, &object, 1, read) == 1 {
            return object;
        }
    }
}

#[test]
fn of_objects_that_are_read_by_all() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    for _ in 0..ROUNDS {
        let object = read_by_all(&runtime);
        let in_vain = in_vain(&runtime, 0, &object, OPERATIONS, read);
        assert!(in_vain <= FEW, "{in_vain}");
    }
}

/// An object at worker 2, at the address of an earlier one that worker 0 has noted at worker 1.
fn in_place_of_another(runtime: &Runtime) -> Object<u64> {
    loop {
        let former = known(runtime);
        let address = address_of(&former);
        drop(former);
        // Another allocation may have taken the address.
        let objects: Vec<_> = (0..64).map(|_| at(runtime, 2, 0_u64)).collect();
        let there = objects.into_iter().find(|object| address_of(object) == address);
        if let Some(object) = there.filter(|object| in_vain(runtime, 0, object, 1, add) == 1) {
            return object;
        }
    }
}

#[test]
fn of_objects_that_lie_where_others_did() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    for _ in 0..ROUNDS {
        let object = in_place_of_another(&runtime);
        let in_vain = in_vain(&runtime, 0, &object, OPERATIONS, add);
        assert!(in_vain <= FEW, "{in_vain}");
        assert_eq!(object.call_blocking(|value| *value), Ok(OPERATIONS + 1));
    }
}
