//! Sending, and waiting for room.

use super::{ActorRef, At};
use crate::mailbox::overflow::{Full, Overflow, Wait};
use crate::mailbox::{self, Mailbox, Ticket};
use crate::refs::away::{Remote, Room};
use crate::words::error::SendError;
use crate::words::id::HasId;
use evenkeel::budget;
use evenkeel::internal::{detect, is_deterministic};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`ActorRef::send`], which has an example.
#[must_use = "a message is sent when its future is awaited"]
pub struct SendFuture<'a, M: Send + 'static, P: Overflow = Wait> {
    to: &'a ActorRef<M, P>,
    /// None once the message is sent.
    message: Option<M>,
    waits: Waits,
    /// This wait in the wait-for graph of the deadlock detector.
    room: detect::Room,
}

/// What a sender waits for.
#[derive(Default)]
enum Waits {
    /// The sender has not begun to wait.
    #[default]
    No,
    /// A turn of the other tasks: where a seed determines the order, or because the slice of the
    /// poll was over.
    Turn,
    /// Its place in the line of the mailbox.
    InLine(Ticket),
    /// Room on the way to another node.
    OnTheWay(Box<Room>),
}

/// The message is moved, never pinned.
impl<M: Send + 'static, P: Overflow> Unpin for SendFuture<'_, M, P> {}

impl<M: Send + 'static, P: Overflow> Future for SendFuture<'_, M, P> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let message = self.message.take().expect("a message is sent once");
        if let Waits::No = self.waits {
            if P::FULL == Full::Wait && is_deterministic() {
                return self.give_way(message, context);
            }
            if budget::poll_consume(context).is_pending() {
                return self.keep(message);
            }
            match self.to.try_send(message) {
                // The last arm does not serve for this case: it would move the room for a message
                // too.
                Ok(()) => Poll::Ready(Ok(())),
                Err(SendError::Full(message)) if P::FULL == Full::Wait => {
                    self.wait(message, context)
                }
                result => Poll::Ready(result),
            }
        } else {
            self.wait(message, context)
        }
    }
}

impl<'a, M: Send + 'static, P: Overflow> SendFuture<'a, M, P> {
    #[inline]
    pub(super) fn new(to: &'a ActorRef<M, P>, message: M) -> Self {
        let room = detect::Room::new();
        Self { to, message: Some(message), waits: Waits::No, room }
    }

    pub(crate) fn to(&self) -> &'a ActorRef<M, P> {
        self.to
    }

    /// Lets other tasks have their turns first, as they may on other workers.
    #[cold]
    fn give_way(
        &mut self,
        message: M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        context.waker().wake_by_ref();
        self.keep(message)
    }

    /// Keeps the message until the next turn of this task, which is on its way. A sender that does
    /// not wait for room tries as in its first poll then.
    #[cold]
    fn keep(&mut self, message: M) -> Poll<Result<(), SendError<M>>> {
        self.message = Some(message);
        if P::FULL == Full::Wait {
            self.waits = Waits::Turn;
        }
        Poll::Pending
    }

    /// Stops waiting.
    #[cold]
    #[inline(never)]
    fn leave(&self, waits: Waits) {
        if let (Waits::InLine(ticket), At::Local(own)) = (waits, self.to.place.at()) {
            mailbox::give_back(own, ticket);
        }
    }

    /// Reports to the deadlock detector that this sender waits in line.
    fn note_wait(&mut self, context: &Context<'_>) {
        let At::Local(own) = self.to.place.at() else { return };
        let mailbox: *const Mailbox<M> = &raw const **own;
        self.room.awaited(|| own.id().task(), mailbox.cast(), context.waker());
    }

    #[cold]
    fn wait(&mut self, message: M, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let own = match self.to.place.at() {
            At::Local(own) => own,
            At::Remote(remote) => return self.wait_away(remote, message, context),
        };
        let put = match self.waits {
            Waits::InLine(ticket) => {
                match mailbox::put_with_ticket(own, message, ticket, context.waker()) {
                    Ok(put) => put,
                    Err(message) => {
                        self.message = Some(message);
                        self.note_wait(context);
                        return Poll::Pending;
                    }
                }
            }
            _ => match mailbox::put_or_wait::<M, P>(own, message, context.waker().clone()) {
                Ok(put) => put,
                Err((message, ticket)) => {
                    self.waits = Waits::InLine(ticket);
                    self.message = Some(message);
                    self.note_wait(context);
                    return Poll::Pending;
                }
            },
        };
        self.waits = Waits::No;
        self.room = detect::Room::new();
        Poll::Ready(ActorRef::<M, P>::settle(own, put))
    }

    /// Waits for room on the way to another node, and tries again.
    fn wait_away(
        &mut self,
        remote: Remote,
        mut message: M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        loop {
            // After a turn of the other tasks the sender has not tried yet.
            if let Waits::No = self.waits {
                self.waits = Waits::OnTheWay(Box::new(remote.room()));
            }
            if let Waits::OnTheWay(room) = &mut self.waits
                && room.poll(context).is_pending()
            {
                self.message = Some(message);
                return Poll::Pending;
            }
            self.waits = Waits::No;
            match remote.try_send(message) {
                Err(SendError::Full(again)) => message = again,
                done => return Poll::Ready(done),
            }
        }
    }
}

impl<M: Send + 'static, P: Overflow> Drop for SendFuture<'_, M, P> {
    #[inline]
    fn drop(&mut self) {
        // Taken in any case: the compiler then knows that a future that never waited has nothing to
        // drop.
        match std::mem::take(&mut self.waits) {
            Waits::No => {}
            waits => self.leave(waits),
        }
    }
}

impl<M: Send + 'static, P: Overflow> fmt::Debug for SendFuture<'_, M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFuture")
            .field("to", self.to)
            .field("waits", &!matches!(self.waits, Waits::No))
            .finish()
    }
}
