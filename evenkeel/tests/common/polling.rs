//! Polling by hand.

use super::counting::Counting;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A future that a test polls, and drops at will.
pub(crate) struct Hand<F: Future> {
    future: Pin<Box<F>>,
    counting: Arc<Counting>,
}

impl<F: Future> Hand<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::pin(future), counting: Arc::default() }
    }

    /// Polls a future once, which must wait.
    pub(crate) fn waiting(future: F) -> Self {
        let mut this = Self::new(future);
        assert!(this.poll().is_none(), "it waits");
        this
    }

    pub(crate) fn poll(&mut self) -> Option<F::Output> {
        let waker = Waker::from(self.counting.clone());
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    /// Returns its output, which must be ready.
    #[allow(dead_code, reason = "in some tests nothing is ready")]
    #[track_caller]
    pub(crate) fn ready(mut self) -> F::Output {
        self.poll().expect("it is ready")
    }

    pub(crate) fn wakes(&self) -> usize {
        self.counting.wakes()
    }
}
