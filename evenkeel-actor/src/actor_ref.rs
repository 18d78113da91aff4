//! References to actors.

use crate::ask::{Ask, Posed, Question};
use crate::control::{ActorId, AnyActor};
use crate::dead_letter::{self, DeadLetterKind};
use crate::error::{SendError, TrySendError};
use crate::kin::{Stopped, ties};
use crate::mailbox::overflow::{Full, Overflow, Wait};
use crate::mailbox::{self, HasId, Mailbox, Put, Ticket};
use crate::metrics::ActorMetrics;
use crate::system::System;
use evenkeel::internal::{Public, detect, is_deterministic};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A reference to an actor that is sent messages of type `M`, and whose mailbox does with one too many as `P` says.
///
/// Cheap to clone: it counts. An actor whose last reference is gone handles what it has and stops, unless a supervisor keeps it.
///
/// Messages from one task to one actor arrive in the order in which they were sent.
pub struct ActorRef<M: std::marker::Send + 'static, P: Overflow = Wait> {
    place: Place<M>,
    policy: PhantomData<P>,
}

/// Where an actor is.
enum Place<M: std::marker::Send + 'static> {
    /// In this process.
    Local(Public<Mailbox<M>>),
}

/// The proof that a place may be sent and shared, whatever message is sent to it: [`auto`](crate::auto) says so of references.
const _: () = {
    const fn both<T: std::marker::Send + Sync>() {}
    #[allow(dead_code, reason = "it is compiled, which is what it is for")]
    const fn of_fields<M: std::marker::Send + 'static>() {
        both::<Place<M>>();
    }
};

impl<M: std::marker::Send + 'static, P: Overflow> ActorRef<M, P> {
    pub(crate) fn local(own: Public<Mailbox<M>>) -> Self {
        Self { place: Place::Local(own), policy: PhantomData }
    }

    /// Sends a message, if that is possible at once. Under [`DropNewest`](crate::DropNewest) and [`DropOldest`](crate::DropOldest) it is, and a
    /// message that is dropped for it is counted as a dead letter.
    ///
    /// Costs one locked instruction, and those of a wake-up where the actor waits on another worker.
    ///
    /// # Errors
    /// With the message, if the mailbox is full or the actor has stopped.
    #[inline]
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        match &self.place {
            Place::Local(own) => match mailbox::put::<M, P>(own, message) {
                Put::Done => Ok(()),
                other => Self::settle(own, other),
            },
        }
    }

    /// The same, and whether the message is in the mailbox now: false if the policy has dropped it.
    pub(crate) fn offer(&self, message: M) -> Result<bool, TrySendError<M>> {
        let Place::Local(own) = &self.place;
        let put = mailbox::put::<M, P>(own, message);
        let dropped = matches!(put, Put::Full(_)) && P::FULL == Full::DropNewest;
        Self::settle(own, put).map(|()| !dropped)
    }

    /// What a message that did not simply go in comes to.
    #[cold]
    fn settle(own: &Public<Mailbox<M>>, put: Put<M>) -> Result<(), TrySendError<M>> {
        match put {
            Put::Done => Ok(()),
            Put::Stopped(message) => Err(SendError::Stopped(message)),
            Put::Full(message) if P::FULL != Full::DropNewest => Err(SendError::Full(message)),
            Put::Full(dropped) => {
                Self::note_drop(own, DeadLetterKind::DroppedNewest);
                drop(dropped);
                Ok(())
            }
            Put::Displaced(dropped) => {
                Self::note_drop(own, DeadLetterKind::DroppedOldest);
                drop(dropped);
                Ok(())
            }
        }
    }

    fn note_drop(own: &Public<Mailbox<M>>, kind: DeadLetterKind) {
        dead_letter::note::<M>(own.system(), Some(own.id()), kind, 1);
    }

    /// Sends a message; under [`Wait`] it waits for room, first come, first served. Under the other policies the future is ready at once.
    ///
    /// # Errors
    /// With the message, if the actor has stopped, or, under [`Fail`](crate::Fail), its mailbox is full.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has sent nothing, and its message is dropped.
    #[inline]
    pub fn send(&self, message: M) -> Send<'_, M, P> {
        Send { to: self, message: Some(message), ticket: None, room: detect::Room::new() }
    }

    /// Asks the actor and waits for its answer. The question is a closure or a constructor that makes a message with a [`ReplyTo`](crate::ReplyTo) in it, or a
    /// [`Request`](crate::Request).
    ///
    /// The future sends the request and gives the reply; [`timeout`](Ask::timeout) limits both together.
    ///
    /// # Examples
    /// See the [crate's page](crate), and [`Request`](crate::Request).
    #[inline]
    pub fn ask<Form, Q: Question<M, Form>>(&self, question: Q) -> Ask<'_, M, Q::Reply, P> {
        let Posed { message, reply } = Posed::new(|reply| question.into_message(reply));
        Ask::new(self.send(message), reply)
    }

    /// The actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        match &self.place {
            Place::Local(own) => own.id(),
        }
    }

    /// The system that the actor belongs to.
    #[must_use]
    pub fn system(&self) -> System {
        match &self.place {
            Place::Local(own) => own.system(),
        }
    }

    /// Has the actor's system be told of its end. False if it has stopped.
    pub(crate) fn make_known(&self) -> bool {
        match &self.place {
            Place::Local(own) => own.make_known(),
        }
    }

    /// The actor, without the type of its messages.
    #[must_use]
    pub fn any(&self) -> AnyActor {
        match &self.place {
            Place::Local(own) => AnyActor::local(own.clone()),
        }
    }

    /// Has the actor stop after the messages that are in its mailbox now.
    pub fn stop(&self) {
        match &self.place {
            Place::Local(own) => drop(mailbox::order(own, mailbox::Order::Drain)),
        }
    }

    /// Ends the actor at its next await, in the middle of a message. What is in its mailbox becomes dead letters. One that is
    /// [supervised](crate::Supervisor) may be started again, and keeps its mailbox then.
    pub fn kill(&self) {
        match &self.place {
            Place::Local(own) => ties::kill(own),
        }
    }

    /// Has the actor stop after the message that it handles now; the others become dead letters.
    pub fn stop_now(&self) {
        match &self.place {
            Place::Local(own) => drop(mailbox::order(own, mailbox::Order::Stop)),
        }
    }

    /// Waits for the end of the actor, and gives the reason. A restart is not an end.
    ///
    /// What is dropped when it ends has been dropped before: its value and the messages that nobody has handled. The future keeps no reference to the actor.
    ///
    /// # Cancel safety
    /// It may be dropped and asked for again: an actor that has ended says at once why.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, ExitReason, Handled, spawn};
    ///
    /// struct Fragile;
    ///
    /// impl Actor for Fragile {
    ///     type Message = String;
    ///
    ///     async fn handle(&mut self, number: String, _context: &mut Context<Self>) -> Handled {
    ///         number.parse::<u32>()?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let actor = spawn(Fragile);
    ///     actor.send("seven".to_owned()).await.unwrap();
    ///     let reason = actor.stopped().await;
    ///     assert!(matches!(reason, ExitReason::Failed(_)));
    /// });
    /// ```
    pub fn stopped(&self) -> Stopped {
        match &self.place {
            Place::Local(own) => ties::stopped(own),
        }
    }

    /// Whether the actor has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match &self.place {
            Place::Local(own) => own.is_closed(),
        }
    }

    /// How many messages wait in its mailbox.
    #[must_use]
    pub fn depth(&self) -> usize {
        match &self.place {
            Place::Local(own) => own.depth(),
        }
    }

    /// What has been counted of it.
    ///
    /// # Examples
    /// See [`ActorMetrics`].
    #[must_use]
    pub fn metrics(&self) -> ActorMetrics {
        match &self.place {
            Place::Local(own) => own.metrics(),
        }
    }

    /// How many messages may wait in its mailbox.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match &self.place {
            Place::Local(own) => own.capacity(),
        }
    }
}

impl<M: std::marker::Send + 'static, P: Overflow> Clone for ActorRef<M, P> {
    #[inline]
    fn clone(&self) -> Self {
        match &self.place {
            Place::Local(own) => Self::local(own.clone()),
        }
    }
}

impl<M: std::marker::Send + 'static, P: Overflow> PartialEq for ActorRef<M, P> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::Local(own), Place::Local(other)) => own.is_same(other),
        }
    }
}

impl<M: std::marker::Send + 'static, P: Overflow> Eq for ActorRef<M, P> {}

impl<M: std::marker::Send + 'static, P: Overflow> fmt::Debug for ActorRef<M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef({})", self.id())
    }
}

/// The future of [`ActorRef::send`].
#[must_use = "a message is sent when its future is awaited"]
pub struct Send<'a, M: std::marker::Send + 'static, P: Overflow = Wait> {
    to: &'a ActorRef<M, P>,
    /// None once it is sent.
    message: Option<M>,
    ticket: Option<Ticket>,
    /// What is told of it where deadlocks are looked for.
    room: detect::Room,
}

/// The message is moved, never pinned.
impl<M: std::marker::Send + 'static, P: Overflow> Unpin for Send<'_, M, P> {}

impl<M: std::marker::Send + 'static, P: Overflow> Future for Send<'_, M, P> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let message = self.message.take().expect("a message is sent once");
        if self.ticket.is_none() {
            if P::FULL == Full::Wait && is_deterministic() {
                return self.give_way(message, context);
            }
            match self.to.try_send(message) {
                // Not by the last arm, which would move the room for a message too.
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

impl<M: std::marker::Send + 'static, P: Overflow> Send<'_, M, P> {
    pub(crate) fn to(&self) -> &ActorRef<M, P> {
        self.to
    }

    /// Lets others have their turns first, as they may on other workers.
    #[cold]
    fn give_way(
        &mut self,
        message: M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        (self.message, self.ticket) = (Some(message), Some(Ticket::TURN));
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Notes that it waits in line.
    fn note_wait(&mut self, context: &Context<'_>) {
        let Place::Local(own) = &self.to.place;
        let mailbox: *const Mailbox<M> = &raw const **own;
        self.room.awaited(|| own.id().0, mailbox.cast(), context.waker());
    }

    #[cold]
    fn wait(&mut self, message: M, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let Place::Local(own) = &self.to.place;
        let put = match self.ticket.filter(|&ticket| ticket != Ticket::TURN) {
            None => match mailbox::put_or_wait::<M, P>(own, message, context.waker().clone()) {
                Ok(put) => put,
                Err((message, ticket)) => {
                    self.ticket = Some(ticket);
                    self.message = Some(message);
                    self.note_wait(context);
                    return Poll::Pending;
                }
            },
            Some(ticket) => match mailbox::put_with_ticket(own, message, ticket, context.waker()) {
                Ok(put) => put,
                Err(message) => {
                    self.message = Some(message);
                    self.note_wait(context);
                    return Poll::Pending;
                }
            },
        };
        self.ticket = None;
        self.room = detect::Room::new();
        Poll::Ready(ActorRef::<M, P>::settle(own, put))
    }
}

impl<M: std::marker::Send + 'static, P: Overflow> Drop for Send<'_, M, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && ticket != Ticket::TURN
        {
            let Place::Local(own) = &self.to.place;
            mailbox::give_back(own, ticket);
        }
    }
}

impl<M: std::marker::Send + 'static, P: Overflow> fmt::Debug for Send<'_, M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Send").field("to", self.to).field("waits", &self.ticket.is_some()).finish()
    }
}
