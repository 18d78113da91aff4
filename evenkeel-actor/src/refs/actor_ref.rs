//! References to actors.

mod send;
mod weak;

pub use send::SendFuture;
pub use weak::WeakActorRef;

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
use crate::system::subscription::Told;
use crate::ties::steps;
use crate::words::dead_letter::DeadLetterKind;
use crate::words::error::{SendError, TrySendError};
use crate::words::id::{ActorId, HasId};
use crate::words::metrics::ActorMetrics;
use evenkeel::internal::{Public, contain};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A reference to an actor with messages of type `M`. If the actor's mailbox is full, policy `P`
/// decides what happens to a message.
///
/// A clone costs one reference count. An actor without references handles the messages that it has
/// and stops, unless a supervisor keeps it. References on [other
/// nodes](crate::remote::Node#references) count too, however they got there.
///
/// Actors that refer to each other in a circle keep each other for ever. So does an actor with a
/// reference to itself, in its value or in a task that it has spawned. [`stop`](Self::stop) ends
/// them, or one reference of the circle is a [weak](Self::downgrade) one.
///
/// Messages from one task to one actor arrive in the order in which they were sent. For an actor of
/// another node, [closures and forks](crate::remote::Node#messages) that a task starts are other
/// senders, and order holds for the references of each policy. Between references of two policies
/// there is none: a message by one may overtake a message by the other that waits for room.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, SendError, spawn};
///
/// /// Counts words.
/// struct Words(usize);
///
/// enum Message {
///     Text(&'static str),
///     Count(ReplyTo<usize>),
/// }
///
/// impl Actor for Words {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::Text(text) => self.0 += text.split_whitespace().count(),
///             Message::Count(reply) => reply.send(self.0),
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let words = spawn(Words(0));
///     let (sender, first) = (words.clone(), Message::Text("fair winds"));
///     evenkeel::spawn(async move { sender.send(first).await }).await.unwrap().unwrap();
///     assert_eq!(words.ask(Message::Count).await, Ok(2));
///
///     // The actor handles what is in its mailbox, and stops.
///     words.try_send(Message::Text("and following seas")).unwrap();
///     words.stop();
///     assert!(words.stopped().await.is_normal());
///     assert_eq!((words.metrics().handled, words.depth()), (3, 0));
///
///     // Then a message comes back to its sender.
///     let late = words.try_send(Message::Text("too late"));
///     assert!(matches!(late, Err(SendError::Stopped(Message::Text("too late")))));
/// });
/// ```
///
/// References are keys of sets and maps:
/// ```
/// use evenkeel_actor::{ActorRef, AnyActor, kit};
/// use std::collections::{HashMap, HashSet};
///
/// kit::run(1, |kit| async move {
///     let (one, two) = (kit.probe::<u32>().actor(), kit.probe::<u32>().actor());
///     let subscribers = HashSet::from([one.clone(), two.clone(), one.clone()]);
///     assert_eq!(subscribers.len(), 2);
///     let names: HashMap<AnyActor, _> = HashMap::from([(one.into(), "one"), (two.into(), "two")]);
///     assert!(subscribers.iter().all(|actor: &ActorRef<u32>| names.contains_key(&actor.any())));
/// });
/// ```
///
/// The three ways to end an actor differ in what becomes of its messages:
/// ```
/// use evenkeel_actor::{ActorRef, kit};
///
/// kit::run(1, |kit| async move {
///     let how: [fn(&ActorRef<u32>); 3] = [ActorRef::stop, ActorRef::stop_now, ActorRef::kill];
///     let mut ends = Vec::new();
///     for end in how {
///         // An actor that notes its messages, and has not begun.
///         let probe = kit.probe();
///         probe.actor().try_send(7).unwrap();
///         end(&probe.actor());
///         let reason = probe.actor().stopped().await;
///         ends.push((probe.drain(), reason.to_string()));
///     }
///     let [stopped, killed] = ["stopped", "was killed"].map(str::to_owned);
///     assert_eq!(ends, [(vec![7], stopped.clone()), (vec![], stopped), (vec![], killed)]);
///     assert_eq!(kit.dead_letters(), 2);
/// });
/// ```
pub struct ActorRef<M: Send + 'static, P: Overflow = Wait> {
    place: Place<M>,
    policy: PhantomData<P>,
}

/// Where an actor is.
enum Place<M: Send + 'static> {
    /// In this process.
    Local(Public<Mailbox<M>>),
    /// On another node. The reference does not keep the actor, which may have ended.
    Remote(Remote),
    /// On another node, where a lease keeps the actor. The fields lie in the enum itself, where the
    /// words have room for them.
    Leased(RouteId, Arc<Lease>),
}

/// A place, without the difference between leased and not leased.
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

/// Proves that a place is `Send` and `Sync`, for each message type that is `Send`.
const _: () = {
    const fn both<T: Send + Sync>() {}
    #[allow(dead_code, reason = "never called: that it compiles is the proof")]
    const fn of_fields<M: Send + 'static>() {
        both::<Place<M>>();
        both::<weak::Place<M>>();
    }
};

// References are `Send`, also those in messages to the actors that they refer to.
//
// The fields of a reference are `Send` too, but the compiler would derive that from a trait that
// holds for mailboxes of `Send` messages. For a message with a reference to actors of its own kind,
// that proof would be circular, and the compiler refuses it. With the implementation on the
// reference itself the cycle consists of `Send` alone, which is coinductive, and holds.

#[allow(unsafe_code, reason = "the fields are `Send`, but the compiler's proof of it is circular")]
// SAFETY: the constant above compiles only if all fields of a reference are `Send`, for every
// message type that is `Send`.
unsafe impl<M: Send + 'static, P: Overflow> Send for ActorRef<M, P> {}
#[allow(unsafe_code, reason = "the fields are `Sync`, but the compiler's proof of it is circular")]
// SAFETY: as above; the same constant checks `Sync`.
unsafe impl<M: Send + 'static, P: Overflow> Sync for ActorRef<M, P> {}
#[allow(unsafe_code, reason = "as for `ActorRef`")]
// SAFETY: as for `ActorRef`.
unsafe impl<M: Send + 'static, P: Overflow> Send for WeakActorRef<M, P> {}
#[allow(unsafe_code, reason = "as for `ActorRef`")]
// SAFETY: as for `ActorRef`.
unsafe impl<M: Send + 'static, P: Overflow> Sync for WeakActorRef<M, P> {}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    pub(crate) fn local(own: Public<Mailbox<M>>) -> Self {
        Self { place: Place::Local(own), policy: PhantomData }
    }

    /// Returns a reference to an actor on another node, which has lent it with a lease.
    pub(crate) fn leased(route: RouteId, lease: Arc<Lease>) -> Self {
        Self { place: Place::Leased(route, lease), policy: PhantomData }
    }

    /// Sends a message, if that is possible at once. Under [`DropNewest`](crate::DropNewest) and
    /// [`DropOldest`](crate::DropOldest) it is always possible, and a message that the policy drops
    /// counts as a dead letter.
    ///
    /// Costs one locked instruction, and those of a wake-up if the actor is idle: one more where
    /// the runtime has several workers.
    ///
    /// For an actor of another node the result is `Ok` as soon as the message is packed. The actor
    /// may have stopped, or its mailbox be full: only its own node knows that. A message to a
    /// stopped actor becomes a dead letter there. A sender that must know [asks](Self::ask), or
    /// waits for the [end](Self::stopped).
    ///
    /// # Errors
    /// Returns the message if the mailbox is full or the actor has stopped. For an actor of another
    /// node: if there is no room on the way, the node is down, or the message cannot be sent there.
    /// For a message that is not `Sync`, `?` in a handler needs
    /// [`map_err(SendError::without_message)`](SendError::without_message).
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, kit};
    ///
    /// struct Printer;
    ///
    /// impl Actor for Printer {
    ///     type Message = &'static str;
    ///
    ///     async fn handle(&mut self, _page: &'static str, _: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// // The run has one thread: the actor takes nothing out before the next await.
    /// kit::run(1, |kit| async move {
    ///     let printer = Builder::new().capacity(2).spawn(Printer).unwrap();
    ///     printer.try_send("one").unwrap();
    ///     printer.try_send("two").unwrap();
    ///     assert_eq!((printer.depth(), printer.capacity()), (2, 2));
    ///     let full = printer.try_send("three").unwrap_err();
    ///     assert!(full.is_full());
    ///     let page = full.into_message();
    ///     kit.settle().await;
    ///     printer.try_send(page).unwrap();
    /// });
    /// ```
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

    /// Sends news to a subscriber. An actor that drains its mailbox takes none, and one that is
    /// supervised may be restarted after that: it stays a subscriber.
    pub(crate) fn tell_news(&self, news: M) -> Told {
        match self.try_send(news) {
            Ok(()) => Told::Taken,
            Err(SendError::NodeDown(_)) => Told::Gone,
            Err(SendError::Stopped(_)) if self.is_stopped() => Told::Gone,
            Err(_) => Told::Full,
        }
    }

    /// Sends a message to another node. Under a policy that neither waits nor fails, a message that
    /// finds no room on the way becomes a dead letter.
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

    /// As [`try_send`](Self::try_send), and returns whether the message is in the mailbox: false if
    /// the policy has dropped it.
    pub(crate) fn offer(&self, message: M) -> Result<bool, TrySendError<M>> {
        let own = match self.place.at() {
            At::Local(own) => own,
            // This node does not learn what becomes of the message there.
            At::Remote(remote) => {
                return Self::try_send_away(remote, message).map(|()| true);
            }
        };
        let put = mailbox::put::<M, P>(own, message);
        let dropped = matches!(put, Put::Full(_)) && P::FULL == Full::DropNewest;
        Self::settle(own, put).map(|()| !dropped)
    }

    /// The result for a message that did not go in without further steps.
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
                // The dropped message is another sender's, and the new one is in the mailbox.
                contain(|| drop(dropped));
                Ok(())
            }
        }
    }

    fn note_drop(own: &Public<Mailbox<M>>, kind: DeadLetterKind) {
        dead_letters::note::<M>(own.system(), Some(own.id()), kind, 1);
    }

    /// Sends a message. Under [`Wait`] the future waits for room, first come, first served. Under
    /// the other policies it is ready at once.
    ///
    /// For an actor of another node the future waits for room on the way there. It is then `Ok`,
    /// even if the actor has stopped: see [`try_send`](Self::try_send).
    ///
    /// The wait has no limit. Actors whose handlers wait for room at each other, in a circle, wait
    /// for ever: see [`Wait`].
    ///
    /// # Errors
    /// Returns the message if the actor has stopped, or, under [`Fail`](crate::Fail), its mailbox
    /// is full. For an actor of another node: if the node is down or the message cannot be sent
    /// there. For a message that is not `Sync`, `?` in a handler needs
    /// [`map_err(SendError::without_message)`](SendError::without_message).
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has sent nothing, and drops its message.
    ///
    /// # Examples
    /// A sender that waits for room at most for a second:
    /// ```
    /// use evenkeel::time::{sleep, timeout};
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, kit};
    /// use std::time::Duration;
    ///
    /// /// Takes an hour for each message.
    /// struct Slow;
    ///
    /// impl Actor for Slow {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _message: u32, _context: &mut Context<Self>) -> Handled {
    ///         sleep(Duration::from_secs(3_600)).await;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let slow = Builder::new().capacity(1).spawn(Slow).unwrap();
    ///     slow.send(1).await.unwrap();
    ///     kit.settle().await;
    ///     // The actor handles the first message, and the second fills the mailbox.
    ///     slow.send(2).await.unwrap();
    ///     assert!(timeout(Duration::from_secs(1), slow.send(3)).await.is_err());
    ///     // The sender that gave up has sent nothing.
    ///     assert_eq!(slow.metrics().received, 2);
    /// });
    /// ```
    #[inline]
    pub fn send(&self, message: M) -> SendFuture<'_, M, P> {
        SendFuture::new(self, message)
    }

    /// Returns the actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        match self.place.at() {
            At::Local(own) => own.id(),
            At::Remote(remote) => remote.id(),
        }
    }

    /// Returns the system that the actor belongs to.
    #[must_use]
    pub fn system(&self) -> System {
        match self.place.at() {
            At::Local(own) => own.system(),
            At::Remote(remote) => remote.system(),
        }
    }

    /// Has the actor report its end to its system. Returns false if it has stopped.
    pub(crate) fn make_known(&self) -> bool {
        match self.place.at() {
            At::Local(own) => own.make_known(),
            At::Remote(_) => false,
        }
    }

    /// Returns the actor, without the type of its messages.
    ///
    /// # Examples
    /// See [`AnyActor`].
    #[must_use]
    pub fn any(&self) -> AnyActor {
        match self.place.at() {
            At::Local(own) => AnyActor::new(own.clone()),
            At::Remote(remote) => AnyActor::remote(remote, self.lease().cloned()),
        }
    }

    /// Returns a reference that does not keep the actor.
    ///
    /// Costs one locked instruction.
    ///
    /// # Examples
    /// See [`WeakActorRef`].
    #[must_use]
    pub fn downgrade(&self) -> WeakActorRef<M, P> {
        WeakActorRef::of(self)
    }

    /// Stops the actor after the messages that are in its mailbox at this time.
    pub fn stop(&self) {
        match self.place.at() {
            At::Local(own) => drop(mailbox::order(own, Order::Drain)),
            At::Remote(remote) => remote.end(StopHow::Drain),
        }
    }

    /// Kills the actor at its next await that is pending, in the middle of a message. If everything
    /// that a handler awaits is ready, the actor ends with the turn. The messages in its mailbox
    /// become dead letters. A [supervisor](crate::Supervisor) may restart its actor, which then
    /// keeps its mailbox.
    pub fn kill(&self) {
        match self.place.at() {
            At::Local(own) => steps::kill(own),
            At::Remote(remote) => remote.end(StopHow::Kill),
        }
    }

    /// Stops the actor after the message that it is handling. The others become dead letters.
    pub fn stop_now(&self) {
        match self.place.at() {
            At::Local(own) => drop(mailbox::order(own, Order::Stop)),
            At::Remote(remote) => remote.end(StopHow::Stop),
        }
    }

    /// Waits for the end of the actor, and returns the reason. A restart is not an end.
    ///
    /// By then the actor's value and its unhandled messages have been dropped, and its names are
    /// free. The observer of [failures](System::on_failure) and the actors that are linked to it or
    /// watch it have been told. So neither the code of these, nor the destructor of a message that
    /// the actor leaves behind, may block on this future. The future keeps no reference to the
    /// actor.
    ///
    /// The node of a remote actor reports the end in a message. If that is lost, the reason is
    /// [`ExitReason::NodeDown`](crate::ExitReason::NodeDown).
    ///
    /// # Cancel safety
    /// The future may be dropped and requested again: an ended actor returns its reason at once. On
    /// another node that may be [forgotten](crate::ExitReason::Forgotten), or, while the actor
    /// lives, [too many ties](crate::ExitReason::TooManyTies).
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

    /// Returns whether the actor has stopped, so that it takes no message. Other actors may not
    /// have been told yet; [`stopped`](Self::stopped) waits for that. For an actor on another node,
    /// returns whether that node is down.
    ///
    /// # Examples
    /// See [`AnyActor`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self.place.at() {
            At::Local(own) => own.is_closed(),
            At::Remote(remote) => remote.is_down(),
        }
    }

    /// Returns the number of messages in the mailbox. Returns 0 for an actor on another node.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self.place.at() {
            At::Local(own) => own.depth(),
            At::Remote(_) => 0,
        }
    }

    /// Returns the counts of the actor. Those of an actor on another node are unknown here, and all
    /// zero.
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

    /// Returns the capacity of the mailbox in messages. Returns `usize::MAX` for an actor on
    /// another node, where it is unknown.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match self.place.at() {
            At::Local(own) => own.capacity(),
            At::Remote(_) => usize::MAX,
        }
    }
}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    /// Returns the place of the actor, if it is on another node.
    pub(crate) fn remote(&self) -> Option<Remote> {
        match self.place.at() {
            At::Local(_) => None,
            At::Remote(remote) => Some(remote),
        }
    }

    /// Returns the mailbox, if the actor is in this process.
    #[inline]
    pub(crate) fn own(&self) -> Option<&Public<Mailbox<M>>> {
        match self.place.at() {
            At::Local(own) => Some(own),
            At::Remote(_) => None,
        }
    }

    /// Returns the lease that keeps the actor on its node, if that is another node.
    pub(crate) fn lease(&self) -> Option<&Arc<Lease>> {
        match &self.place {
            Place::Leased(_, lease) => Some(lease),
            Place::Local(_) | Place::Remote(_) => None,
        }
    }

    /// Returns the name by which all nodes of the job know an actor of another node. None for a
    /// local actor.
    ///
    /// # Examples
    /// See [`Node::locate`](crate::remote::Node::locate).
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

/// Equal references are of one actor, and have one hash.
impl<M: Send + 'static, P: Overflow> Hash for ActorRef<M, P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.place.at() {
            At::Local(own) => own.id().hash(state),
            At::Remote(remote) => remote.hash(state),
        }
    }
}

impl<M: Send + 'static, P: Overflow> From<ActorRef<M, P>> for AnyActor {
    fn from(actor: ActorRef<M, P>) -> Self {
        actor.any()
    }
}

/// A panic leaves it whole: no critical section of a mailbox runs a caller's code, and a reference
/// gives no access to messages.
impl<M: Send + 'static, P: Overflow> UnwindSafe for ActorRef<M, P> {}
/// A panic leaves it whole through a shared reference too.
impl<M: Send + 'static, P: Overflow> RefUnwindSafe for ActorRef<M, P> {}
/// As for [`ActorRef`].
impl<M: Send + 'static, P: Overflow> UnwindSafe for WeakActorRef<M, P> {}
/// As for [`ActorRef`].
impl<M: Send + 'static, P: Overflow> RefUnwindSafe for WeakActorRef<M, P> {}

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
