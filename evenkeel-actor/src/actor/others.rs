//! What an actor can do with other actors: watch them, link to them, and stop its children.

use super::context::Context;
use crate::actor::Actor;
use crate::kin::control::AnyActor;
use crate::kin::order::Order;
use crate::kin::peer::{Alarm, Peer};
use crate::mailbox::note;
use crate::ties::own::Own;
use crate::ties::peer;
use crate::words::event::{Event, Notice, NoticeKind};
use evenkeel::internal::detect;
use std::collections::VecDeque;
use std::mem;
use std::task::{self, Poll};
use std::time::Duration;

/// How long a child may take to stop before it is killed, as in Erlang/OTP.
pub(crate) const SHUTDOWN: Duration = Duration::from_secs(5);

/// The index of the alarm of a parent that waits for its children.
const PARENT: usize = usize::MAX;

impl<A: Actor> Context<A> {
    /// Watches an actor. When that actor ends, for whatever reason, this one receives
    /// [`Event::Down`]. If it has already ended, the event comes at once.
    ///
    /// Watching an actor twice is the same as watching it once. Watching oneself does nothing. A
    /// watch keeps neither actor alive. A restart of the watched actor is not an end, and causes no
    /// event. A restart of the watching actor removes its watches.
    ///
    /// An actor can also watch an actor of another node. If that node is lost or leaves, the reason
    /// is [`ExitReason::NodeDown`](crate::ExitReason::NodeDown). If the actor ended earlier and its
    /// node has forgotten it, the reason is
    /// [`ExitReason::Forgotten`](crate::ExitReason::Forgotten). If there are already too many
    /// watches and links with that node, it is
    /// [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies). Costs a message each way.
    ///
    /// Neither an [`AnyActor`] nor the reason of an end can be in a message to another node. An
    /// actor that is to be watched there is sent as its [`ActorRef`](crate::ActorRef), and the
    /// reason in words of the program.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, Event, Handled, ReplyTo, kit, spawn};
    ///
    /// #[derive(Default)]
    /// struct Mourner(Vec<String>);
    ///
    /// enum Message {
    ///     Watch(AnyActor),
    ///     List(ReplyTo<Vec<String>>),
    /// }
    ///
    /// impl Actor for Mourner {
    ///     type Message = Message;
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Watch(actor) => context.watch(&actor),
    ///             Message::List(reply) => reply.send(self.0.clone()),
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
    ///         if let Event::Down { reason, .. } = event {
    ///             self.0.push(reason.to_string());
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # struct Other;
    /// # impl Actor for Other {
    /// #     type Message = ();
    /// #     async fn handle(&mut self, _: (), _: &mut Context<Self>) -> Handled { Ok(()) }
    /// # }
    /// kit::run(1, |kit| async move {
    ///     let (mourner, other) = (spawn(Mourner::default()), spawn(Other));
    ///     mourner.send(Message::Watch(other.any())).await.unwrap();
    ///     other.kill();
    ///     kit.settle().await;
    ///     assert_eq!(mourner.ask(Message::List).await.unwrap(), ["was killed"]);
    /// });
    /// ```
    pub fn watch(&self, actor: &AnyActor) {
        Own(&self.own()).watch(actor);
    }

    /// Ends a watch. No event of it arrives afterwards.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, Event, Handled, kit, spawn};
    ///
    /// /// Watches an actor until it is told that the actor may end.
    /// struct Guard(AnyActor);
    ///
    /// impl Actor for Guard {
    ///     type Message = ();
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         context.watch(&self.0);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, _dismissed: (), context: &mut Context<Self>) -> Handled {
    ///         context.unwatch(&self.0);
    ///         Ok(())
    ///     }
    ///
    ///     async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
    ///         unreachable!("{event:?}")
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let treasure = kit.probe::<()>().actor();
    ///     let guard = spawn(Guard(treasure.any()));
    ///     guard.send(()).await.unwrap();
    ///     kit.settle().await;
    ///     treasure.stop();
    ///     treasure.stopped().await;
    ///     kit.settle().await;
    ///     assert!(!guard.is_stopped());
    /// });
    /// ```
    pub fn unwatch(&self, actor: &AnyActor) {
        Own(&self.own()).unwatch(actor);
    }

    /// Links this actor and another. When one of them ends other than in order, the other ends too:
    /// at its next await, in the middle of a message. An actor that [traps exits](Self::trap_exits)
    /// does not end. If the other actor has already ended, the link takes effect at once.
    ///
    /// Linking twice is the same as linking once. Linking to oneself does nothing. A link keeps
    /// neither actor alive. A supervisor may restart an actor that a link has ended. Restarts of a
    /// supervised actor end no other actor, and its links stay. If the linked actor ends while this
    /// one is down, the link disappears without an event. An actor that needs the other after a
    /// restart looks for it, or watches it, in [`started`](crate::Actor::started).
    ///
    /// An actor of another node is linked in the same way. The loss of its node is an end, with the
    /// reason [`ExitReason::NodeDown`](crate::ExitReason::NodeDown). If the actor ended earlier and
    /// its node has forgotten it, the reason is
    /// [`ExitReason::Forgotten`](crate::ExitReason::Forgotten), which is not an end in order. If
    /// there are already too many watches and links with that node, the reason is
    /// [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies), at once. Costs a message, and
    /// one at the end.
    ///
    /// # Examples
    /// The end of one half ends the other half:
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, ExitReason, Handled, spawn};
    ///
    /// struct Half;
    ///
    /// impl Actor for Half {
    ///     type Message = AnyActor;
    ///
    ///     async fn handle(&mut self, other: AnyActor, context: &mut Context<Self>) -> Handled {
    ///         context.link(&other);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let (one, other) = (spawn(Half), spawn(Half));
    ///     one.send(other.any()).await.unwrap();
    ///     other.kill();
    ///     let ExitReason::Linked { actor, reason } = one.stopped().await else { panic!() };
    ///     assert_eq!(actor, other.id());
    ///     assert!(matches!(*reason, ExitReason::Killed));
    /// });
    /// ```
    pub fn link(&self, actor: &AnyActor) {
        Own(&self.own()).link(actor);
    }

    /// Ends a link, for both actors. Neither end affects the other actor afterwards.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, Handled, kit, spawn};
    ///
    /// struct Boat;
    ///
    /// enum Message {
    ///     Tow(AnyActor),
    ///     Cast(AnyActor),
    /// }
    ///
    /// impl Actor for Boat {
    ///     type Message = Message;
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Tow(other) => context.link(&other),
    ///             Message::Cast(other) => context.unlink(&other),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let (tug, barge) = (spawn(Boat), spawn(Boat));
    ///     tug.send(Message::Tow(barge.any())).await.unwrap();
    ///     tug.send(Message::Cast(barge.any())).await.unwrap();
    ///     kit.settle().await;
    ///     // The link is gone on both sides.
    ///     barge.kill();
    ///     barge.stopped().await;
    ///     kit.settle().await;
    ///     assert!(!tug.is_stopped());
    /// });
    /// ```
    pub fn unlink(&self, actor: &AnyActor) {
        Own(&self.own()).unlink(actor);
    }

    /// Sets whether the end of a linked actor, also one in order, arrives as [`Event::Exit`]
    /// instead of ending this actor. The default is false.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, Event, ExitReason, Handled, spawn};
    ///
    /// /// Lives for as long as another actor, and ends in order.
    /// struct Shadow(AnyActor);
    ///
    /// impl Actor for Shadow {
    ///     type Message = ();
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         context.trap_exits(true);
    ///         context.link(&self.0);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    ///
    ///     async fn event(&mut self, event: Event, context: &mut Context<Self>) -> Handled {
    ///         if let Event::Exit { actor, reason: ExitReason::Killed } = event {
    ///             assert_eq!(actor, self.0.id());
    ///             context.stop();
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # struct Other;
    /// # impl Actor for Other {
    /// #     type Message = ();
    /// #     async fn handle(&mut self, _: (), _: &mut Context<Self>) -> Handled { Ok(()) }
    /// # }
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let other = spawn(Other);
    ///     let shadow = spawn(Shadow(other.any()));
    ///     other.kill();
    ///     // Without the trap the reason would be `Linked`.
    ///     assert!(shadow.stopped().await.is_normal());
    /// });
    /// ```
    pub fn trap_exits(&self, traps: bool) {
        let _ = note(self.mailbox(), |kin, _| kin.traps = traps);
    }

    pub(crate) fn peer(&self) -> Option<Peer> {
        peer::of(&self.own())
    }

    /// Returns whether the supervisor has ordered the current incarnation to stop.
    pub(crate) fn is_to_cease(&self) -> bool {
        note(self.mailbox(), |kin, _| kin.is_to_cease()).unwrap_or(false)
    }

    pub(crate) fn has_children(&self) -> bool {
        self.mailbox().has_children()
    }

    /// Tells the children of an actor that stops to stop too, and waits for them.
    pub(crate) fn poll_children(&mut self, task: &task::Context<'_>) -> Poll<()> {
        let waits = self.attend_orders(task);
        if waits.iter().any(Order::is_stop) {
            self.note_stop();
        }
        let children = note(self.mailbox(), |kin, _| {
            let first = mem::replace(&mut kin.stopping, true);
            (!first).then(|| kin.children.values().cloned().collect::<Vec<_>>())
        });
        if let Some(children) = children.ok().flatten() {
            for child in children.iter().rev() {
                child.stop_now();
            }
            let alarm = self.peer().map(|peer| Alarm::after(SHUTDOWN, peer, PARENT, 0));
            let before = note(self.mailbox(), |kin, _| mem::replace(&mut kin.alarm, alarm));
            drop(before);
        }
        let late = waits.iter().any(is_alarm);
        let left = note(self.mailbox(), |kin, _| {
            if kin.children.is_empty() {
                return Err(kin.alarm.take());
            }
            // Each end wakes the parent, which copies the list only for the alarm.
            Ok(if late { kin.children.values().cloned().collect() } else { Vec::new() })
        });
        let Ok(Ok(children)) = left else {
            drop(left);
            self.leave_orders();
            let _ = note(self.mailbox(), |kin, _| kin.stopping = false);
            return Poll::Ready(());
        };
        for child in children.iter().rev() {
            child.control().orphan();
        }
        Poll::Pending
    }

    /// Notes that the actor has taken an order to stop. If it is not restarted after an end in
    /// order, it ends for good, although its supervisor may order it to stop for a restart. Its
    /// mailbox is shut then, as by a drain.
    pub(crate) fn note_stop(&self) {
        if !self.mailbox().has_post() {
            return;
        }
        let ends = note(self.mailbox(), |kin, _| kin.post.as_ref().is_some_and(|post| post.ends));
        if ends.unwrap_or(false) {
            self.mailbox().shut();
        }
    }

    /// Takes all orders, and registers the task's waker, so that the next order wakes the task even
    /// if messages are waiting.
    pub(crate) fn attend_orders(&self, task: &task::Context<'_>) -> VecDeque<Order> {
        let waker = task.waker().clone();
        let orders = note(self.mailbox(), |kin, orders| {
            kin.kept = None;
            let before = kin.waker.replace(waker);
            (mem::take(orders), before)
        });
        orders.map(|(orders, _before)| orders).unwrap_or_default()
    }

    /// Removes the waker, so that messages wake the task again. A supervised actor keeps its waker.
    pub(crate) fn leave_orders(&self) {
        let _ = note(self.mailbox(), |kin, _| {
            if kin.post.is_none() {
                return kin.waker.take();
            }
            kin.kept.get_or_insert_with(|| detect::Kept::of(|| self.id().task()));
            None
        });
    }
}

fn is_alarm(order: &Order) -> bool {
    let Order::Event(news) = order else { return false };
    matches!(news.event, Event::Notice(Notice { index: PARENT, kind: NoticeKind::Alarm { .. } }))
}
