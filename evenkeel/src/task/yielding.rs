//! Yielding to other tasks.

use super::waker;
use crate::processor::context;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Goes to the back of the ready queue once.
///
/// A task of evenkeel goes there without a wake, for the price of a push and a pop. Under a foreign
/// waker, as inside `FuturesUnordered` or on another runtime, it is a wake of that waker.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     evenkeel::spawn(async { evenkeel::yield_now().await }).await.unwrap();
/// });
/// ```
#[inline]
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.yielded, true) {
            return Poll::Ready(());
        }
        context::with(|context| match (context, waker::task_of(cx.waker())) {
            (Some(context), Some(task)) if context.polls(task.ptr()) => context.go_again(),
            _ => cx.waker().wake_by_ref(),
        });
        Poll::Pending
    }
}
