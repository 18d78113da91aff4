//! corosensei: coroutines with stacks of their own. Stacks are used again, which its documentation
//! has for creation to be quick.

use std::convert::Infallible;
use std::hint;
use std::time::Duration;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, ScopedCoroutine};

use super::{Made, creations, resumes};
use suite::kit::fault::Fault;

/// Resumes one.
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

/// Creates them.
pub(crate) fn create(n: u64) -> Result<Duration, Fault> {
    let mut stack = DefaultStack::default();
    creations(n, |made| drop(hint::black_box(empty(&mut stack, made))))
}

/// Creates them and runs them.
pub(crate) fn create_and_run(n: u64) -> Result<Duration, Fault> {
    let mut stack = DefaultStack::default();
    creations(n, |made| {
        hint::black_box(empty(&mut stack, made)).scope(|mut coroutine| coroutine.resume(()));
    })
}

/// One that drops what it holds when it runs.
fn empty<'a>(
    stack: &'a mut DefaultStack,
    made: Made<'a>,
) -> ScopedCoroutine<'a, (), (), (), &'a mut DefaultStack> {
    ScopedCoroutine::with_stack(stack, move |_, ()| drop(made))
}
