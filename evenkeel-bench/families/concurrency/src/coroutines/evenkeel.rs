//! This project's coroutines: those of known type are pinned on the stack, the others are boxed.

use std::convert::Infallible;
use std::hint;
use std::pin::{Pin, pin};
use std::time::Duration;

use evenkeel::coroutine::{Coroutine, LocalBoxCoroutine, Resume, Step, Suspender};

use super::{Made, creations, resumes};
use suite::kit::fault::Fault;

/// Resumes a coroutine on the stack, beside its body. The compiler sees all of it and leaves an
/// addition.
pub(crate) fn switch(n: u64) -> Result<Duration, Fault> {
    let mut coroutine = pin!(Coroutine::new(async |mut suspender, mut number: u64| loop {
        number = suspender.suspend(number + 1).await;
    }));
    resumes(n, |number| next(coroutine.resume(number)))
}

/// Resumes a coroutine on the stack that a function has returned, each time by a call.
pub(crate) fn switch_kept(n: u64) -> Result<Duration, Fault> {
    let mut coroutine = pin!(successors());
    resumes(n, |number| next(step(coroutine.as_mut(), number)))
}

/// Not inlined, so that the caller does not see the body.
#[inline(never)]
fn successors() -> impl Resume<u64, Yield = u64, Return = Infallible> {
    Coroutine::new(async |mut suspender: Suspender<u64, u64>, mut number: u64| {
        loop {
            number = suspender.suspend(number + 1).await;
        }
    })
}

/// Not inlined, so that the coroutine must be in memory.
#[inline(never)]
fn step<C: Resume<u64>>(coroutine: Pin<&mut C>, number: u64) -> Step<C::Yield, C::Return> {
    hint::black_box(coroutine).resume(number)
}

/// Resumes a coroutine of erased type.
pub(crate) fn switch_boxed(n: u64) -> Result<Duration, Fault> {
    let body = async |mut suspender: Suspender<u64, u64>, mut number: u64| loop {
        number = suspender.suspend(number + 1).await;
    };
    let mut coroutine: LocalBoxCoroutine<'_, u64, u64, Infallible> = Box::pin(Coroutine::new(body));
    resumes(n, |number| next(hint::black_box(&mut coroutine).resume(number)))
}

/// The number with which an endless body has suspended.
fn next(step: Step<u64, Infallible>) -> u64 {
    match step {
        Step::Yielded(number) => number,
        Step::Complete(never) => match never {},
    }
}

/// Creates coroutines on the stack.
pub(crate) fn create(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        hint::black_box(pin!(empty(made)));
    })
}

/// Creates coroutines on the stack and runs them.
pub(crate) fn create_and_run(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        let mut coroutine = pin!(empty(made));
        hint::black_box(&mut coroutine).resume(());
    })
}

/// Creates coroutines of erased type and runs them.
pub(crate) fn create_and_run_boxed(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        let mut coroutine: LocalBoxCoroutine<'_, (), ()> = Box::pin(empty(made));
        hint::black_box(&mut coroutine).resume(());
    })
}

/// A coroutine that drops its value when it runs.
fn empty(made: Made<'_>) -> impl Resume<(), Yield = (), Return = ()> {
    Coroutine::new(async move |_: Suspender<(), ()>, ()| drop(made))
}
