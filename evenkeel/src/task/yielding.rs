//! Yielding to other tasks.

use super::{budget, waker};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Goes to the back of the ready queue once.
///
/// A task of evenkeel goes there without a wake, for the price of a push and a pop. Under a foreign
/// waker, as inside `FuturesUnordered` or on another runtime, it is a wake of that waker. What
/// polls by that waker may come back within the same poll of the task, again and again: so there a
/// yield takes a unit of the [`budget`](crate::budget), and the task yields when its slice is over.
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
    YieldNow { yielded: Yielded::NotYet }
}

/// Lets other tasks run. Returned by [`yield_now`], which has an example.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    yielded: Yielded,
}

#[derive(Clone, Copy, Debug)]
enum Yielded {
    NotYet,
    /// The task goes to the back of the ready queue after this poll.
    Task,
    /// A foreign waker was woken.
    Foreign,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.yielded {
            Yielded::Task => Poll::Ready(()),
            Yielded::Foreign => budget::poll_unit(cx.waker()),
            Yielded::NotYet => {
                let is_own = waker::go_again(cx.waker());
                self.yielded = if is_own { Yielded::Task } else { Yielded::Foreign };
                Poll::Pending
            }
        }
    }
}
