//! A body, and one step of it.

#![allow(unsafe_code, reason = "the body is pinned in its coroutine")]

use super::error::{Refusal, ResumeError};
use super::exchange::Exchange;
use super::id::{self, Id};
use super::resume::{BoxCoroutine, LocalBoxCoroutine, Phase, Resume, Step};
use super::suspender::Suspender;
use crate::processor::slice;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// A coroutine: a body that runs when it is [resumed](Resume::resume), until it suspends itself or
/// ends.
///
/// It begins at the first `resume`; that input is the body's second argument. Before, it has to be
/// pinned: on the stack by [`pin!`](std::pin::pin), without an allocation, or in a box by
/// [`boxed`](Self::boxed). Its size is that of the body and two or three words. Dropping it drops
/// the body where it is suspended, and so the body's variables, in reverse order.
///
/// It can be sent to another thread between two steps if the body, the inputs and the outputs can,
/// even if the body does not keep its suspender. So this does not compile:
///
/// ```compile_fail,E0277
/// use evenkeel::coroutine::{Coroutine, Suspender};
/// use std::cell::RefCell;
/// use std::future::ready;
/// use std::rc::Rc;
///
/// thread_local! {
///     static KEPT: RefCell<Option<Suspender<Rc<u32>, ()>>> = const { RefCell::new(None) };
/// }
/// let coroutine = Coroutine::new(|suspender, _: Rc<u32>| {
///     KEPT.set(Some(suspender));
///     ready(())
/// });
/// let sent = coroutine.boxed();
/// ```
///
/// It cannot be resumed twice at once, or from inside itself, because resuming borrows it
/// exclusively:
///
/// ```compile_fail,E0499
/// use evenkeel::coroutine::{BoxCoroutine, Resume};
///
/// fn race(mut coroutine: BoxCoroutine<'static, (), ()>) {
///     std::thread::scope(|scope| {
///         scope.spawn(|| coroutine.resume(()));
///         scope.spawn(|| coroutine.resume(()));
///     });
/// }
/// ```
///
/// `F` makes the body, and the body's type `B` has no name. So a structure with a coroutine is
/// generic in both, or has a [`BoxCoroutine`].
pub struct Coroutine<I, O, F, B> {
    id: Id,
    phase: Phase,
    body: Body<F, B>,
    _values: PhantomData<Passed<I, O>>,
}

/// The values that pass between a body and its resumers. Invariant, since the suspender has the
/// same types. The coroutine is `Send` only if both values are: a body need not keep its suspender.
/// The suspender may stay on the thread where the body began, and would reach from there what a
/// resumer passes on another thread.
type Passed<I, O> = Mutex<(I, O)>;

enum Body<F, B> {
    New(F),
    /// Pinned.
    Begun(B),
    Over,
}

impl<I, O, F, B> Coroutine<I, O, F, B>
where
    F: FnOnce(Suspender<I, O>, I) -> B,
    B: Future,
{
    /// Creates a coroutine with this body, which has not begun. The body is `async |mut suspender,
    /// first_input| { .. }`, an `async fn` with these two parameters, or a closure that returns a
    /// future.
    ///
    /// Allocates nothing.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume, Step};
    /// use std::pin::pin;
    ///
    /// let mut total = pin!(Coroutine::new(async |mut suspender, first: u64| {
    ///     let mut total = first;
    ///     while total < 10 {
    ///         total += suspender.suspend(total).await;
    ///     }
    ///     "enough"
    /// }));
    /// assert_eq!(total.resume(3), Step::Yielded(3));
    /// assert_eq!(total.resume(4), Step::Yielded(7));
    /// assert_eq!(total.resume(5), Step::Complete("enough"));
    /// ```
    #[inline]
    pub fn new(body: F) -> Self {
        Self { id: Id::NONE, phase: Phase::New, body: Body::New(body), _values: PhantomData }
    }

    /// Puts the coroutine into a box, with its type erased.
    ///
    /// Allocates once, here, and not when it is resumed. [`Box::pin`] keeps the type.
    ///
    /// # Examples
    /// Two bodies in one array:
    /// ```
    /// use evenkeel::coroutine::{BoxCoroutine, Coroutine, Resume};
    ///
    /// let up = Coroutine::new(async |mut suspender, ()| {
    ///     for n in 0..3 {
    ///         suspender.suspend(n).await;
    ///     }
    /// });
    /// let down = Coroutine::new(async |mut suspender, ()| {
    ///     for n in (0..3).rev() {
    ///         suspender.suspend(n).await;
    ///     }
    /// });
    /// let bodies: [BoxCoroutine<'_, (), u32>; 2] = [up.boxed(), down.boxed()];
    /// let outputs: Vec<_> = bodies.into_iter().flat_map(Resume::values).collect();
    /// assert_eq!(outputs, [0, 1, 2, 2, 1, 0]);
    /// ```
    #[inline]
    pub fn boxed<'a>(self) -> BoxCoroutine<'a, I, O, B::Output>
    where
        Self: Send + 'a,
    {
        Box::pin(self)
    }

    /// Puts the coroutine into a box as [`boxed`](Self::boxed) does, if it stays on its thread.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, LocalBoxCoroutine, Resume};
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// let sum = Rc::new(Cell::new(0));
    /// let mut adds: LocalBoxCoroutine<'_, u32, ()> = Coroutine::new({
    ///     let sum = sum.clone();
    ///     async move |mut suspender, mut n| {
    ///         while n > 0 {
    ///             sum.set(sum.get() + n);
    ///             n = suspender.suspend(()).await;
    ///         }
    ///     }
    /// })
    /// .boxed_local();
    /// (1..=4).for_each(|n| drop(adds.resume(n)));
    /// assert_eq!(sum.get(), 10);
    /// ```
    #[inline]
    pub fn boxed_local<'a>(self) -> LocalBoxCoroutine<'a, I, O, B::Output>
    where
        Self: 'a,
    {
        Box::pin(self)
    }

    /// Makes the body's future. No code of an `async` body runs yet.
    #[inline(always)]
    fn begin(self: Pin<&mut Self>, first: I) {
        // SAFETY: only a body that has begun is pinned, and there is none yet.
        let this = unsafe { self.get_unchecked_mut() };
        if let Body::New(make) = mem::replace(&mut this.body, Body::Over) {
            this.id = id::take();
            // SAFETY: the number is new, and this is the only place where a suspender is made,
            // once.
            let suspender = unsafe { Suspender::new(this.id) };
            this.body = Body::Begun(make(suspender, first));
        }
    }

    /// Polls the body with its exchange.
    #[inline(always)]
    fn poll_body(self: Pin<&mut Self>, exchange: &Exchange<'_, I, O>) -> Poll<B::Output> {
        // SAFETY: the body is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let Body::Begun(body) = &mut this.body else {
            unreachable!("a body is polled between its begin and its end");
        };
        // SAFETY: it is pinned with the coroutine.
        let body = unsafe { Pin::new_unchecked(body) };
        let polled = exchange.with_context(|context| body.poll(context));
        if polled.is_ready() {
            this.body = Body::Over;
        }
        polled
    }

    #[inline(always)]
    fn set_phase(self: Pin<&mut Self>, phase: Phase) {
        // SAFETY: the body is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        this.phase = phase;
    }

    /// Makes or continues a step.
    #[inline(always)]
    fn step(
        mut self: Pin<&mut Self>,
        outer: &Waker,
        input: &mut Option<I>,
    ) -> Poll<Result<Step<O, B::Output>, Refusal>> {
        let phase = self.phase;
        match (phase, input.is_some()) {
            (Phase::New | Phase::Suspended, true) | (Phase::Waiting, false) => {}
            (Phase::New | Phase::Suspended, false) => return Poll::Ready(Err(Refusal::Idle)),
            (Phase::Waiting, true) => return Poll::Ready(Err(Refusal::Waiting)),
            (Phase::Finished, _) => return Poll::Ready(Err(Refusal::Finished)),
        }
        // It stays finished if the body panics.
        self.as_mut().set_phase(Phase::Finished);
        if phase == Phase::New
            && let Some(first) = input.take()
        {
            self.as_mut().begin(first);
        }
        let exchange = Exchange::new(self.id, outer, input);
        let polled = self.as_mut().poll_body(&exchange);
        match (polled, exchange.into_output()) {
            (Poll::Ready(result), _) => Poll::Ready(Ok(Step::Complete(result))),
            (Poll::Pending, Some(output)) => {
                self.set_phase(Phase::Suspended);
                Poll::Ready(Ok(Step::Yielded(output)))
            }
            (Poll::Pending, None) => {
                // The body may wait for two things, of which a suspension is one. The input that it
                // has not taken stays with the resumer.
                let phase = if input.is_some() { Phase::Suspended } else { Phase::Waiting };
                self.set_phase(phase);
                Poll::Pending
            }
        }
    }
}

impl<I, O, F, B> Resume<I> for Coroutine<I, O, F, B>
where
    F: FnOnce(Suspender<I, O>, I) -> B,
    B: Future,
{
    type Yield = O;
    type Return = B::Output;

    #[inline]
    fn poll_resume(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &mut Option<I>,
    ) -> Poll<Result<Step<O, B::Output>, Refusal>> {
        self.step(context.waker(), input)
    }

    #[inline(always)]
    fn try_resume_pinned(
        self: Pin<&mut Self>,
        input: I,
    ) -> Result<Step<O, B::Output>, ResumeError<I>> {
        let mut input = Some(input);
        let polled = {
            // No operation of the body yields because the slice of the poll is over: it need not
            // wait.
            let _step = slice::Step::begin();
            // Here alone: the compiler inlines a body that is polled in one place.
            self.step(Waker::noop(), &mut input)
        };
        match polled {
            Poll::Ready(Ok(step)) => Ok(step),
            Poll::Ready(Err(refusal)) => Err(ResumeError::new(refusal, input)),
            Poll::Pending => Err(ResumeError::new(Refusal::Awaits, input)),
        }
    }

    #[inline]
    fn phase(&self) -> Phase {
        self.phase
    }
}

impl<I, O, F, B> fmt::Debug for Coroutine<I, O, F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coroutine").field("phase", &self.phase).finish_non_exhaustive()
    }
}
