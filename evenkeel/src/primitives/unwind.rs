//! Containment of panics that have nobody to go to.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`, and gives nothing if it panics.
///
/// A payload is a value of the caller's and has a destructor of its own, which may panic too. It is dropped
/// here, under a second catch; what such a destructor panics with is leaked, since dropping that one could
/// panic again, without end.
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => Some(result),
        Err(payload) => {
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                mem::forget(second);
            }
            None
        }
    }
}

/// Runs `f`, which does not panic: if it does, frames that others rely on would be gone, so the process ends.
#[inline(always)]
pub(crate) fn never<R>(f: impl FnOnce() -> R) -> R {
    struct Abort;
    impl Drop for Abort {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let abort = Abort;
    let result = f();
    mem::forget(abort);
    result
}
