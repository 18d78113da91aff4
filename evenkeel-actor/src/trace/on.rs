//! Causes: which message is handled now, and how that goes with what is sent.
//!
//! A thread's variable says it while a handler is polled, and while a message from another node is
//! delivered. Whoever puts a message into a mailbox, a timer, a reply or a frame reads it.

use pin_project_lite::pin_project;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A message in its mailbox.
#[derive(Debug)]
pub(crate) struct Parcel<M> {
    message: M,
    /// Zero if there is none. One from another node is whatever that says.
    cause: u64,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Current {
    /// The number of the message that is handled; zero if there is none, or it is not traced.
    pub(super) id: u64,
    /// Because of which that was sent.
    pub(super) cause: u64,
}

thread_local! {
    static CURRENT: Cell<Current> = const { Cell::new(Current { id: 0, cause: 0 }) };
}

impl Current {
    /// The cause of what is sent now. A message that is not traced passes its own cause on.
    fn for_sent(self) -> u64 {
        if self.id == 0 { self.cause } else { self.id }
    }
}

#[inline]
pub(crate) fn seal<M>(message: M) -> Parcel<M> {
    Parcel { message, cause: CURRENT.get().for_sent() }
}

#[inline]
pub(crate) fn open<M>(parcel: Parcel<M>) -> M {
    parcel.message
}

impl<M> Parcel<M> {
    pub(super) fn cause(&self) -> u64 {
        self.cause
    }

    pub(super) fn into_parts(self) -> (M, u64) {
        (self.message, self.cause)
    }
}

/// What this thread is doing.
pub(crate) fn running() -> Current {
    CURRENT.get()
}

/// The number of the message that is handled, if it is traced, and of the one before it.
pub(crate) fn current_id() -> (Option<NonZeroU64>, Option<NonZeroU64>) {
    let Current { id, cause } = CURRENT.get();
    (NonZeroU64::new(id), NonZeroU64::new(cause))
}

/// What a message to another node says of its cause.
#[inline]
pub(crate) fn current() -> Option<NonZeroU64> {
    NonZeroU64::new(CURRENT.get().for_sent())
}

/// What is done until this is dropped is done because of a message.
pub(crate) struct Within(Current);

impl Within {
    pub(super) fn enter(current: Current) -> Self {
        Self(CURRENT.replace(current))
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// What is done until the guard is dropped is done because of a message of another node.
#[inline]
pub(crate) fn within(cause: Option<NonZeroU64>) -> Within {
    Within::enter(Current { id: 0, cause: cause.map_or(0, NonZeroU64::get) })
}

pin_project! {
    /// The future of [`carry`].
    #[must_use = "a future does nothing until it is polled"]
    pub struct Carried<F> {
        #[pin]
        future: F,
        current: Current,
    }
}

/// Has a future send its messages as if in the handler that calls this: for a task that a handler
/// starts. What the task sends has the cause that the handler's messages have, also when the
/// handler is over. Spans do not go with it; `tracing` has its own ways for them.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, spawn, trace};
///
/// /// Tells what it is sent because of.
/// struct Last;
///
/// impl Actor for Last {
///     type Message = ReplyTo<bool>;
///
///     async fn handle(&mut self, reply: ReplyTo<bool>, context: &mut Context<Self>) -> Handled {
///         reply.send(context.cause().is_some());
///         Ok(())
///     }
/// }
///
/// /// Has a task send what it is sent.
/// struct First(ActorRef<ReplyTo<bool>>);
///
/// impl Actor for First {
///     type Message = ReplyTo<bool>;
///
///     async fn handle(&mut self, reply: ReplyTo<bool>, _: &mut Context<Self>) -> Handled {
///         let last = self.0.clone();
///         drop(evenkeel::spawn(trace::carry(async move { last.send(reply).await })));
///         Ok(())
///     }
/// }
///
/// tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).init();
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let first = spawn(First(spawn(Last)));
///     assert!(first.ask(|reply| reply).await.unwrap());
/// });
/// ```
#[inline]
pub fn carry<F: Future>(future: F) -> Carried<F> {
    Carried { future, current: CURRENT.get() }
}

impl<F: Future> Future for Carried<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _within = Within::enter(*this.current);
        this.future.poll(context)
    }
}

impl<F> fmt::Debug for Carried<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").field("current", &self.current).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{current, within};
    use crate::{Actor, ActorRef, Context, Handled, ReplyTo, spawn};
    use std::num::NonZeroU64;

    type Numbers = (Option<NonZeroU64>, Option<NonZeroU64>);

    /// Has another one answer, if there is one.
    struct Link(Option<ActorRef<ReplyTo<Numbers>>>);

    impl Actor for Link {
        type Message = ReplyTo<Numbers>;

        async fn handle(
            &mut self,
            reply: ReplyTo<Numbers>,
            context: &mut Context<Self>,
        ) -> Handled {
            evenkeel::yield_now().await;
            match &self.0 {
                Some(next) => next.send(reply).await?,
                None => reply.send((context.message_id(), context.cause())),
            }
            Ok(())
        }
    }

    #[test]
    fn what_is_not_traced_passes_its_cause_on() {
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let cause = NonZeroU64::new(7);
        let numbers = runtime.block_on(async {
            let first = spawn(Link(Some(spawn(Link(Some(spawn(Link(None))))))));
            let within = within(cause);
            let mut ask = Box::pin(first.ask(|reply| reply));
            // It is sent at the first poll.
            let waker = std::task::Waker::noop();
            let polled = ask.as_mut().poll(&mut std::task::Context::from_waker(waker));
            assert!(polled.is_pending());
            drop(within);
            ask.await.unwrap()
        });
        assert_eq!(numbers, (None, cause));
    }

    #[test]
    fn what_was_current_is_so_again() {
        let number = NonZeroU64::new;
        assert_eq!(current(), None);
        {
            let _outer = within(number(1));
            {
                let _inner = within(None);
                assert_eq!(current(), None);
            }
            assert_eq!(current(), number(1));
        }
        assert_eq!(current(), None);
    }
}
