//! An actor's access to itself.

use super::turn::Turn;
use crate::actor::Actor;
use crate::kin::control::AnyActor;
use crate::kin::order::News;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::mailbox::{Mailbox, Next, Receiver};
use crate::policy::Priority;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::counters::Count;
use crate::words::id::{ActorId, HasId};
use evenkeel::internal::{Own, Public};
use std::fmt;
#[cfg(feature = "tracing")]
use std::num::NonZeroU64;

/// What an actor does before its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The actor handles an event.
    Event,
    /// The actor stops.
    End,
}

/// An actor's access to itself, which its handlers borrow.
///
/// # Examples
/// An actor gives its own reference to another actor, which sends the result back:
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, System, spawn};
///
/// /// Computes squares.
/// struct Squares;
///
/// impl Actor for Squares {
///     type Message = (u64, ActorRef<Message>);
///
///     async fn handle(&mut self, (n, to): Self::Message, _: &mut Context<Self>) -> Handled {
///         // It does not wait for room: the client may be waiting for room here.
///         to.try_send(Message::Square(n * n))?;
///         Ok(())
///     }
/// }
///
/// /// Asks for one square, replies with it, and stops.
/// struct Client(ActorRef<(u64, ActorRef<Message>)>, Option<ReplyTo<u64>>);
///
/// enum Message {
///     Compute(u64, ReplyTo<u64>),
///     Square(u64),
/// }
///
/// impl Actor for Client {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::Compute(n, reply) => {
///                 self.1 = Some(reply);
///                 self.0.send((n, context.actor_ref())).await?;
///                 assert_eq!(context.actor_ref().id(), context.id());
///                 assert_eq!(context.system(), System::current());
///             }
///             Message::Square(square) => {
///                 self.1.take().expect("it has asked").send(square);
///                 context.stop();
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let client = spawn(Client(spawn(Squares), None));
///     assert_eq!(client.ask(|reply| Message::Compute(7, reply)).await, Ok(49));
///     assert!(client.stopped().await.is_normal());
/// });
/// ```
// In this order the count shares no word with a field that is stored separately. A processor that
// reads a word waits for all stores to parts of it: 5 of 85 ns of the life of an actor in
// `evenkeel-bench run --bench actor_spawn`.
#[repr(C)]
pub struct Context<A: Actor> {
    receiver: Receiver<A::Message>,
    turn: Turn,
    /// What comes before the next message.
    before: Before,
    /// Messages that are handled but not yet reported to the mailbox.
    since: u16,
}

impl<A: Actor> Context<A> {
    #[inline]
    pub(crate) fn new(receiver: Receiver<A::Message>, priority: Priority) -> Self {
        Self { receiver, turn: Turn::new(priority), since: 0, before: Before::Nothing }
    }

    /// Returns a reference to the actor itself, with the default policy, whatever policy the actor
    /// was spawned with: a sender waits while the mailbox is full. See
    /// [`actor_ref_with`](Self::actor_ref_with).
    #[must_use]
    pub fn actor_ref(&self) -> ActorRef<A::Message> {
        self.actor_ref_with::<Wait>()
    }

    /// Returns a reference to the actor itself, which applies policy `P` when the mailbox is full.
    ///
    /// [`DropOldest`](crate::DropOldest) is for an actor that was
    /// [spawned](crate::Builder::overflow) with it. In another mailbox the message that it drops
    /// may not be the oldest, and one message may lie there beyond the capacity.
    ///
    /// # Examples
    /// A gauge whose sensor never waits for it:
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Builder, Context, DropOldest, Handled, kit};
    ///
    /// type ToGauge = ActorRef<f64, DropOldest>;
    ///
    /// /// Subscribes to a sensor when it starts.
    /// struct Gauge(ActorRef<ToGauge>, f64);
    ///
    /// impl Actor for Gauge {
    ///     type Message = f64;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         self.0.send(context.actor_ref_with()).await?;
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, reading: f64, _context: &mut Context<Self>) -> Handled {
    ///         self.1 = reading;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let mut sensor = kit.probe::<ToGauge>();
    ///     let builder = Builder::new().capacity(1).overflow::<DropOldest>();
    ///     let gauge = builder.spawn(Gauge(sensor.actor(), 0.0)).unwrap();
    ///     let subscriber = sensor.receive().await.unwrap();
    ///     assert_eq!(subscriber, gauge);
    ///     // The second reading takes the place of the first.
    ///     subscriber.try_send(20.5).unwrap();
    ///     subscriber.try_send(21.0).unwrap();
    ///     assert_eq!((gauge.depth(), kit.dead_letters()), (1, 1));
    /// });
    /// ```
    #[must_use]
    pub fn actor_ref_with<P: Overflow>(&self) -> ActorRef<A::Message, P> {
        ActorRef::local(self.receiver.own().public())
    }

    /// Returns the actor's number, which is unique in this process.
    #[must_use]
    pub fn id(&self) -> ActorId {
        HasId::id(self.receiver.own())
    }

    /// Returns the actor, without the type of its messages.
    ///
    /// # Examples
    /// See [`AnyActor`].
    #[must_use]
    pub fn any(&self) -> AnyActor {
        AnyActor::new(self.receiver.own().public())
    }

    /// Returns the system that the actor belongs to.
    #[must_use]
    pub fn system(&self) -> System {
        self.receiver.own().system()
    }

    /// Returns the number of the current message, event or start: see [`trace`](crate::trace). None
    /// if it is not traced.
    ///
    /// # Examples
    /// See the [crate's page](crate#features).
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn message_id(&self) -> Option<NonZeroU64> {
        crate::trace::current_id().0
    }

    /// Returns the cause of the current message: the number of the message whose handler sent it.
    /// None if the cause was not traced, or if the message came from outside of any actor. For a
    /// message from another node, the cause is what that node reports.
    ///
    /// # Examples
    /// See the [crate's page](crate#features).
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn cause(&self) -> Option<NonZeroU64> {
        crate::trace::current_id().1
    }

    /// Stops the actor after the current message. The messages left in its mailbox become dead
    /// letters.
    pub fn stop(&mut self) {
        self.before = Before::End;
    }

    pub(crate) fn mailbox(&self) -> &Mailbox<A::Message> {
        self.receiver.own()
    }

    /// Returns the actor as traces name it.
    #[inline(always)]
    pub(crate) fn subject(&self) -> &Own<Mailbox<A::Message>> {
        self.receiver.own()
    }

    pub(crate) fn own(&self) -> Public<Mailbox<A::Message>> {
        self.receiver.own().public()
    }

    /// Puts a message that the actor has taken back as its next one.
    pub(crate) fn put_back(&mut self, message: A::Message) {
        self.receiver.put_back(message);
    }

    #[inline(always)]
    pub(crate) fn is_exceptional(&self) -> bool {
        self.before != Before::Nothing
    }

    pub(crate) fn ends(&self) -> bool {
        self.before == Before::End
    }

    pub(crate) fn expect_event(&mut self) {
        self.before = Before::Event;
    }

    pub(crate) fn take_event(&mut self) -> Option<Box<News>> {
        self.before = Before::Nothing;
        self.receiver.take_event()
    }

    /// Ends the turn, and counts the messages that were handled in it.
    #[inline(always)]
    pub(crate) fn end_turn(&mut self) {
        let handled = self.turn.end();
        count(self.receiver.own(), &mut self.since, handled);
    }

    /// Reports all handled messages to the system.
    pub(crate) fn settle(&mut self) {
        self.end_turn();
        let left = u64::from(self.since % 64);
        self.system().counters().add(Count::Messages, left);
    }

    pub(crate) fn receiver(&mut self) -> &mut Receiver<A::Message> {
        &mut self.receiver
    }

    /// Returns whether the actor has nothing to do. If so, its turn is over, and the actor parks
    /// when its poll ends.
    #[inline(always)]
    pub(crate) fn is_idle(&mut self) -> bool {
        let idle = self.receiver.is_idle();
        if idle {
            self.end_turn();
        }
        idle
    }

    /// Returns what the actor does next. The caller has found that it is not idle.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Next<A::Message> {
        self.receiver.next()
    }

    /// Returns whether the actor yields to other tasks after a message.
    #[inline(always)]
    pub(crate) fn is_turn_over(&mut self) -> bool {
        let (own, since) = (self.receiver.own(), &mut self.since);
        self.turn.is_over(|handled| count(own, since, handled))
    }

    /// As [`is_turn_over`](Self::is_turn_over), after an event.
    pub(crate) fn is_turn_over_without(&mut self) -> bool {
        self.turn.is_over_without()
    }

    pub(crate) fn drain(&mut self) {
        self.receiver.drain();
    }
}

/// Counts messages, and reports them to the mailbox 64 at a time.
#[inline(always)]
fn count<M: Send + 'static>(own: &Mailbox<M>, since: &mut u16, handled: u8) {
    let before = *since;
    *since += u16::from(handled);
    if (before ^ *since) & !63 != 0 {
        own.note_handled(((before & 63) + u16::from(handled)) & !63, since);
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("id", &self.id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Actor, Builder, Child, Context, Handled, Priority, ReplyTo, Supervisor, System};

    struct Member;

    enum Message {
        Own(ReplyTo<Priority>),
        Child(ReplyTo<Priority>),
        Panic,
    }

    impl Actor for Member {
        type Message = Message;

        async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
            match message {
                Message::Own(reply) => reply.send(context.turn.priority()),
                Message::Child(reply) => {
                    let low = Builder::new().priority(Priority::Low);
                    let child = context.spawn_with(low, Self)?;
                    child.send(Message::Own(reply)).await?;
                }
                Message::Panic => panic!("on purpose"),
            }
            Ok(())
        }
    }

    #[test]
    fn a_supervised_actor_has_its_priority_in_each_of_its_lives() {
        let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
        runtime.block_on(async {
            let system = System::new();
            system.on_failure(|_| ());
            let high = Builder::new().priority(Priority::High);
            let plain = high.clone().system(system).spawn(Member).unwrap();
            assert_eq!(plain.ask(Message::Own).await, Ok(Priority::High));
            let mut tree = Supervisor::one_for_one().system(system);
            let child = tree.child(Child::new("high", || Member).mailbox(&high).unwrap());
            let other = tree.child(Child::new("normal", || Member));
            let _tree = tree.spawn();
            for restarts in 0..3 {
                assert_eq!(child.ask(Message::Own).await, Ok(Priority::High));
                assert_eq!(child.metrics().restarts, restarts);
                child.send(Message::Panic).await.unwrap();
            }
            assert_eq!(child.ask(Message::Child).await, Ok(Priority::Low));
            assert_eq!(other.ask(Message::Own).await, Ok(Priority::Normal));
        });
    }
}
