//! A future that records when it waits.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// A future, and whether a poll has returned `Pending`.
pub(crate) struct Noted<F> {
    future: Pin<Box<F>>,
    waits: Arc<AtomicBool>,
}

impl<F: Future> Noted<F> {
    /// Returns the future, and a function that reports whether it waits.
    pub(crate) fn new(future: F) -> (Self, impl Fn() -> bool) {
        let waits = Arc::new(AtomicBool::new(false));
        let this = Self { future: Box::pin(future), waits: waits.clone() };
        (this, move || waits.load(Ordering::Acquire))
    }
}

impl<F: Future> Future for Noted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let poll = self.future.as_mut().poll(context);
        self.waits.store(poll.is_pending(), Ordering::Release);
        poll
    }
}
