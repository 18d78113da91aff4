//! Asking: a message that carries the place for its answer.

use crate::actor_ref::Send;
use crate::dead_letter::{self, DeadLetterKind};
use crate::error::{AskError, SendError};
use crate::mailbox::overflow::{Overflow, Wait};
use crate::system::System;
use evenkeel::time::{Sleep, sleep};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Where the answer to a request goes. Dropped without an answer, the asker gets [`AskError::NoReply`].
pub struct ReplyTo<R>(oneshot::Sender<R>);

impl<R> ReplyTo<R> {
    /// Answers. If the asker has given up, the answer is a dead letter of the system of the actor that is running; [`try_send`](Self::try_send) gives it back.
    pub fn send(self, reply: R) {
        if self.try_send(reply).is_err() {
            dead_letter::note::<R>(System::current(), None, DeadLetterKind::LateReply, 1);
        }
    }

    /// Answers.
    ///
    /// # Errors
    /// The answer, if the asker has given up.
    pub fn try_send(self, reply: R) -> Result<(), R> {
        self.0.send(reply).map_err(oneshot::SendError::into_inner)
    }
}

impl<R> fmt::Debug for ReplyTo<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").finish_non_exhaustive()
    }
}

/// A message, and where its answer comes.
pub(crate) struct Request<M, R> {
    pub(crate) message: M,
    pub(crate) reply: oneshot::AsyncReceiver<R>,
}

impl<M, R> Request<M, R> {
    pub(crate) fn new(request: impl FnOnce(ReplyTo<R>) -> M) -> Self {
        let (sender, receiver) = oneshot::async_channel();
        Self { message: request(ReplyTo(sender)), reply: receiver }
    }
}

/// The future of [`ActorRef::ask`](crate::ActorRef::ask).
///
/// # Cancel safety
/// A request that has been sent is handled whether or not its asker still waits.
#[must_use = "a request is sent when its future is awaited"]
pub struct Ask<'a, M: std::marker::Send + 'static, R, P: Overflow = Wait> {
    send: Option<Send<'a, M, P>>,
    reply: oneshot::AsyncReceiver<R>,
    limit: Option<Pin<Box<Sleep>>>,
}

impl<'a, M: std::marker::Send + 'static, R, P: Overflow> Ask<'a, M, R, P> {
    pub(crate) fn new(send: Send<'a, M, P>, reply: oneshot::AsyncReceiver<R>) -> Self {
        Self { send: Some(send), reply, limit: None }
    }

    /// Gives up after a duration, counted from now.
    pub fn timeout(mut self, duration: Duration) -> Self {
        self.limit = Some(Box::pin(sleep(duration)));
        self
    }
}

impl<M: std::marker::Send + 'static, R, P: Overflow> Unpin for Ask<'_, M, R, P> {}

impl<M: std::marker::Send + 'static, R, P: Overflow> Future for Ask<'_, M, R, P> {
    type Output = Result<R, AskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(send) = &mut this.send {
            match Pin::new(send).poll(context) {
                Poll::Ready(Ok(())) => this.send = None,
                Poll::Ready(Err(SendError::Full(_))) => return Poll::Ready(Err(AskError::Full)),
                Poll::Ready(Err(SendError::Stopped(_))) => {
                    return Poll::Ready(Err(AskError::Stopped));
                }
                Poll::Pending => return this.poll_limit(context),
            }
        }
        match Pin::new(&mut this.reply).poll(context) {
            Poll::Ready(reply) => Poll::Ready(reply.map_err(|_| AskError::NoReply)),
            Poll::Pending => this.poll_limit(context),
        }
    }
}

impl<M: std::marker::Send + 'static, R, P: Overflow> Ask<'_, M, R, P> {
    fn poll_limit(&mut self, context: &mut Context<'_>) -> Poll<Result<R, AskError>> {
        match &mut self.limit {
            Some(limit) => limit.as_mut().poll(context).map(|_| Err(AskError::Elapsed)),
            None => Poll::Pending,
        }
    }
}

impl<M: std::marker::Send + 'static, R, P: Overflow> fmt::Debug for Ask<'_, M, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("sent", &self.send.is_none()).finish_non_exhaustive()
    }
}
