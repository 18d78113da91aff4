//! Handling of caught panics, and containment of panics that no caller or joiner receives.

use std::any::Any;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Waker;
use std::{mem, thread};

/// Runs `f`, and returns `None` if it panics.
///
/// A payload is a caller's value, and its destructor may panic too: that is contained as well.
pub fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => Some(result),
        Err(payload) => {
            discard(payload);
            None
        }
    }
}

/// Drops the payload of a panic. What that panics with in its turn is leaked: dropping it could
/// panic again, without end. Apart from [`contain`], so that it is compiled once.
#[cold]
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(second);
    }
}

/// Calls each of the wakers, without a lock. Foreign wakers are a caller's code: a panic in one
/// keeps no other waiter asleep.
pub fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        contain(|| waker.wake());
    }
}

/// Calls `f`. If it panics, calls `end` with `value`, a borrow or a pointer, while that panic
/// unwinds, so that destructors which `end` runs see `thread::panicking`. A second panic, in `end`,
/// is contained here: it would abort the process.
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

/// Returns both results.
///
/// # Panics
/// Panics with the first panic, or else with the second. The other result is dropped before.
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

/// A value with a destructor that may panic even while another panic unwinds.
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

impl<T> Deref for Contained<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is there until it is taken")
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

/// Runs `f`, which must not panic. If it does, the process aborts: unwinding would pop frames that
/// other threads rely on.
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
