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
/// lends it to the functions that it calls.
///
/// It is bound to its coroutine: among nested coroutines, it suspends the one for which it was
/// made. Neither can be cloned, and only one suspension is under way at a time.
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
    /// Not `Send` unless the values are, since they move through it to the body's thread and from
    /// it. Invariant, since resumer and body must agree exactly on the types. Not `Sync`, since two
    /// threads must not suspend at once.
    _values: PhantomData<Cell<(I, O)>>,
}

impl<I, O> Suspender<I, O> {
    /// # Safety
    /// The coroutine with this number has these types, exactly, and this is its only suspender.
    #[inline(always)]
    pub(super) unsafe fn new(id: Id) -> Self {
        Self { id, _values: PhantomData }
    }

    /// Suspends the coroutine: its resumer gets `output`, and the future returns the input of the
    /// next resume.
    ///
    /// Costs little more than passing the two values, however deep the call. It neither allocates
    /// nor keeps a waker.
    ///
    /// # Cancel safety
    /// The first poll suspends; before it nothing happens. The resumer gets the output even if the
    /// future is dropped within the same step, and the next input is dropped then. The output
    /// itself is dropped only if the body suspends with another output in the same step, or ends.
    /// So put the suspending arm of a `select!` last.
    ///
    /// # Panics
    /// If the future is polled where its coroutine is not making a step: outside of the body, in
    /// another coroutine that the body resumes with a plain [`resume`](super::Resume::resume), or
    /// below a combinator that polls with its own wakers, as `FuturesUnordered` does.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume, Step};
    /// use std::pin::pin;
    ///
    /// let mut greeter = pin!(Coroutine::new(async |mut suspender, name: &str| {
    ///     let answer: &str = suspender.suspend(format!("hello, {name}")).await;
    ///     answer.len()
    /// }));
    /// assert_eq!(greeter.resume("Ada"), Step::Yielded("hello, Ada".into()));
    /// assert_eq!(greeter.resume("good day"), Step::Complete(8));
    /// ```
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

/// The future of [`Suspender::suspend`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct Suspend<'s, I, O> {
    /// A copy, not a reference to the suspender: a body that does not refer to itself can live in
    /// registers.
    id: Id,
    /// `Some` until the first poll.
    output: Option<O>,
    /// Borrows the suspender, so that there is only one suspension at a time.
    _suspender: PhantomData<&'s mut Suspender<I, O>>,
}

impl<I, O> Suspend<'_, I, O> {
    /// Leaves the output at the first poll, or takes the input, if it is there.
    #[inline(always)]
    fn exchange(&mut self, exchange: &Exchange<'_, I, O>) -> Poll<I> {
        match self.output.take() {
            Some(output) => {
                // An input that is still there was for a suspension that was dropped.
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
            // SAFETY: it is the exchange of the suspender's coroutine, which has the suspender's
            // types.
            Place::Near(waker) => self.exchange(unsafe { Exchange::of(waker) }),
            // Not one arm with the above, where the compiler knows the exchange and can inline it.
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
