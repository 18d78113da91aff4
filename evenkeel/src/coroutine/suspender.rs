//! The body's side: `suspend(value).await`.

#![allow(unsafe_code, reason = "a suspender stands for the types of its coroutine")]

use super::exchange::{self, Exchange, Place};
use super::id::Id;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The handle by which a body suspends its coroutine. The body gets it with its first input, and
/// lends it to what it calls.
///
/// It is bound to its coroutine: among nested ones, it suspends that which it was made for. Neither
/// can be cloned, and one suspension is under way at a time.
///
/// # Examples
/// A function that suspends its caller's coroutine is `async` and borrows the suspender:
///
/// ```
/// use evenkeel::coroutine::{Coroutine, Resume, Suspender};
/// use std::pin::pin;
///
/// async fn countdown(suspender: &mut Suspender<(), u32>, from: u32) {
///     for n in (0..from).rev() {
///         suspender.suspend(n).await;
///     }
/// }
///
/// let coroutine = pin!(Coroutine::new(async |mut suspender, ()| {
///     countdown(&mut suspender, 3).await;
///     countdown(&mut suspender, 2).await;
/// }));
/// assert_eq!(coroutine.values().collect::<Vec<_>>(), [2, 1, 0, 1, 0]);
/// ```
///
/// Two suspensions at once do not compile:
///
/// ```compile_fail,E0499
/// use evenkeel::coroutine::{Coroutine, Suspender};
///
/// let coroutine = Coroutine::new(async |mut suspender: Suspender<(), u32>, ()| {
///     let first = suspender.suspend(1);
///     let second = suspender.suspend(2);
///     first.await;
///     second.await;
/// });
/// ```
pub struct Suspender<I, O> {
    id: Id,
    /// Values move through it, to the body's thread and from it; none may vary, for the resumer
    /// takes the body's outputs for what its own types say; and no two threads may suspend at once.
    _values: PhantomData<Cell<(I, O)>>,
}

impl<I, O> Suspender<I, O> {
    /// # Safety
    /// The coroutine with this number has these types, exactly, and this is its only suspender.
    #[inline(always)]
    pub(super) unsafe fn new(id: Id) -> Self {
        Self { id, _values: PhantomData }
    }

    /// Suspends the coroutine: its resumer gets `output`, and the future gives what the next
    /// resumer passes.
    ///
    /// Costs little but the passing of the two values, however deep the call; it neither allocates
    /// nor keeps a waker.
    ///
    /// # Cancel safety
    /// Nothing happens before the first poll, which suspends: the resumer gets the output even if
    /// the future is dropped within the same step, and what it passes in exchange is dropped then.
    /// Only if the body suspends itself with another output in the same step, or ends, that output
    /// is dropped. So the arm of a `select!` that suspends comes last.
    ///
    /// # Panics
    /// If the future is polled where its coroutine is not making a step: outside of the body, in
    /// one that a body resumes with a plain [`resume`](super::Resume::resume), or below a
    /// combinator that polls with wakers of its own, as `FuturesUnordered` does.
    #[inline]
    pub fn suspend(&mut self, output: O) -> Suspend<'_, I, O> {
        Suspend { id: self.id, output: Some(output), _suspender: PhantomData }
    }
}

impl<I, O> fmt::Debug for Suspender<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspender").finish_non_exhaustive()
    }
}

/// The future of [`Suspender::suspend`].
#[must_use = "futures do nothing unless awaited"]
pub struct Suspend<'s, I, O> {
    /// Not by a reference to the suspender: a body that does not refer to itself can live in
    /// registers.
    id: Id,
    /// Until the first poll.
    output: Option<O>,
    /// It is the only one as long as it borrows the suspender.
    _suspender: PhantomData<&'s mut Suspender<I, O>>,
}

impl<I, O> Suspend<'_, I, O> {
    /// Leaves the output, or takes the input, if it is there.
    #[inline(always)]
    fn exchange(&mut self, exchange: &Exchange<'_, I, O>) -> Poll<I> {
        match self.output.take() {
            Some(output) => {
                // An input that is still there was for a suspension that was given up.
                drop(exchange.take_input());
                exchange.offer(output);
                Poll::Pending
            }
            None => exchange.take_input().map_or(Poll::Pending, Poll::Ready),
        }
    }
}

/// The output is moved, never pinned.
impl<I, O> Unpin for Suspend<'_, I, O> {}

impl<I, O> Future for Suspend<'_, I, O> {
    type Output = I;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<I> {
        match Place::of(context.waker(), self.id) {
            // SAFETY: it is that of the suspender's coroutine, whose types are the suspender's.
            Place::Near(waker) => self.exchange(unsafe { Exchange::of(waker) }),
            // Not with the arm above, where the compiler looks through an exchange that can be no
            // other.
            Place::Far(outer) => match exchange::farther(outer, self.id) {
                // SAFETY: as above.
                Some(waker) => self.exchange(unsafe { Exchange::of(waker) }),
                None => lost(),
            },
            Place::Nowhere => lost(),
        }
    }
}

#[cold]
fn lost() -> ! {
    panic!(
        "a suspender is used where its coroutine is not making a step: await it in the coroutine's own body, in what \
         that calls, or in a coroutine that the body resumes with `resume_async`"
    )
}

impl<I, O> fmt::Debug for Suspend<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspend").finish_non_exhaustive()
    }
}
