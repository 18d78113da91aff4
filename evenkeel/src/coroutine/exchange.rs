//! The exchange between a body and its resumer during one step, and how a body finds it.

#![allow(unsafe_code, reason = "an exchange is found through a waker's data")]

use super::id::Id;
use crate::task::lent::Lent;
use std::cell::Cell;
use std::ptr;
use std::task::{Context, Waker};

/// The two values of one step, on the stack of the resumer.
#[repr(C)]
pub(super) struct Exchange<'a, I, O> {
    /// First, so that code that does not know `I` and `O` finds it.
    lent: Lent<'a>,
    /// Borrowed from the resumer: without another move, the body reads it where it was just
    /// written.
    input: &'a Cell<Option<I>>,
    output: Cell<Option<O>>,
}

/// The place of a coroutine's exchange.
pub(super) enum Place<'a> {
    /// Behind this very waker: the coroutine's own body is being polled.
    Near(&'a Waker),
    /// Behind this waker or one behind that.
    Far(&'a Waker),
    /// Nowhere: no coroutine's body is being polled.
    Nowhere,
}

impl<'a> Place<'a> {
    /// Looks behind the waker of a poll, once: the polling coroutine is mostly the one with this
    /// number.
    #[inline(always)]
    pub(super) fn of(waker: &'a Waker, id: Id) -> Self {
        match Lent::of(waker) {
            Some(lent) if lent.id == id => Self::Near(waker),
            Some(lent) => Self::Far(lent.outer),
            None => Self::Nowhere,
        }
    }
}

/// Returns the waker with the exchange of this number, among `waker` and those behind it: the
/// coroutine's body resumes another coroutine asynchronously, which polls its body, and so on
/// inwards.
#[cold]
#[inline(never)]
pub(super) fn farther(mut waker: &Waker, id: Id) -> Option<&Waker> {
    loop {
        match Place::of(waker, id) {
            Place::Near(found) => return Some(found),
            Place::Far(outer) => waker = outer,
            Place::Nowhere => return None,
        }
    }
}

impl<'a, I, O> Exchange<'a, I, O> {
    #[inline(always)]
    pub(super) fn new(id: Id, outer: &'a Waker, input: &'a mut Option<I>) -> Self {
        Self { lent: Lent { id, outer }, input: Cell::from_mut(input), output: Cell::new(None) }
    }

    /// Calls `poll` with a context that leads to this exchange.
    #[inline(always)]
    pub(super) fn with_context<T>(&self, poll: impl FnOnce(&mut Context<'_>) -> T) -> T {
        // SAFETY: the exchange begins with a `Lent`, and is there until the poll is over.
        let waker = unsafe { Lent::waker(ptr::from_ref(self).cast()) };
        poll(&mut Context::from_waker(&waker))
    }

    /// Returns the exchange behind this waker.
    ///
    /// # Safety
    /// It is the exchange of a coroutine with the types `I` and `O`.
    #[inline(always)]
    pub(super) unsafe fn of(waker: &'a Waker) -> &'a Self {
        // SAFETY: the waker is lent, and its data points to an exchange that lives as long; the
        // caller knows its types.
        unsafe { &*waker.data().cast() }
    }

    #[inline(always)]
    pub(super) fn take_input(&self) -> Option<I> {
        self.input.take()
    }

    #[inline(always)]
    pub(super) fn offer(&self, output: O) {
        self.output.set(Some(output));
    }

    #[inline(always)]
    pub(super) fn into_output(self) -> Option<O> {
        self.output.into_inner()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::coroutine::{Coroutine, Resume, Step, Suspender};
    use crate::task::word_waker::WordWaker;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    /// Whether this poll's waker is recognized as a task's.
    async fn is_of_task() -> bool {
        poll_fn(|context| Poll::Ready(WordWaker::of_task(context.waker()).is_some())).await
    }

    #[test]
    fn a_task_is_seen_through_the_coroutines_that_it_polls() {
        let runtime = crate::Runtime::new().unwrap();
        let seen = runtime.block_on(runtime.spawn(async {
            let mut outer = pin!(Coroutine::new(async |mut suspender: Suspender<(), bool>, ()| {
                let mut inner =
                    pin!(Coroutine::new(async |_: Suspender<(), ()>, ()| is_of_task().await));
                let Step::Complete(seen) = inner.resume_async(()).await else { unreachable!() };
                suspender.suspend(seen).await;
                is_of_task().await
            }));
            (outer.resume_async(()).await, outer.resume_async(()).await)
        }));
        assert_eq!(seen.unwrap(), (Step::Yielded(true), Step::Complete(true)));
    }

    #[test]
    fn no_task_is_seen_through_a_plain_resume() {
        let mut plain = pin!(Coroutine::new(async |_: Suspender<(), ()>, ()| is_of_task().await));
        assert_eq!(plain.resume(()), Step::Complete(false));
    }
}
