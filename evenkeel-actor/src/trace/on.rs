//! Causes: which message a thread handles, and how its number goes with the messages sent
//! meanwhile.
//!
//! A thread-local variable has the number while a handler is polled, and while a message from
//! another node is delivered. Code that puts a message into a mailbox, a timer, a reply or a frame
//! reads it.

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
    /// Zero if there is none. A cause from another node is what that node says.
    cause: u64,
}

/// What a thread is handling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Current {
    /// The number of the message in hand; zero if there is none, or it is not traced.
    pub(super) id: u64,
    /// The number of the message that caused it.
    pub(super) cause: u64,
}

thread_local! {
    static CURRENT: Cell<Current> = const { Cell::new(Current { id: 0, cause: 0 }) };
}

impl Current {
    /// Returns the cause of messages sent meanwhile. A message that is not traced passes its own
    /// cause on.
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

/// Returns what this thread is handling.
pub(crate) fn running() -> Current {
    CURRENT.get()
}

/// Returns the number of the message in hand, if it is traced, and the number of its cause.
pub(crate) fn current_id() -> (Option<NonZeroU64>, Option<NonZeroU64>) {
    let Current { id, cause } = CURRENT.get();
    (NonZeroU64::new(id), NonZeroU64::new(cause))
}

/// Returns the cause that a message to another node carries.
#[inline]
pub(crate) fn current() -> Option<NonZeroU64> {
    NonZeroU64::new(CURRENT.get().for_sent())
}

/// A guard. Until it is dropped, a message is the cause of what the thread does.
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

/// Makes a message of another node the cause of what the thread does, until the guard is dropped.
#[inline]
pub(crate) fn within(cause: Option<NonZeroU64>) -> Within {
    Within::enter(Current { id: 0, cause: cause.map_or(0, NonZeroU64::get) })
}

pin_project! {
    /// The future of [`carry`], which has an example.
    #[must_use = "a future does nothing until it is polled"]
    pub struct Carried<F> {
        #[pin]
        future: F,
        current: Current,
    }
}

/// Makes a future send its messages as the calling handler does: for a task that a handler starts.
/// The task's messages have the cause that the handler's messages have, also after the handler has
/// ended. Spans do not follow the task; `tracing` has its own ways for them.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, spawn, trace};
///
/// /// Answers whether its message has a cause.
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
/// /// Has a task pass its message on.
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

    /// Has the next actor answer, if there is one.
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
        let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
        let cause = NonZeroU64::new(7);
        let numbers = runtime.block_on(async {
            let first = spawn(Link(Some(spawn(Link(Some(spawn(Link(None))))))));
            let within = within(cause);
            let mut ask = Box::pin(first.ask(|reply| reply));
            // The ask sends at its first poll.
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
