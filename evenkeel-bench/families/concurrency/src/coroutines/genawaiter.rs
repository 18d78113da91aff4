//! genawaiter: coroutines of async functions. Those of known type are on the stack, the others in
//! an `Rc` with a boxed body.

use std::future::Future;
use std::hint;
use std::pin::Pin;
use std::time::Duration;

use genawaiter::GeneratorState;
use genawaiter::{rc, stack};

use super::{creations, resumes};
use suite::kit::fault::Fault;

/// The first number: a body does not receive the argument of its first resume.
const BEGIN: u64 = 0;

fn suspended(state: GeneratorState<u64, ()>) -> u64 {
    match state {
        GeneratorState::Yielded(number) => number,
        GeneratorState::Complete(()) => unreachable!("its loop has no end"),
    }
}

/// Resumes a coroutine on the stack, beside its body.
pub(crate) fn switch(n: u64) -> Result<Duration, Fault> {
    stack::let_gen_using!(coroutine, async |co: stack::Co<'_, u64, u64>| {
        let mut number = BEGIN;
        loop {
            number = co.yield_(number + 1).await;
        }
    });
    resumes(n, |number| suspended(coroutine.resume_with(number)))
}

/// Resumes a coroutine on the stack, each time by a call.
pub(crate) fn switch_kept(n: u64) -> Result<Duration, Fault> {
    stack::let_gen_using!(coroutine, successors);
    resumes(n, |number| suspended(step(coroutine, number)))
}

/// Not inlined, so that the caller does not see the body.
#[inline(never)]
async fn successors(co: stack::Co<'_, u64, u64>) {
    let mut number = BEGIN;
    loop {
        number = co.yield_(number + 1).await;
    }
}

/// Not inlined, so that the coroutine must be in memory.
#[inline(never)]
fn step<F: Future<Output = ()>>(
    coroutine: &mut stack::Gen<'_, u64, u64, F>,
    number: u64,
) -> GeneratorState<u64, ()> {
    hint::black_box(coroutine).resume_with(number)
}

/// Resumes a coroutine of erased type.
pub(crate) fn switch_boxed(n: u64) -> Result<Duration, Fault> {
    let mut coroutine = rc::Gen::new(|co: rc::Co<u64, u64>| -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let mut number = BEGIN;
            loop {
                number = co.yield_(number + 1).await;
            }
        })
    });
    resumes(n, |number| suspended(hint::black_box(&mut coroutine).resume_with(number)))
}

/// Creates coroutines on the stack.
pub(crate) fn create(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        stack::let_gen_using!(coroutine, |_co: stack::Co<'_, ()>| async move { drop(made) });
        hint::black_box(coroutine);
    })
}

/// Creates coroutines on the stack and runs them.
pub(crate) fn create_and_run(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        stack::let_gen_using!(coroutine, |_co: stack::Co<'_, ()>| async move { drop(made) });
        hint::black_box(coroutine).resume();
    })
}

/// Creates coroutines of erased type and runs them.
pub(crate) fn create_and_run_boxed(n: u64) -> Result<Duration, Fault> {
    creations(n, |made| {
        let body = async move { drop(made) };
        let mut coroutine =
            rc::Gen::new(|_co: rc::Co<()>| -> Pin<Box<dyn Future<Output = ()> + '_>> {
                Box::pin(body)
            });
        hint::black_box(&mut coroutine).resume();
    })
}
