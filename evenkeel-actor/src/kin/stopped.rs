//! Waiting for the end of an actor.

use crate::primitives::oneshot;
use crate::words::exit::ExitReason;
use evenkeel::budget;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`ActorRef::stopped`](crate::ActorRef::stopped), which has an example. It is ready
/// when the actor has ended, with the reason.
///
/// It keeps no reference to the actor, and any task may await it. An actor that a shutdown leaves
/// behind, stuck inside a poll, ends when that poll returns, and not before.
#[must_use = "it waits when it is awaited"]
pub struct Stopped(State);

enum State {
    Over(Option<ExitReason>),
    Waits(oneshot::Receiver<ExitReason>),
}

impl Stopped {
    pub(crate) fn over(reason: ExitReason) -> Self {
        Self(State::Over(Some(reason)))
    }

    pub(crate) fn when(told: oneshot::Receiver<ExitReason>) -> Self {
        Self(State::Waits(told))
    }
}

impl Future for Stopped {
    type Output = ExitReason;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ExitReason> {
        match &mut self.0 {
            State::Over(reason) => {
                ready!(budget::poll_consume(context));
                Poll::Ready(reason.take().expect("polled after completion"))
            }
            // The sender is dropped without a reason if another waker has panicked. The actor has
            // ended all the same.
            State::Waits(told) => {
                Pin::new(told).poll(context).map(|reason| reason.unwrap_or(ExitReason::Killed))
            }
        }
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = matches!(self.0, State::Over(_));
        f.debug_struct("Stopped").field("over", &over).finish()
    }
}
