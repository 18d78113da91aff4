//! The life of an actor without a supervisor.

#![allow(unsafe_code, reason = "the actor's end of its mailbox is made here, and its body dropped")]

use super::end::{self, end};
use super::live::live;
use super::poll::poll;
use crate::actor::Actor;
use crate::mailbox::{Mailbox, Receiver};
use crate::policy::Priority;
use crate::words::exit::ExitReason;
use evenkeel::internal::{Own, Public};
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll};

pin_project_lite::pin_project! {
    /// The future of the task of an actor of type `A`: its body, and the steps that follow when the
    /// body is over, however it ends.
    pub(super) struct Life<A, M, B>
    where
        M: Send,
        M: 'static,
    {
        // Dropped by hand, before others are told of the end.
        #[pin]
        body: ManuallyDrop<B>,
        // None once the actor has ended.
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
            // SAFETY: the pinned value is dropped in place.
            let body = unsafe { this.body.get_unchecked_mut() };
            let Some(own) = this.own.take() else {
                // SAFETY: the body is dropped here, once.
                unsafe { ManuallyDrop::drop(body) };
                return;
            };
            let entered = own.system().enter();
            // SAFETY: as above.
            let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { ManuallyDrop::drop(body) }));
            drop(entered);
            let reason = dropped.map_or_else(end::panicked, |()| ExitReason::Killed);
            // SAFETY: this is the life, and the body is gone.
            unsafe { end::<A, M>(&own, reason) };
        }
    }
}

impl<A: Actor> Life<A, A::Message, ()> {
    /// Creates the life of an actor.
    #[inline]
    pub(super) fn new(
        actor: A,
        own: Public<Mailbox<A::Message>>,
        priority: Priority,
    ) -> Life<A, A::Message, impl Future<Output = ExitReason> + Send> {
        // SAFETY: the life holds the reference. The address is in its body, which is gone before
        // the reference is.
        let address = unsafe { Own::of(&own) };
        // SAFETY: it is the only receiver, as there is one body.
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
        // SAFETY: the body is pinned in place.
        let body = unsafe { this.body.map_unchecked_mut(|body| &mut **body) };
        let reason = match poll(own, body, context) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(reason)) => reason,
            Err(payload) => end::panicked(payload),
        };
        if let Some(own) = this.own.take() {
            // SAFETY: this is the life, and a completed body has dropped its values.
            unsafe { end::<A, M>(&own, reason) };
        }
        Poll::Ready(())
    }
}

/// Without traces, the feature adds nothing to the size of actors and messages.
#[cfg(all(test, target_pointer_width = "64", not(feature = "tracing")))]
mod tests {
    use super::*;
    use crate::mailbox::timers::Timers;
    use crate::{ActorRef, Context, Handled, Recipient, ReplyTo, Stash, System};

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
