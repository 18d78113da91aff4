//! What becomes of panics that are caught, and containment of those that have nobody to go to.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::{mem, thread};

/// Runs `f`, and gives nothing if it panics.
///
/// A payload is a value of the caller's and has a destructor of its own, which may panic too. It is
/// dropped here, under a second catch; what such a destructor panics with is leaked, since dropping
/// that one could panic again, without end.
pub fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
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

/// Calls `f`. If it panics, `end` has `value`, which is borrowed or a pointer, while that panic
/// unwinds: what `end` drops can tell a failure from an end. A second panic, that of `end`, stays
/// here; it would end the process.
#[inline(always)]
pub(crate) fn unwinding<V, R>(
    value: V,
    f: impl FnOnce(&mut V) -> R,
    end: impl FnOnce(&mut V),
) -> R {
    struct Guard<V, E: FnOnce(&mut V)> {
        value: V,
        end: Option<E>,
    }

    impl<V, E: FnOnce(&mut V)> Drop for Guard<V, E> {
        #[cold]
        fn drop(&mut self) {
            if let Some(end) = self.end.take() {
                contain(|| end(&mut self.value));
            }
        }
    }

    let mut guard = Guard { value, end: Some(end) };
    let result = f(&mut guard.value);
    mem::forget(guard);
    result
}

/// Both results.
///
/// # Panics
/// With the first panic, or else with the second. What the other has come to is dropped before.
#[inline]
pub(crate) fn both<A, B>(first: thread::Result<A>, second: thread::Result<B>) -> (A, B) {
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), other) => {
            contain(|| drop(other));
            resume_unwind(panic)
        }
        (Ok(first), Err(panic)) => {
            contain(|| drop(first));
            resume_unwind(panic)
        }
    }
}

/// A value whose destructor, where a panic of something else comes by, may panic too.
pub(crate) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    #[inline(always)]
    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect("it is taken once")
    }
}

impl<T> Drop for Contained<T> {
    #[inline(always)]
    fn drop(&mut self) {
        if mem::needs_drop::<T>()
            && let Some(value) = self.0.take()
        {
            contain(|| drop(value));
        }
    }
}

/// Runs `f`, which does not panic: if it does, frames that others rely on would be gone, so the
/// process ends.
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
