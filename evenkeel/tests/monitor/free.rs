//! Monitors that are free, as a test that polls by hand takes them.

use crate::common::polling::Hand;
use evenkeel::sync::monitor::{Condition, Held, Monitor};

pub(crate) fn hold<T, C>(monitor: &Monitor<T, C>) -> Held<&Monitor<T, C>> {
    monitor.try_enter().expect("it is free")
}

pub(crate) fn is_free<T, C>(monitor: &Monitor<T, C>) -> bool {
    monitor.try_enter().is_some()
}

/// A task that waits for the monitor's condition.
pub(crate) fn waiter(
    monitor: &Monitor<u32, Condition<u32>>,
    datum: u32,
) -> Hand<impl Future<Output = Held<&Monitor<u32, Condition<u32>>>>> {
    Hand::waiting(monitor.conditions().wait_with(hold(monitor), datum))
}
