//! What panics say, and values that panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::task::Wake;

/// Returns the text of a panic's payload, or none if it is no text.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Returns the text with which `f` panics.
#[allow(dead_code, reason = "some tests have the payload")]
pub(crate) fn message_of<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    message(&*panic).to_owned()
}

/// Panics with its text when it is dropped.
#[allow(dead_code, reason = "some tests have no destructor that panics")]
pub(crate) struct Bomb(pub(crate) &'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(self.0);
    }
}

/// A waker that panics when it wakes.
#[allow(dead_code, reason = "some tests have no waker that panics")]
pub(crate) struct Alarm;

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        panic_any("the waker panics");
    }
}
