//! References to actors.

mod send;

pub use send::SendFuture;

use super::away::{Lease, Remote, RouteId};
use crate::kin::control::AnyActor;
use crate::kin::order::Order;
use crate::kin::stopped::Stopped;
use crate::mailbox::overflow::{Full, Overflow, Wait};
use crate::mailbox::{self, Mailbox, Put};
use crate::node::Name;
use crate::node::wire::StopHow;
use crate::system::System;
use crate::system::dead_letters;
use crate::ties::steps;
use crate::words::dead_letter::DeadLetterKind;
use crate::words::error::{SendError, TrySendError};
use crate::words::id::{ActorId, HasId};
use crate::words::metrics::ActorMetrics;
use evenkeel::internal::{Public, contain};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A reference to an actor that is sent messages of type `M`, and whose mailbox does with one too
/// many as `P` says.
///
/// Cheap to clone: it counts. An actor whose last reference is gone handles what it has and stops,
/// unless a supervisor keeps it. References on [other nodes](crate::remote::Node#references) count,
/// however they have got there.
///
/// Messages from one task to one actor arrive in the order in which they were sent.
pub struct ActorRef<M: Send + 'static, P: Overflow = Wait> {
    place: Place<M>,
    policy: PhantomData<P>,
}

/// Where an actor is.
enum Place<M: Send + 'static> {
    /// In this process.
    Local(Public<Mailbox<M>>),
    /// On another node, where it may have ended.
    Remote(Remote),
    /// The same, and it is kept there. In the enum itself, where the words have room for it.
    Leased(RouteId, Arc<Lease>),
}

/// The same, whether it is leased or not.
enum At<'a, M: Send + 'static> {
    Local(&'a Public<Mailbox<M>>),
    Remote(Remote),
}

impl<M: Send + 'static> Place<M> {
    #[inline(always)]
    fn at(&self) -> At<'_, M> {
        match self {
            Self::Local(own) => At::Local(own),
            Self::Remote(remote) => At::Remote(*remote),
            Self::Leased(route, lease) => At::Remote(Remote::leased(*route, lease)),
        }
    }
}

impl<M: Send + 'static, P: Overflow> From<Remote> for ActorRef<M, P> {
    fn from(remote: Remote) -> Self {
        Self { place: Place::Remote(remote), policy: PhantomData }
    }
}

/// The proof that a place may be sent and shared, whatever message is sent to it.
const _: () = {
    const fn both<T: Send + Sync>() {}
    #[allow(dead_code, reason = "it is compiled, which is what it is for")]
    const fn of_fields<M: Send + 'static>() {
        both::<Place<M>>();
    }
};

// References may go to other threads, also those in the messages that they are for.
//
// What a reference is made of is `Send` too, but the compiler would find that out by way of a trait
// that holds for mailboxes of messages that are `Send`: for a message with a reference to actors of
// its own kind it would go round in a circle, and refuse. Said of the reference itself the circle
// is one of `Send` alone, which holds.

#[allow(unsafe_code, reason = "what may be sent anyway is said to be")]
// SAFETY: the constant above compiles only if all that a reference is made of may be sent, for
// every message that may.
unsafe impl<M: Send + 'static, P: Overflow> Send for ActorRef<M, P> {}
#[allow(unsafe_code, reason = "what may be shared anyway is said to be")]
// SAFETY: as above; the same constant asks whether it may be shared.
unsafe impl<M: Send + 'static, P: Overflow> Sync for ActorRef<M, P> {}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    pub(crate) fn local(own: Public<Mailbox<M>>) -> Self {
        Self { place: Place::Local(own), policy: PhantomData }
    }

    /// A reference to an actor that another node has leased.
    pub(crate) fn leased(route: RouteId, lease: Arc<Lease>) -> Self {
        Self { place: Place::Leased(route, lease), policy: PhantomData }
    }

    /// Sends a message, if that is possible at once. Under [`DropNewest`](crate::DropNewest) and
    /// [`DropOldest`](crate::DropOldest) it is, and a message that is dropped for it is counted as
    /// a dead letter.
    ///
    /// Costs one locked instruction, and those of a wake-up where the actor waits on another
    /// worker.
    ///
    /// To an actor of another node it is `Ok` as soon as the message is packed, also if the actor
    /// has stopped or its mailbox is full: that is known there alone. A message to one that has
    /// stopped is a dead letter there. Whoever must know [asks](Self::ask), or waits for the
    /// [end](Self::stopped).
    ///
    /// # Errors
    /// With the message, if the mailbox is full or the actor has stopped; of an actor of another
    /// node, if there is no room on the way, the node is down, or the message cannot be sent there.
    #[inline]
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        match self.place.at() {
            At::Local(own) => match mailbox::put::<M, P>(own, message) {
                Put::Done => Ok(()),
                other => Self::settle(own, other),
            },
            At::Remote(remote) => Self::try_send_away(remote, message),
        }
    }

    /// Sends a message to another node. With a policy that never waits or fails, one for which
    /// there is no room on the way is a dead letter.
    #[cold]
    #[inline(never)]
    fn try_send_away(remote: Remote, message: M) -> Result<(), TrySendError<M>> {
        match remote.try_send(message) {
            Err(SendError::Full(dropped))
                if matches!(P::FULL, Full::DropNewest | Full::DropOldest) =>
            {
                let kind = DeadLetterKind::DroppedNewest;
                dead_letters::note::<M>(remote.system(), Some(remote.id()), kind, 1);
                contain(|| drop(dropped));
                Ok(())
            }
            done => done,
        }
    }

    /// The same, and whether the message is in the mailbox now: false if the policy has dropped it.
    pub(crate) fn offer(&self, message: M) -> Result<bool, TrySendError<M>> {
        let own = match self.place.at() {
            At::Local(own) => own,
            // What becomes of it there is not known here.
            At::Remote(remote) => {
                return Self::try_send_away(remote, message).map(|()| true);
            }
        };
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
                contain(|| drop(dropped));
                Ok(())
            }
            Put::Displaced(dropped) => {
                Self::note_drop(own, DeadLetterKind::DroppedOldest);
                // It is another sender's, and the new message is in.
                contain(|| drop(dropped));
                Ok(())
            }
        }
    }

    fn note_drop(own: &Public<Mailbox<M>>, kind: DeadLetterKind) {
        dead_letters::note::<M>(own.system(), Some(own.id()), kind, 1);
    }

    /// Sends a message; under [`Wait`] it waits for room, first come, first served. Under the other
    /// policies the future is ready at once.
    ///
    /// To an actor of another node it waits for room on the way there, and is `Ok` then, also if
    /// the actor has stopped: see [`try_send`](Self::try_send).
    ///
    /// # Errors
    /// With the message, if the actor has stopped, or, under [`Fail`](crate::Fail), its mailbox is
    /// full; of an actor of another node, if the node is down or the message cannot be sent there.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has sent nothing, and its message is dropped.
    #[inline]
    pub fn send(&self, message: M) -> SendFuture<'_, M, P> {
        SendFuture::new(self, message)
    }

    /// The actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        match self.place.at() {
            At::Local(own) => own.id(),
            At::Remote(remote) => remote.id(),
        }
    }

    /// The system that the actor belongs to.
    #[must_use]
    pub fn system(&self) -> System {
        match self.place.at() {
            At::Local(own) => own.system(),
            At::Remote(remote) => remote.system(),
        }
    }

    /// Has the actor's system be told of its end. False if it has stopped.
    pub(crate) fn make_known(&self) -> bool {
        match self.place.at() {
            At::Local(own) => own.make_known(),
            At::Remote(_) => false,
        }
    }

    /// The actor, without the type of its messages.
    #[must_use]
    pub fn any(&self) -> AnyActor {
        match self.place.at() {
            At::Local(own) => AnyActor::new(own.clone()),
            At::Remote(remote) => AnyActor::remote(remote, self.lease().cloned()),
        }
    }

    /// Has the actor stop after the messages that are in its mailbox now.
    pub fn stop(&self) {
        match self.place.at() {
            At::Local(own) => drop(mailbox::order(own, Order::Drain)),
            At::Remote(remote) => remote.end(StopHow::Drain),
        }
    }

    /// Ends the actor at its next await that waits, in the middle of a message; where all that a
    /// handler awaits is ready, at the end of the turn. What is in its mailbox becomes dead
    /// letters. One that is [supervised](crate::Supervisor) may be started again, and keeps its
    /// mailbox then.
    pub fn kill(&self) {
        match self.place.at() {
            At::Local(own) => steps::kill(own),
            At::Remote(remote) => remote.end(StopHow::Kill),
        }
    }

    /// Has the actor stop after the message that it handles now; the others become dead letters.
    pub fn stop_now(&self) {
        match self.place.at() {
            At::Local(own) => drop(mailbox::order(own, Order::Stop)),
            At::Remote(remote) => remote.end(StopHow::Stop),
        }
    }

    /// Waits for the end of the actor, and gives the reason. A restart is not an end.
    ///
    /// What is dropped when it ends has been dropped before: its value and the messages that nobody
    /// has handled. Its names are free, and others have been told: the observer of
    /// [failures](System::on_failure), and those that are linked to it or watch it. So what these
    /// run, or the destructor of a message that the actor leaves behind, must not block on it. The
    /// future keeps no reference to the actor.
    ///
    /// Of an actor of another node its node tells, in a message; if that is lost, the reason is
    /// [`ExitReason::NodeDown`](crate::ExitReason::NodeDown).
    ///
    /// # Cancel safety
    /// It may be dropped and asked for again: an actor that has ended says at once why. On another
    /// node that may be [forgotten](crate::ExitReason::Forgotten).
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
        match self.place.at() {
            At::Local(own) => steps::stopped(own),
            At::Remote(remote) => remote.stopped(),
        }
    }

    /// Whether the actor has stopped, so that it takes no message; others may be about to be told,
    /// for whom [`stopped`](Self::stopped) waits. Of one on another node, whether that node is
    /// down.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self.place.at() {
            At::Local(own) => own.is_closed(),
            At::Remote(remote) => remote.is_down(),
        }
    }

    /// How many messages wait in its mailbox; none are known of in that of an actor on another
    /// node.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self.place.at() {
            At::Local(own) => own.depth(),
            At::Remote(_) => 0,
        }
    }

    /// What has been counted of it; of an actor on another node nothing is known.
    ///
    /// # Examples
    /// See [`ActorMetrics`].
    #[must_use]
    pub fn metrics(&self) -> ActorMetrics {
        match self.place.at() {
            At::Local(own) => own.metrics(),
            At::Remote(_) => ActorMetrics::default(),
        }
    }

    /// How many messages may wait in its mailbox; of an actor on another node that is not known,
    /// and as many as there are numbers.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match self.place.at() {
            At::Local(own) => own.capacity(),
            At::Remote(_) => usize::MAX,
        }
    }
}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    /// Where the actor is, if it is on another node.
    pub(crate) fn remote(&self) -> Option<Remote> {
        match self.place.at() {
            At::Local(_) => None,
            At::Remote(remote) => Some(remote),
        }
    }

    /// The mailbox, if the actor is in this process.
    #[inline]
    pub(crate) fn own(&self) -> Option<&Public<Mailbox<M>>> {
        match self.place.at() {
            At::Local(own) => Some(own),
            At::Remote(_) => None,
        }
    }

    /// What keeps the actor on its node, which is another one.
    pub(crate) fn lease(&self) -> Option<&Arc<Lease>> {
        match &self.place {
            Place::Leased(_, lease) => Some(lease),
            Place::Local(_) | Place::Remote(_) => None,
        }
    }

    /// The name of an actor on another node, under which all nodes of the job know it; none of a
    /// local one.
    #[must_use]
    pub fn remote_name(&self) -> Option<Name> {
        self.remote().map(Remote::name)
    }
}

impl<M: Send + 'static, P: Overflow> Clone for ActorRef<M, P> {
    #[inline]
    fn clone(&self) -> Self {
        match &self.place {
            Place::Local(own) => Self::local(own.clone()),
            Place::Remote(remote) => Self::from(*remote),
            Place::Leased(route, lease) => Self::leased(*route, Arc::clone(lease)),
        }
    }
}

impl<M: Send + 'static, P: Overflow> PartialEq for ActorRef<M, P> {
    fn eq(&self, other: &Self) -> bool {
        match (self.place.at(), other.place.at()) {
            (At::Local(own), At::Local(other)) => own.is_same(other),
            (At::Remote(own), At::Remote(other)) => own == other,
            _ => false,
        }
    }
}

impl<M: Send + 'static, P: Overflow> Eq for ActorRef<M, P> {}

impl<M: Send + 'static, P: Overflow> fmt::Debug for ActorRef<M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.at() {
            At::Local(own) => write!(f, "ActorRef({})", own.id()),
            At::Remote(remote) => write!(f, "ActorRef({remote:?})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ActorRef;

    #[test]
    fn a_message_may_hold_a_reference_to_an_actor_of_its_own_kind() {
        struct Hello {
            _from: ActorRef<Hello>,
            _others: Vec<ActorRef<Hello>>,
        }
        fn goes_anywhere<T: Send + Sync + 'static>() {}
        goes_anywhere::<ActorRef<Hello>>();
        goes_anywhere::<Hello>();
    }
}
