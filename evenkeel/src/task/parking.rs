//! Waiting for an unpark.

use super::waker;
use crate::detect::Parking;
use crate::processor::entered;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until the task's token is there, and takes it.
///
/// A token is left by any [`unpark`](super::Task::unpark) since the last `park` returned, so an
/// unpark that comes first is not lost. There are no spurious returns: a wake of another kind polls
/// the task and leaves it parked.
///
/// Inside a combinator that gives its children wakers of their own, such as `FuturesUnordered`, an
/// unpark wakes the task and not the child: there the future asks its waker for another turn each
/// time it finds no token.
///
/// # Cancel safety
/// A token that has not been taken stays for the next `park`.
///
/// # Panics
/// When polled outside of a task of evenkeel.
///
/// # Examples
/// ```
/// use evenkeel::task::{current, park};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     evenkeel::spawn(async {
///         current().unpark();
///         park().await;
///     })
///     .await
///     .unwrap();
/// });
/// ```
#[inline]
pub fn park() -> Park {
    Park(Parking::new())
}

/// Waits for a token. Returned by [`park`], which has an example.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Park(Parking);

impl Future for Park {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let own = entered::with(|context| {
            let task = context.and_then(|context| context.task());
            let task = task.expect(
                "evenkeel::task::park() is polled outside of a task: await it in a future that is spawned",
            );
            if task.take_token() {
                return None;
            }
            Some(waker::task_of(cx.waker()).is_some_and(|waker| waker.ptr() == task.ptr()))
        });
        match own {
            None => Poll::Ready(()),
            Some(true) => {
                self.0.begin();
                Poll::Pending
            }
            Some(false) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}
