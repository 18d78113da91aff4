//! A timer of quinn as a sleep of evenkeel.

use evenkeel::time::{self, Sleep, sleep_until};
use quinn::AsyncTimer;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

pub(crate) struct Timer {
    /// Boxed, so that it is reached without pinning this.
    sleep: Pin<Box<Sleep>>,
}

impl Timer {
    pub(crate) fn new(deadline: Instant) -> Self {
        Self { sleep: Box::pin(sleep_until(deadline.into())) }
    }
}

impl AsyncTimer for Timer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.sleep.as_mut().reset(deadline.into());
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().poll(cx)
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deadline: time::Instant = self.sleep.deadline();
        f.debug_struct("Timer").field("deadline", &deadline).finish()
    }
}
