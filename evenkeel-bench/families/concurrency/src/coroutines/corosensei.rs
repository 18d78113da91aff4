//! corosensei: coroutines with stacks of their own. The stacks are reused, as its documentation
//! advises for fast creation.

use std::convert::Infallible;
use std::hint;
use std::time::Duration;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, ScopedCoroutine};

use super::{Made, creations, resumes};
use suite::kit::fault::Fault;

/// Resumes a coroutine.
pub(crate) fn switch(n: u64) -> Result<Duration, Fault> {
    let mut coroutine = Coroutine::new(|suspender, mut number| -> Infallible {
        loop {
            number = suspender.suspend(number + 1);
        }
    });
    resumes(n, |number| match coroutine.resume(number) {
        CoroutineResult::Yield(number) => number,
        CoroutineResult::Return(never) => match never {},
    })
}

/// Creates coroutines.
pub(crate) fn create(n: u64) -> Result<Duration, Fault> {
    let mut stack = DefaultStack::default();
    creations(n, |made| drop(hint::black_box(empty(&mut stack, made))))
}

/// Creates and runs coroutines.
pub(crate) fn create_and_run(n: u64) -> Result<Duration, Fault> {
    let mut stack = DefaultStack::default();
    creations(n, |made| {
        hint::black_box(empty(&mut stack, made)).scope(|mut coroutine| coroutine.resume(()));
    })
}

/// A coroutine that drops its value when it runs.
fn empty<'a>(
    stack: &'a mut DefaultStack,
    made: Made<'a>,
) -> ScopedCoroutine<'a, (), (), (), &'a mut DefaultStack> {
    ScopedCoroutine::with_stack(stack, move |_, ()| drop(made))
}
