//! Coroutines as iterators and streams.

use super::error::Refusal;
#[cfg(feature = "stream")]
use super::resume::Phase;
use super::resume::{Resume, refuse};

/// The outputs of a coroutine as an iterator: see [`Resume::values`]. It resumes the coroutine for
/// each output, and ends when the body returns.
///
/// # Panics
/// If the body panics, or awaits something other than its suspender: use the stream for such a
/// body.
///
/// # Examples
/// The coroutine goes on after the iterator:
/// ```
/// use evenkeel::coroutine::{Coroutine, Resume, Step};
///
/// let counter = Coroutine::new(async |mut suspender, ()| {
///     for n in 1..=5 {
///         suspender.suspend(n).await;
///     }
/// });
/// let mut values = counter.boxed().values();
/// assert_eq!(values.by_ref().take(2).sum::<u32>(), 3);
/// let mut counter = values.into_inner();
/// assert_eq!(counter.resume(()), Step::Yielded(3));
/// ```
#[derive(Clone, Debug)]
#[must_use = "iterators do nothing unless consumed"]
pub struct Values<C> {
    coroutine: C,
}

impl<C> Values<C> {
    #[inline]
    pub(super) fn new(coroutine: C) -> Self {
        Self { coroutine }
    }

    /// Returns the coroutine.
    pub fn into_inner(self) -> C {
        self.coroutine
    }

    /// Returns the outputs as a stream. Its body can await anything that a task can await.
    ///
    /// # Cancel safety
    /// If a wait for the next output is dropped, nothing is lost.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume};
    /// use futures::StreamExt;
    /// use std::pin::pin;
    ///
    /// evenkeel::block_on(async {
    ///     let numbers = pin!(Coroutine::new(async |mut suspender, ()| {
    ///         for n in 0..3 {
    ///             evenkeel::yield_now().await;
    ///             suspender.suspend(n).await;
    ///         }
    ///     }));
    ///     let numbers: Vec<i32> = numbers.values().into_stream().collect().await;
    ///     assert_eq!(numbers, [0, 1, 2]);
    /// });
    /// ```
    #[cfg(feature = "stream")]
    pub fn into_stream(self) -> ValuesStream<C> {
        ValuesStream { coroutine: self.coroutine }
    }
}

impl<C: Resume<()> + Unpin> Iterator for Values<C> {
    type Item = C::Yield;

    #[inline(always)]
    fn next(&mut self) -> Option<C::Yield> {
        match self.coroutine.try_resume(()) {
            Ok(step) => step.yielded(),
            Err(error) if error.refusal() == Refusal::Finished => None,
            Err(error) => refuse(error.refusal()),
        }
    }
}

impl<C: Resume<()> + Unpin> std::iter::FusedIterator for Values<C> {}

/// The outputs of a coroutine as a stream: see [`Values::into_stream`], which has an example.
///
/// # Panics
/// If the body does.
#[cfg(feature = "stream")]
#[derive(Clone, Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ValuesStream<C> {
    coroutine: C,
}

#[cfg(feature = "stream")]
mod stream {
    use super::super::resume::Step;
    use super::{Phase, Resume, ValuesStream};
    use crate::task::budget;
    use futures_core::{FusedStream, Stream};
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    impl<C: Resume<()> + Unpin> Stream for ValuesStream<C> {
        type Item = C::Yield;

        fn poll_next(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<C::Yield>> {
            let mut input = match self.coroutine.phase() {
                Phase::New | Phase::Suspended => {
                    ready!(budget::poll_unit(context.waker()));
                    Some(())
                }
                Phase::Waiting => None,
                Phase::Finished => return Poll::Ready(None),
            };
            let step = ready!(Pin::new(&mut self.coroutine).poll_resume(context, &mut input));
            Poll::Ready(step.ok().and_then(Step::yielded))
        }
    }

    impl<C: Resume<()> + Unpin> FusedStream for ValuesStream<C> {
        fn is_terminated(&self) -> bool {
            self.coroutine.phase() == Phase::Finished
        }
    }
}
