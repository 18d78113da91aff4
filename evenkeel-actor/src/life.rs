//! An actor's life: the future of its task.

#![allow(unsafe_code, reason = "the actor's end of its mailbox is made here, and its body dropped")]

use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::context::Context;
use crate::end::{self, end};
use crate::exit::ExitReason;
use crate::kin::Kin;
use crate::kin::order::Order;
use crate::kin::post::Post;
use crate::mailbox::overflow::Overflow;
use crate::mailbox::{Mailbox, Next, Receiver, Settings};
use crate::policy::Priority;
use crate::system::counters::Count;
use crate::system::{Entered, System};
use crate::trace;
use crate::ward::{Ward, begun};
use evenkeel::internal::{Own, Public, contain, detect, now};
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::thread;

/// Counts one more, and says what its mailbox begins with.
#[inline]
fn enter(settings: Settings, system: System) -> Settings {
    system.counters().add(Count::Spawned, 1);
    if system.measures() { settings.measured() } else { settings }
}

/// Spawns an actor.
#[inline]
pub(crate) fn spawn<A: Actor, P: Overflow>(
    actor: A,
    settings: Settings,
    system: System,
    site: &'static Location<'static>,
) -> ActorRef<A::Message, P> {
    let settings = enter(settings, system);
    let mailbox = || Mailbox::new(settings, system);
    let priority = settings.priority;
    ActorRef::local(Public::spawn(mailbox, |own| Life::new(actor, own, priority), site))
}

/// Spawns an actor that has to do with others from the beginning.
pub(crate) fn spawn_with<A: Actor>(
    actor: A,
    settings: Settings,
    system: System,
    kin: Kin,
    site: &'static Location<'static>,
) -> Public<Mailbox<A::Message>> {
    let settings = enter(settings, system);
    let mailbox = || Mailbox::with_kin(settings, system, kin);
    Public::spawn(mailbox, |own| Life::new(actor, own, settings.priority), site)
}

/// Spawns an actor that is made by `factory` whenever its supervisor starts it.
pub(crate) fn spawn_ward<A: Actor>(
    mut factory: impl FnMut() -> A + Send + 'static,
    settings: Settings,
    system: System,
    kin: Kin,
    site: &'static Location<'static>,
) -> Public<Mailbox<A::Message>> {
    let settings = enter(settings, system);
    let name = kin.name.clone();
    let kin = Kin { post: Some(Box::<Post>::default()), ..kin };
    let mailbox = || Mailbox::with_kin(settings, system, kin);
    let make = move |receiver| live(factory(), receiver, settings.priority, begun);
    let own = Public::spawn(mailbox, |own| Ward::<A, _, _, _>::new(own, make), site);
    if let Some(name) = name {
        detect::name(|| own.task_id(), &name);
    }
    own
}

pin_project_lite::pin_project! {
    /// The future of the task of an actor of type `A`: what it does, and what is seen to when that
    /// is over, however it ends.
    struct Life<A, M, B>
    where
        M: Send,
        M: 'static,
    {
        // Dropped by hand: before others are told of the end.
        #[pin]
        body: ManuallyDrop<B>,
        // None once it has ended.
        own: Option<Public<Mailbox<M>>>,
        actor: PhantomData<fn() -> A>,
    }

    impl<A, M, B> PinnedDrop for Life<A, M, B>
    where
        M: Send,
        M: 'static,
    {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            // SAFETY: what is pinned is dropped where it is.
            let body = unsafe { this.body.get_unchecked_mut() };
            let Some(own) = this.own.take() else {
                // SAFETY: it is dropped here, once.
                unsafe { ManuallyDrop::drop(body) };
                return;
            };
            // SAFETY: as above.
            let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { ManuallyDrop::drop(body) }));
            let reason = dropped.map_or_else(end::panicked, |()| ExitReason::Killed);
            // SAFETY: this is the life, and the body is gone.
            unsafe { end::<A, M>(&own, reason) };
        }
    }
}

impl<A: Actor> Life<A, A::Message, ()> {
    /// The life of an actor, from its start to its end.
    #[inline]
    fn new(
        actor: A,
        own: Public<Mailbox<A::Message>>,
        priority: Priority,
    ) -> Life<A, A::Message, impl Future<Output = ExitReason> + Send> {
        // SAFETY: the life has the reference, and what is made of it is in its body, which is gone
        // before.
        let address = unsafe { Own::of(&own) };
        // SAFETY: it is the only one, as the body is.
        let receiver = unsafe { Receiver::new(address) };
        let body = ManuallyDrop::new(live(actor, receiver, priority, |_| ()));
        Life { body, own: Some(own), actor: PhantomData }
    }
}

impl<A, M: Send + 'static, B: Future<Output = ExitReason>> Future for Life<A, M, B> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        let this = self.project();
        let Some(own) = this.own.as_ref() else { return Poll::Ready(()) };
        // SAFETY: the body is pinned where it is.
        let body = unsafe { this.body.map_unchecked_mut(|body| &mut **body) };
        let reason = match poll(own, body, context) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(reason)) => reason,
            Err(payload) => end::panicked(payload),
        };
        if let Some(own) = this.own.take() {
            // SAFETY: this is the life, and a body that is over has dropped what it had.
            unsafe { end::<A, M>(&own, reason) };
        }
        Poll::Ready(())
    }
}

/// Polls a body, as one of its system, and timed if that is asked for.
#[inline(always)]
pub(crate) fn poll<M: Send + 'static, B: Future<Output = ExitReason>>(
    own: &Mailbox<M>,
    body: Pin<&mut B>,
    context: &mut task::Context<'_>,
) -> thread::Result<Poll<ExitReason>> {
    // A guard, not a function that calls back: the body is polled in one place, where it can be in
    // line.
    let attended = if own.is_attended() { Some(Attended::begin(own)) } else { None };
    let polled = catch_unwind(AssertUnwindSafe(|| body.poll(context)));
    if let Some(attended) = attended {
        attended.end();
    }
    polled
}

/// A poll of an actor of another system than the process's, or one that is timed.
struct Attended<'a, M: Send + 'static> {
    own: &'a Mailbox<M>,
    /// When it began, if it is timed: the clock costs more than all else here.
    begun: Option<u64>,
    _entered: Entered,
}

impl<'a, M: Send + 'static> Attended<'a, M> {
    #[cold]
    fn begin(own: &'a Mailbox<M>) -> Self {
        let begun = own.is_measured().then(now);
        Self { own, begun, _entered: own.system().enter() }
    }

    #[cold]
    fn end(self) {
        if let Some(begun) = self.begun {
            self.own.note_busy(now().saturating_sub(begun));
        }
    }
}

/// What an actor does; `begun` is called when it has started.
///
/// One block, which uses what it has captured where it lies: a local that it were moved to, or a
/// function of its own that were awaited, would take the room of the actor, of its context and of
/// each message a second time.
#[inline]
fn live<A: Actor>(
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
                // In a box, as most actors have none, and here, as the match would keep room for a
                // message beside it.
                if let Some(event) = context.take_event()
                    && let Err(failure) = trace::noticing!(
                        A,
                        event,
                        context,
                        Box::pin(actor.0.event(*event, &mut context))
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
                Next::Order(Order::Stop | Order::Cease) | Next::Drained => {
                    break false;
                }
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
        // Twice, not kept: what lives through an await has room of its own in every actor, and is
        // copied out of it in other pieces than it was put in.
        let shown = if alone { &UNREFERENCED } else { &NORMAL };
        trace::stopping!(A, context, actor.0.stopped(shown, &mut context));
        if alone { ExitReason::Unreferenced } else { ExitReason::Normal }
    }
}

/// The value of an actor, which its own panic drops. A second panic out of a drop in that unwinding
/// would end the process, so it stays here, as one does whose future has panicked before: the
/// process's panic hook has told of it.
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

/// What an actor that ends in order is shown.
static NORMAL: ExitReason = ExitReason::Normal;
static UNREFERENCED: ExitReason = ExitReason::Unreferenced;

/// The end of a poll: ready when it is polled again.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _context: &mut task::Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Without traces an actor and what it is sent are as large as they would be if there were none to
/// choose.
#[cfg(all(test, target_pointer_width = "64", not(feature = "tracing")))]
mod tests {
    use super::*;
    use crate::timers::Timers;
    use crate::{Handled, Recipient, ReplyTo, Stash};

    struct Quick(u64);

    impl Actor for Quick {
        type Message = u64;

        async fn handle(&mut self, n: u64, _context: &mut Context<Self>) -> Handled {
            self.0 += n;
            Ok(())
        }
    }

    struct Slow([u64; 8]);

    impl Actor for Slow {
        type Message = [u64; 8];

        async fn handle(&mut self, n: [u64; 8], _context: &mut Context<Self>) -> Handled {
            evenkeel::yield_now().await;
            self.0 = n;
            Ok(())
        }
    }

    fn size_of_life<A: Actor, L>(
        _: impl FnOnce(A, Public<Mailbox<A::Message>>, Priority) -> L,
    ) -> usize {
        size_of::<L>()
    }

    #[test]
    fn an_actor_is_as_small_as_it_was() {
        assert_eq!(size_of_life(Life::<Quick, u64, ()>::new), 80);
        assert_eq!(size_of_life(Life::<Slow, [u64; 8], ()>::new), 264);
        assert_eq!([size_of::<Mailbox<u64>>(), size_of::<Mailbox<[u64; 8]>>()], [80, 80]);
        assert_eq!(size_of::<crate::trace::Parcel<u64>>(), size_of::<u64>());
    }

    #[test]
    fn what_users_hold_is_as_small_as_it_was() {
        assert_eq!(size_of::<ActorRef<u64>>(), 16);
        assert_eq!([size_of::<ReplyTo<u64>>(), size_of::<Recipient<u64>>()], [16, 16]);
        assert_eq!([size_of::<Stash<u64>>(), size_of::<Context<Quick>>()], [40, 24]);
        assert_eq!([size_of::<Timers<u64>>(), size_of::<System>()], [176, 4]);
    }
}
