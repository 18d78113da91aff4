//! What an actor can do about others.

use super::context::Context;
use crate::actor::Actor;
use crate::kin::control::AnyActor;
use crate::kin::order::Order;
use crate::kin::peer::{Alarm, Peer};
use crate::mailbox::note;
use crate::ties::own::Own;
use crate::ties::peer;
use crate::words::event::{Event, Notice, NoticeKind};
use std::collections::VecDeque;
use std::mem;
use std::task::{self, Poll};
use std::time::Duration;

/// How long a child may take to stop before it is killed, as in Erlang/OTP.
pub(crate) const SHUTDOWN: Duration = Duration::from_secs(5);

/// The alarm of a parent that waits for its children.
const PARENT: usize = usize::MAX;

impl<A: Actor> Context<A> {
    /// Watches an actor: when it ends, for whatever reason, this one is told by [`Event::Down`]; at
    /// once, if it has ended already.
    ///
    /// To watch twice is to watch once. To watch oneself does nothing. A watch keeps neither of the
    /// two. A restart ends nothing, and is not told; but it forgets what the actor that is
    /// restarted has watched.
    ///
    /// An actor of another node can be watched too. If that node is lost or leaves, the reason is
    /// [`ExitReason::NodeDown`](crate::ExitReason::NodeDown); of an actor that had ended before,
    /// and that its node has forgotten, it is
    /// [`ExitReason::Forgotten`](crate::ExitReason::Forgotten); where there are too many watches
    /// and links with that node already, it is
    /// [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies). Costs a message each way.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AnyActor, Context, Event, Handled, ReplyTo, spawn};
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
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let (mourner, other) = (spawn(Mourner::default()), spawn(Other));
    ///     mourner.send(Message::Watch(other.any())).await.unwrap();
    ///     other.kill();
    ///     other.stopped().await;
    ///     while mourner.ask(Message::List).await.unwrap() != ["was killed"] {
    ///         evenkeel::yield_now().await;
    ///     }
    /// });
    /// ```
    pub fn watch(&self, actor: &AnyActor) {
        Own(&self.own()).watch(actor);
    }

    /// Ends a watch. Nothing comes of it any more.
    pub fn unwatch(&self, actor: &AnyActor) {
        Own(&self.own()).unwatch(actor);
    }

    /// Links this actor and another: when one of them ends, and not in order, so does the other, at
    /// its next await, in the middle of a message; unless it [traps exits](Self::trap_exits). The
    /// other may have ended already: then this happens now.
    ///
    /// To link twice is to link once. To link to oneself does nothing. A link keeps neither of the
    /// two. A supervised actor that is ended by a link may be started again; its own restarts end
    /// nothing, and its links stay. A link to an actor that ends while this one is down is gone
    /// without a word: whoever is started anew and needs the other looks for it, or watches it, in
    /// [`started`](crate::Actor::started).
    ///
    /// An actor of another node is linked in the same way. The loss of its node is an end, with the
    /// reason [`ExitReason::NodeDown`](crate::ExitReason::NodeDown); of one that had ended before,
    /// and that its node has forgotten, the reason is
    /// [`ExitReason::Forgotten`](crate::ExitReason::Forgotten), which is none in order. Where there
    /// are too many watches and links with that node already, it is
    /// [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies), at once. Costs a message, and
    /// one at the end.
    pub fn link(&self, actor: &AnyActor) {
        Own(&self.own()).link(actor);
    }

    /// Ends a link, for both. Nothing comes of it any more.
    pub fn unlink(&self, actor: &AnyActor) {
        Own(&self.own()).unlink(actor);
    }

    /// Whether ends of linked actors, those in order too, are told by [`Event::Exit`] instead of
    /// ending this one. Not at first.
    pub fn trap_exits(&self, traps: bool) {
        let _ = note(self.mailbox(), |kin, _| kin.traps = traps);
    }

    pub(crate) fn peer(&self) -> Option<Peer> {
        peer::of(&self.own())
    }

    /// Whether the actor's supervisor has the present start stopped.
    pub(crate) fn is_to_cease(&self) -> bool {
        note(self.mailbox(), |kin, _| kin.is_to_cease()).unwrap_or(false)
    }

    pub(crate) fn has_children(&self) -> bool {
        self.mailbox().has_children()
    }

    /// The actor stops: tells its children to do so, and waits for them.
    pub(crate) fn poll_children(&mut self, task: &task::Context<'_>) -> Poll<()> {
        let waits = self.attend_orders(task);
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
        let (children, left) = note(self.mailbox(), |kin, _| {
            let children: Vec<_> = kin.children.values().cloned().collect();
            let alarm = if children.is_empty() { kin.alarm.take() } else { None };
            (children, alarm)
        })
        .unwrap_or_default();
        drop(left);
        if children.is_empty() {
            self.leave_orders();
            let _ = note(self.mailbox(), |kin, _| kin.stopping = false);
            return Poll::Ready(());
        }
        if late {
            for child in children.iter().rev() {
                child.control().orphan();
            }
        }
        Poll::Pending
    }

    /// Takes all orders, and has the task woken by the next one, whatever messages there are.
    pub(crate) fn attend_orders(&self, task: &task::Context<'_>) -> VecDeque<Order> {
        let waker = task.waker().clone();
        let orders = note(self.mailbox(), |kin, orders| {
            let before = kin.waker.replace(waker);
            (mem::take(orders), before)
        });
        orders.map(|(orders, _before)| orders).unwrap_or_default()
    }

    /// Messages wake the task again. A supervised actor keeps its waker.
    pub(crate) fn leave_orders(&self) {
        let _ =
            note(self.mailbox(), |kin, _| if kin.post.is_none() { kin.waker.take() } else { None });
    }
}

fn is_alarm(order: &Order) -> bool {
    let Order::Event(event) = order else { return false };
    matches!(**event, Event::Notice(Notice { index: PARENT, kind: NoticeKind::Alarm { .. } }))
}
