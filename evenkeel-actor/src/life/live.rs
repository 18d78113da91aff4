//! The body of an actor's life: its loop, from start to end.

#![allow(unsafe_code, reason = "the actor's value is dropped by hand")]

use crate::actor::Actor;
use crate::actor::context::Context;
use crate::kin::order::Order;
use crate::mailbox::{Mailbox, Next, Receiver};
use crate::policy::Priority;
use crate::trace;
use crate::words::exit::ExitReason;
use evenkeel::internal::contain;
use std::future::{Future, poll_fn};
use std::mem::{ManuallyDrop, needs_drop};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::thread;

/// Runs an actor. Calls `begun` when it has started.
///
/// One block, which uses its captured values in place. Moving them to a local, or awaiting a
/// function of its own, would give the actor, its context and each message room twice.
#[inline]
pub(super) fn live<A: Actor>(
    actor: A,
    receiver: Receiver<A::Message>,
    priority: Priority,
    begun: impl FnOnce(&Mailbox<A::Message>) + Send,
) -> impl Future<Output = ExitReason> + Send {
    let mut actor = Value(ManuallyDrop::new(actor));
    let mut context = Context::<A>::new(receiver, priority);
    let born = trace::Born::now();
    async move {
        if let Err(failure) = trace::starting!(A, born, context, actor.0.started(&mut context)) {
            return ExitReason::Failed(Arc::new(failure));
        }
        trace::started::<A>(context.subject());
        begun(context.mailbox());
        let alone = loop {
            if context.is_exceptional() {
                if context.ends() {
                    break false;
                }
                // Boxed, as most actors get no events. Here, as the match below would keep room for
                // a message beside the event.
                if let Some(news) = context.take_event()
                    && let Err(failure) = trace::noticing!(
                        A,
                        news,
                        context,
                        Box::pin(actor.0.event(news.event, &mut context))
                    )
                {
                    context.settle();
                    return ExitReason::Failed(Arc::new(failure));
                }
                if context.is_turn_over_without() {
                    evenkeel::yield_now().await;
                }
                continue;
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
                Next::Event => {
                    context.expect_event();
                    continue;
                }
                Next::Order(Order::Event(_)) | Next::Nothing => continue,
                Next::Order(Order::Stop) => {
                    context.note_stop();
                    break false;
                }
                Next::Order(Order::Cease) | Next::Drained => break false,
                Next::Alone => break true,
            };
            if let Err(failure) =
                trace::handling!(A, message, context, actor.0.handle(message, &mut context))
            {
                context.settle();
                return ExitReason::Failed(Arc::new(failure));
            }
            if context.is_turn_over() {
                evenkeel::yield_now().await;
            }
        };
        context.settle();
        if context.has_children() {
            poll_fn(|task| context.poll_children(task)).await;
        }
        // The reason is chosen twice, not kept. A value that lives through an await has room in
        // every actor, and is copied out in other pieces than it was put in.
        let shown = if alone { &UNREFERENCED } else { &NORMAL };
        trace::stopping!(A, context, actor.0.stopped(shown, &mut context));
        if alone { ExitReason::Unreferenced } else { ExitReason::Normal }
    }
}

/// The value of an actor, which its own panic drops. A second panic, out of a destructor in that
/// unwinding, would abort the process. So it is contained here, like one in the drop of a future
/// that has panicked before: the process's panic hook has reported it.
struct Value<A>(ManuallyDrop<A>);

impl<A> Drop for Value<A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is dropped here, once.
        let mut value = || unsafe { ManuallyDrop::drop(&mut self.0) };
        if needs_drop::<A>() && thread::panicking() {
            contain(value);
        } else {
            value();
        }
    }
}

/// The reasons that an actor that ends in order receives.
static NORMAL: ExitReason = ExitReason::Normal;
static UNREFERENCED: ExitReason = ExitReason::Unreferenced;

/// Ends a poll: ready when it is polled again.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _context: &mut task::Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
