//! Sending, and waiting for room.

use super::{ActorRef, At};
use crate::mailbox::overflow::{Full, Overflow, Wait};
use crate::mailbox::{self, Mailbox, Put, Ticket};
use crate::refs::away::{Remote, Room};
use crate::words::error::SendError;
use crate::words::id::HasId;
use evenkeel::budget;
use evenkeel::internal::{Public, detect, is_deterministic};
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
        assert!(self.message.is_some(), "a message is sent once");
        if let Waits::No = self.waits {
            if P::FULL == Full::Wait && is_deterministic() {
                return self.give_way(context);
            }
            if budget::poll_consume(context).is_pending() {
                return self.keep();
            }
            let own = match self.to.place.at() {
                At::Local(own) => own,
                At::Remote(remote) => return self.try_away(remote, context),
            };
            match mailbox::put::<M, P>(own, &mut self.message) {
                Put::Done => return Poll::Ready(Ok(())),
                Put::Full if P::FULL == Full::Wait => {}
                other => return self.settle(own, other),
            }
        }
        self.wait(context)
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
    fn give_way(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        context.waker().wake_by_ref();
        self.keep()
    }

    /// Keeps the message until the next turn of this task, which is on its way. A sender that does
    /// not wait for room tries as in its first poll then.
    #[cold]
    fn keep(&mut self) -> Poll<Result<(), SendError<M>>> {
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

    /// The outcome for a message that did not go in without further steps.
    #[cold]
    fn settle(&mut self, own: &Public<Mailbox<M>>, put: Put<M>) -> Poll<Result<(), SendError<M>>> {
        Poll::Ready(ActorRef::<M, P>::settle(own, put, self.message.take()))
    }

    #[cold]
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let own = match self.to.place.at() {
            At::Local(own) => own,
            At::Remote(remote) => return self.wait_away(remote, context),
        };
        let put = match self.waits {
            Waits::InLine(ticket) => {
                mailbox::put_with_ticket(own, &mut self.message, ticket, context.waker())
            }
            _ => {
                let waker = context.waker().clone();
                match mailbox::put_or_wait::<M, P>(own, &mut self.message, waker) {
                    Ok(put) => Some(put),
                    Err(ticket) => {
                        self.waits = Waits::InLine(ticket);
                        None
                    }
                }
            }
        };
        let Some(put) = put else {
            self.note_wait(context);
            return Poll::Pending;
        };
        self.waits = Waits::No;
        self.room = detect::Room::new();
        self.settle(own, put)
    }

    /// Tries to send the message to another node.
    #[inline(never)]
    fn try_away(
        &mut self,
        remote: Remote,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        let message = self.message.take().expect("a message is sent once");
        match ActorRef::<M, P>::try_send_away(remote, message) {
            Err(SendError::Full(message)) if P::FULL == Full::Wait => {
                self.message = Some(message);
                self.wait_away(remote, context)
            }
            result => Poll::Ready(result),
        }
    }

    /// Waits for room on the way to another node, and tries again.
    fn wait_away(
        &mut self,
        remote: Remote,
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
                return Poll::Pending;
            }
            self.waits = Waits::No;
            let message = self.message.take().expect("a message is sent once");
            match remote.try_send(message) {
                Err(SendError::Full(again)) => self.message = Some(again),
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
