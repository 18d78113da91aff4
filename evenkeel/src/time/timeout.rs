//! Time limits on futures.

#![allow(unsafe_code, reason = "a pinned pair is a pair of pinned futures")]

use super::sleep::{Sleep, sleep, sleep_until};
use super::{Duration, Instant};
use crate::task::budget;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits for `future` for at most `duration` from this call, and returns its output. The first poll
/// always counts, however late it is or however long it takes.
///
/// # Errors
/// [`Elapsed`] if the future is not complete in time. It is dropped with the `Timeout`, and not
/// before.
///
/// # Cancel safety
/// That of `future`.
///
/// # Cost
/// This call costs what [`sleep`] costs. Until `future` has to wait there is no timer. Then the
/// timer is armed once, however often the task is woken.
///
/// # Panics
/// As [`sleep`], if `future` has to wait. If `future` panics.
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

/// Waits for `future` until `deadline`, as [`timeout`] does.
///
/// # Errors
/// As [`timeout`].
///
/// # Examples
/// ```
/// use evenkeel::time::{Instant, timeout_at};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     // The future is polled once in any case.
///     assert_eq!(timeout_at(Instant::now(), async { 7 }).await, Ok(7));
/// });
/// ```
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep_until(deadline) }
}

/// The future of [`timeout`] and [`timeout_at`].
///
/// # Examples
/// A task that is aborted when its time is over. The timeout is pinned, so that it is there
/// afterwards:
/// ```
/// use evenkeel::time::{Duration, Instant, sleep, timeout};
/// use std::pin::pin;
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let minute = Duration::from_secs(60);
///     let crossing = evenkeel::spawn(async move { sleep(2 * minute).await });
///     let mut limited = pin!(timeout(minute, crossing));
///     assert!(limited.as_mut().await.is_err());
///     assert_eq!(Instant::now(), limited.deadline());
///     limited.get_ref().abort();
/// });
/// ```
///
/// Until it is awaited, the future can be replaced, and the limit lifted:
/// ```
/// use evenkeel::time::{Duration, Timeout, timeout};
/// use std::future::{Ready, ready};
/// let mut limited: Timeout<Ready<u32>> = timeout(Duration::from_secs(1), ready(6));
/// *limited.get_mut() = ready(7);
/// assert_eq!(evenkeel::block_on(limited.into_inner()), 7);
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Timeout<F> {
    future: F,
    sleep: Sleep,
}

impl<F> Timeout<F> {
    /// Returns the point in time at which the limit ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.sleep.deadline()
    }

    /// Returns a reference to the future.
    #[must_use]
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// Returns an exclusive reference to the future.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// Returns the future, without the limit.
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
        // SAFETY: the future is part of the pinned `Timeout`, which does not move it and has no
        // destructor that could.
        let future = unsafe { Pin::new_unchecked(&mut timeout.future) };
        let had_slice = budget::has_slice();
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        // SAFETY: as above.
        let sleep = unsafe { Pin::new_unchecked(&mut timeout.sleep) };
        sleep.poll_limit(context.waker(), had_slice).map(|()| Err(Elapsed(())))
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

/// The error of [`timeout`] and [`timeout_at`]: the time limit has passed.
///
/// # Examples
/// In a function of I/O it becomes an error of the kind
/// [`TimedOut`](std::io::ErrorKind::TimedOut):
/// ```
/// use evenkeel::time::{Duration, Elapsed, timeout};
/// use std::io;
/// async fn answer() -> io::Result<u32> {
///     Ok(timeout(Duration::from_millis(1), std::future::pending()).await?)
/// }
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let error = runtime.block_on(answer()).unwrap_err();
/// assert_eq!(error.kind(), io::ErrorKind::TimedOut);
/// assert!(error.get_ref().unwrap().is::<Elapsed>());
/// ```
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
