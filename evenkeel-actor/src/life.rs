//! An actor's life: the future of its task.

#![allow(unsafe_code, reason = "the actor's end of its mailbox is made here")]

use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::context::Context;
use crate::counters::Count;
use crate::dead_letter::{self, DeadLetterKind};
use crate::exit::ExitReason;
use crate::mailbox::overflow::Overflow;
use crate::mailbox::{HasId, Mailbox, Next, Order, Receiver, Settings};
use crate::policy::Priority;
use crate::system::System;
use evenkeel::internal::{Own, Public, now};
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// Spawns an actor.
#[inline]
pub(crate) fn spawn<A: Actor, P: Overflow>(
    actor: A,
    settings: Settings,
    system: System,
    site: &'static Location<'static>,
) -> ActorRef<A::Message, P> {
    system.counters().add(Count::Spawned, 1);
    let settings = if system.measures() { settings.measured() } else { settings };
    let mailbox = Mailbox::new(settings, system);
    let priority = settings.priority;
    ActorRef::local(Public::spawn(mailbox, |own| Life::new(actor, own, priority), site))
}

pin_project_lite::pin_project! {
    /// The future of an actor's task: what it does, and what is seen to when that is over, however it ends.
    struct Life<M, B>
    where
        M: Send,
        M: 'static,
    {
        #[pin]
        body: B,
        // None once it has ended.
        own: Option<Public<Mailbox<M>>>,
    }

    impl<M, B> PinnedDrop for Life<M, B>
    where
        M: Send,
        M: 'static,
    {
        fn drop(this: Pin<&mut Self>) {
            if let Some(own) = this.project().own.take() {
                end(&own, ExitReason::Killed);
            }
        }
    }
}

impl<M: Send + 'static> Life<M, ()> {
    /// The life of an actor, from its start to its end.
    #[inline]
    fn new<A: Actor<Message = M>>(
        actor: A,
        own: Public<Mailbox<M>>,
        priority: Priority,
    ) -> Life<M, impl Future<Output = ExitReason> + Send> {
        // SAFETY: the life has the reference, and what is made of it is in its body, which is gone with it.
        let address = unsafe { Own::of(&own) };
        // SAFETY: it is the only one, as the body is.
        let receiver = unsafe { Receiver::new(address) };
        Life { body: live(actor, receiver, priority), own: Some(own) }
    }
}

impl<M: Send + 'static, B: Future<Output = ExitReason>> Future for Life<M, B> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        let this = self.project();
        let Some(system) = this.own.as_ref().map(|own| own.system()) else {
            return Poll::Ready(());
        };
        let measured = this.own.as_ref().filter(|own| own.is_measured());
        let begun = measured.map(|_| now());
        let poll = || system.run(|| this.body.poll(context));
        let polled = catch_unwind(AssertUnwindSafe(poll));
        if let (Some(own), Some(begun)) = (measured, begun) {
            own.note_busy(now().saturating_sub(begun));
        }
        let reason = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(reason)) => reason,
            Err(payload) => ExitReason::Panicked(words(&*payload)),
        };
        if let Some(own) = this.own.take() {
            end(&own, reason);
        }
        Poll::Ready(())
    }
}

/// What a panic said.
fn words(payload: &(dyn Any + Send)) -> Arc<str> {
    let words = payload.downcast_ref::<&str>().copied();
    let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    words.unwrap_or("something that is no text").into()
}

/// Sees to what an actor leaves behind.
fn end<M: Send + 'static>(own: &Public<Mailbox<M>>, reason: ExitReason) {
    // SAFETY: the actor's body is over, and its receiver with it.
    let left = unsafe { own.close() };
    if !left.is_empty() {
        let kind = DeadLetterKind::LeftBehind;
        dead_letter::note::<M>(own.system(), Some(own.id()), kind, left.len() as u64);
    }
    let counters = own.system().counters();
    counters.add(Count::Ended, 1);
    if reason.is_failure() {
        counters.add(Count::Failed, 1);
    }
    if own.is_known() {
        own.system().forget(own.id());
    }
    drop((left, reason));
}

/// What an actor does.
///
/// One block, which uses what it has captured where it lies: a local that it were moved to, or a function of its own that were awaited, would
/// take the room of the actor, of its context and of each message a second time.
#[inline]
fn live<A: Actor>(
    mut actor: A,
    receiver: Receiver<A::Message>,
    priority: Priority,
) -> impl Future<Output = ExitReason> + Send {
    let mut context = Context::<A>::new(receiver, priority);
    async move {
        context.begin();
        if let Err(failure) = actor.started(&mut context).await {
            return ExitReason::Failed(Arc::new(failure));
        }
        let reason = loop {
            if context.ends() {
                break ExitReason::Normal;
            }
            if context.is_idle() {
                Pause(false).await;
                continue;
            }
            let message = match context.next() {
                Next::Message(message) => message,
                Next::Order(Order::Drain) => {
                    context.drain();
                    continue;
                }
                Next::Nothing => continue,
                Next::Order(Order::Stop) | Next::Drained => break ExitReason::Normal,
                Next::Alone => break ExitReason::Unreferenced,
            };
            if let Err(failure) = actor.handle(message, &mut context).await {
                context.settle();
                return ExitReason::Failed(Arc::new(failure));
            }
            if context.is_turn_over() {
                evenkeel::yield_now().await;
            }
        };
        context.settle();
        actor.stopped(&reason, &mut context).await;
        reason
    }
}

/// The end of a poll: ready when it is polled again.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _context: &mut task::Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
