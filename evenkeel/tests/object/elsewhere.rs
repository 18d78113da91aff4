//! Objects that move to another runtime, or to none.

use crate::common::objects::{join, runtime};
use crate::common::watchdog::watchdog;
use evenkeel::object::{Object, Placement};
use evenkeel::{Runtime, block_on};
use futures::channel::oneshot;
use std::sync::mpsc;

/// Moves the object to a class of the caller's runtime, or to a class outside all runtimes.
fn join_class(object: Object<u64>) -> Object<u64> {
    object.placed("there", Placement::Home)
}

/// A worker of the object's former runtime stays inside the object until it is told to leave; it
/// has then entered `times` times.
fn no_operation_gets_in_beside(object: &Object<u64>, first: &Runtime, times: u64) {
    let (entered, inside) = oneshot::channel();
    let (leave, told) = mpsc::channel::<()>();
    let task = first.spawn({
        let object = object.clone();
        async move {
            let mut value = object.enter().await.unwrap();
            entered.send(()).unwrap();
            told.recv().unwrap();
            *value += 1;
        }
    });
    block_on(inside).unwrap();
    assert!(object.try_enter().unwrap().is_none(), "a task is inside");
    leave.send(()).unwrap();
    join([task]);
    assert_eq!(object.call_blocking(|value| *value), Ok(times));
}

#[test]
fn a_chosen_home_is_none_in_no_runtime() {
    let _watchdog = watchdog();
    for number in [0, 1] {
        let first = runtime(2);
        let object = first.block_on(async { Object::new(0).at(number) });
        assert_eq!(object.home(), Some(number));
        let object = join_class(object);
        assert_eq!(object.home(), None);
        (1..=4).for_each(|times| no_operation_gets_in_beside(&object, &first, times));
    }
}

#[test]
fn a_chosen_home_is_another_one_in_another_runtime() {
    let _watchdog = watchdog();
    let (first, second) = (runtime(2), runtime(1));
    for number in [0, 1] {
        let object = first.block_on(async { Object::new(0).at(number) });
        let object = second.block_on(async { join_class(object) });
        assert_eq!(object.home(), Some(0), "of the one worker there");
        (1..=4).for_each(|times| no_operation_gets_in_beside(&object, &first, times));
    }
}

#[test]
fn a_chosen_home_stays_in_its_runtime() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for number in [0, 1] {
        let home = runtime.block_on(async { join_class(Object::new(0).at(number)).home() });
        assert_eq!(home, Some(number));
    }
}
