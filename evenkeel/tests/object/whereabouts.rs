//! Tasks that go by what their worker knows of an object's whereabouts, which is wrong: they come
//! in all the same, and after some time by the short way.
//!
//! A note that is wrong costs a journey each time that it is believed. It is doubted once in 127
//! times, so of many operations few make that journey.

use crate::common::objects::{at, comes_home, join, runtime, worker};
use crate::common::watchdog::watchdog;
use evenkeel::Runtime;
use evenkeel::object::Object;
use evenkeel_policy::object::sharing::READS;

/// Some times as many operations as it takes to doubt a note.
const OPERATIONS: u64 = 1_000;

/// Journeys in vain of that many operations at most: those before the note is doubted, and such as
/// the system brings about that takes workers off their cores.
const FEW: u64 = OPERATIONS / 4;

/// Rounds: a worker that the system takes off its core for a while may have all of them forget what
/// they know, before they doubt it.
const ROUNDS: usize = 8;

/// Journeys of one operation at most: after those it takes the object from its home.
const MOST: u64 = 4;

/// Has a task make so many operations, each of them begun at worker `from`, and gives the journeys
/// in vain. An operation says how many it needs.
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

/// One that all may make where they are.
async fn read(object: Object<u64>) -> u64 {
    object.read(|_| ()).await.unwrap();
    0
}

/// One at the object's home. If that is found to be stuck, it counts for nothing.
async fn add(object: Object<u64>) -> u64 {
    let operation = |value: &mut u64| {
        *value += 1;
        worker()
    };
    let place = object.with(operation).await.unwrap();
    if object.home() == Some(place) { 1 } else { MOST }
}

/// An object at worker 1, of which worker 0 knows that.
fn known(runtime: &Runtime) -> Object<u64> {
    let object = at(runtime, 1, 0);
    in_vain(runtime, 0, &object, 3, add);
    object
}

/// Where its value lies.
fn address_of(object: &Object<u64>) -> usize {
    object.call_blocking(|value| std::ptr::from_mut(value).addr()).unwrap()
}

/// An object that all read by now, each where it is; but those at worker 0 go where it was to be
/// entered before.
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
        // A worker that the system has taken off its core may have kept it from being read by all,
        // or may not know it any more.
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

/// An object at worker 2 that lies where another did, of which worker 0 knows that it was at
/// worker 1.
fn in_place_of_another(runtime: &Runtime) -> Object<u64> {
    loop {
        let former = known(runtime);
        let address = address_of(&former);
        drop(former);
        // Something else may lie there by now.
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
