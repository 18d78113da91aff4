//! Yielding to other tasks.

use super::waker;
use crate::processor::context;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Goes to the back of the ready queue once.
///
/// A task of evenkeel goes there without a wake, for the price of a push and a pop. Under a foreign
/// waker, as inside `FuturesUnordered` or on another runtime, it is a wake of that waker.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Examples
/// Two tasks that take turns on one worker:
/// ```
/// use evenkeel::{spawn, yield_now};
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let both = runtime.spawn(async move {
///     for oar in ["port", "starboard"] {
///         let sender = sender.clone();
///         drop(spawn(async move {
///             for stroke in 1..=2 {
///                 sender.send((oar, stroke)).unwrap();
///                 yield_now().await;
///             }
///         }));
///     }
/// });
/// let strokes: Vec<_> = receiver.iter().collect();
/// assert_eq!(strokes, [("port", 1), ("starboard", 1), ("port", 2), ("starboard", 2)]);
/// # runtime.block_on(both).unwrap();
/// ```
#[inline]
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// Lets other tasks run. Returned by [`yield_now`], which has an example.
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
        go_again(cx.waker());
        Poll::Pending
    }
}

/// Makes the task that a waker wakes go to the back of the ready queue. Under the polled task's own
/// waker that needs no wake.
#[inline(always)]
pub(super) fn go_again(waker: &Waker) {
    context::with(|context| match (context, waker::task_of(waker)) {
        (Some(context), Some(task)) if context.polls(task.ptr()) => context.go_again(),
        _ => waker.wake_by_ref(),
    });
}
