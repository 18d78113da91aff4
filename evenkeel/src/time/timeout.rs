//! A limit on how long a future is waited for.

#![allow(unsafe_code, reason = "a pinned pair is a pair of pinned futures")]

use super::sleep::{Sleep, sleep, sleep_until};
use super::{Duration, Instant};
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Gives `future` at most `duration` from this call: its output if it is complete before, or at its
/// first poll however long that takes.
///
/// # Errors
/// [`Elapsed`] if it is not. The future is dropped with the `Timeout`, and not before.
///
/// # Cancel safety
/// That of `future`.
///
/// # Cost
/// That of [`sleep`] here. Until `future` has to wait there is no timer; then that is armed once,
/// however often the task is woken.
///
/// # Panics
/// As [`sleep`], if `future` has to wait. The panic of `future`.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, timeout};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     assert_eq!(timeout(Duration::from_secs(5), async { 7 }).await, Ok(7));
///     let never = std::future::pending::<()>();
///     assert!(timeout(Duration::from_millis(1), never).await.is_err());
/// });
/// ```
#[inline]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep(duration) }
}

/// The same, until `deadline`.
///
/// # Errors
/// As [`timeout`].
///
/// # Examples
/// ```
/// use evenkeel::time::{Instant, timeout_at};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     // It is polled once in any case.
///     assert_eq!(timeout_at(Instant::now(), async { 7 }).await, Ok(7));
/// });
/// ```
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep_until(deadline) }
}

/// The future of [`timeout`] and [`timeout_at`].
#[must_use = "futures do nothing unless awaited"]
pub struct Timeout<F> {
    future: F,
    sleep: Sleep,
}

impl<F> Timeout<F> {
    /// When the time is over.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.sleep.deadline()
    }

    /// The future.
    #[must_use]
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future, without the limit.
    #[must_use]
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of it.
        let timeout = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is part of what is pinned, is not moved before it is dropped, and has no
        // destructor that moves it.
        let future = unsafe { Pin::new_unchecked(&mut timeout.future) };
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        // SAFETY: as above.
        let sleep = unsafe { Pin::new_unchecked(&mut timeout.sleep) };
        sleep.poll(context).map(|()| Err(Elapsed(())))
    }
}

impl<F: fmt::Debug> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("future", &self.future)
            .field("deadline", &self.deadline())
            .finish()
    }
}

/// The time that a future was [given](timeout) is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline has passed before the future was complete")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}
