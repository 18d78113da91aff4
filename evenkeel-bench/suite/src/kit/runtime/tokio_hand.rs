//! Tokio at its best: its scheduler, with primitives made by hand.
//!
//! Tokio's own primitives serve many uses and cost up to three times what its scheduler costs, so
//! beating them alone would say little about the scheduler. The primitives here keep each task's
//! waker instead of cloning it per wait, wake by reference, and hand over in FIFO order. With one
//! processor they run on Tokio's [current-thread runtime](form), the better form there.

pub(super) mod form;
mod park;
mod semaphore;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use self::form::builder;

use self::form::Form;
use super::{Array, Lost, Runtime};

/// A running Tokio runtime.
pub struct TokioHand(Form);

impl Runtime for TokioHand {
    const NAME: &'static str = "tokio-hand";

    type Parker = park::Cell;
    type Permits = semaphore::Row<()>;
    type Arrays = semaphore::Row<Array>;

    fn start(procs: usize) -> anyhow::Result<Self> {
        Form::start(procs).map(TokioHand)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn spawn<F>(future: F) -> impl Future<Output = Result<F::Output, Lost>> + Send + 'static
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(tokio::spawn(future))
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        Yield { yielded: false }
    }
}

/// Tokio's join handle with the suite's error.
pub(super) struct Join<T>(pub(super) tokio::task::JoinHandle<T>);

impl<T> Future for Join<T> {
    type Output = Result<T, Lost>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(|error| Lost(error.to_string()))
    }
}

/// A yield that wakes its task at once: the task goes to the back of its worker's queue, where
/// other workers can steal it. In contrast, `tokio::task::yield_now` defers the task to a list from
/// which no worker steals.
struct Yield {
    yielded: bool,
}

impl Future for Yield {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
