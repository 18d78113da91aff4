//! Actors that collect messages for a test.

use super::PATIENCE;
use super::unexpected::Unexpected;
use crate::actor::context::Context;
use crate::actor::{Actor, Handled};
use crate::life::builder;
use crate::refs::actor_ref::ActorRef;
use crate::refs::ask::ReplyTo;
use evenkeel::budget;
use evenkeel::time::{Instant, timeout};
use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker, ready};
use std::time::Duration;

/// An actor, and the inbox where a test finds the messages sent to it.
///
/// A probe needs no [`Kit`](super::Kit): in any runtime it is an actor like others, and waits by
/// that runtime's clock.
///
/// # Cancel safety
/// A message that has come stays in the inbox unless the future of a wait has returned it. This
/// holds for all waits but [`fish`](Self::fish) and [`fish_within`](Self::fish_within): a message
/// that they have passed over is gone.
///
/// # Examples
/// ```
/// use evenkeel_actor::{ReplyTo, kit};
///
/// #[derive(Debug)]
/// enum Message {
///     Note(u32),
///     Sum(ReplyTo<u32>),
/// }
///
/// kit::run(1, |kit| async move {
///     let mut probe = kit.probe();
///     let actor = probe.actor();
///     let client = evenkeel::spawn(async move {
///         actor.send(Message::Note(7)).await.unwrap();
///         actor.ask(Message::Sum).await.unwrap()
///     });
///     probe.expect_that("a note", |message| matches!(message, Message::Note(_))).await.unwrap();
///     let sum = |message| match message {
///         Message::Sum(reply) => Ok(reply),
///         other => Err(other),
///     };
///     probe.reply("a request for the sum", sum, 7).await.unwrap();
///     assert_eq!(client.await.unwrap(), 7);
/// });
/// ```
///
/// The ways to look at what has come:
/// ```
/// use evenkeel_actor::kit;
/// use std::time::Duration;
///
/// kit::run(1, |kit| async move {
///     let mut probe = kit.probe();
///     let actor = probe.actor();
///     for n in 1..=9 {
///         actor.send(n).await.unwrap();
///     }
///
///     probe.expect(1).await.unwrap();
///     assert_eq!(probe.receive().await.unwrap(), 2);
///     let half = |n| if n % 2 == 1 { Ok(n / 2) } else { Err(n) };
///     assert_eq!(probe.take("an odd number", half).await.unwrap(), 1);
///     // Drops what comes before.
///     assert_eq!(probe.fish("a multiple of 7", |n| n % 7 == 0).await.unwrap(), 7);
///     assert_eq!((probe.len(), probe.drain()), (2, vec![8, 9]));
///     assert!(probe.is_empty());
///
///     // Nothing comes in the next hour.
///     probe.expect_none(Duration::from_secs(3_600)).await.unwrap();
/// });
/// ```
pub struct Probe<M: Send + 'static> {
    actor: ActorRef<M>,
    inbox: Arc<Inbox<M>>,
    patience: Duration,
}

/// The messages that have come.
struct Inbox<M>(Mutex<Came<M>>);

struct Came<M> {
    messages: VecDeque<M>,
    /// The waker of the test that waits for a message.
    waker: Option<Waker>,
}

impl<M> Inbox<M> {
    fn lock(&self) -> MutexGuard<'_, Came<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The probe's actor, which puts all messages into the inbox.
struct Forward<M>(Arc<Inbox<M>>);

impl<M: Send + 'static> Actor for Forward<M> {
    type Message = M;

    async fn handle(&mut self, message: M, _context: &mut Context<Self>) -> Handled {
        let mut came = self.0.lock();
        came.messages.push_back(message);
        let waker = came.waker.take();
        drop(came);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

impl<M: Send + 'static> Probe<M> {
    /// Spawns a probe on the runtime that the caller belongs to.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    ///
    /// # Examples
    /// Without a kit, in a runtime with several workers:
    /// ```
    /// use evenkeel_actor::kit::Probe;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut probe = Probe::new();
    ///     let actor = probe.actor();
    ///     drop(evenkeel::spawn(async move { actor.send(7).await }));
    ///     probe.expect(7).await.unwrap();
    /// });
    /// ```
    #[track_caller]
    #[must_use]
    pub fn new() -> Self {
        let came = Came { messages: VecDeque::new(), waker: None };
        let inbox = Arc::new(Inbox(Mutex::new(came)));
        let actor = builder::spawn(Forward(inbox.clone()));
        Self { actor, inbox, patience: PATIENCE }
    }

    /// Sets how long the probe waits for a message, by the runtime's clock. The default is three
    /// seconds.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::sleep;
    /// use evenkeel_actor::kit;
    /// use std::time::Duration;
    ///
    /// kit::run(1, |kit| async move {
    ///     let mut probe = kit.probe();
    ///     let actor = probe.actor();
    ///     drop(evenkeel::spawn(async move {
    ///         for n in 1..=3 {
    ///             sleep(Duration::from_secs(10)).await;
    ///             actor.send(n).await.unwrap();
    ///         }
    ///     }));
    ///
    ///     // Three seconds are not enough: more for all waits, or for one.
    ///     assert!(probe.receive().await.is_err());
    ///     probe.set_patience(Duration::from_secs(15));
    ///     probe.expect(1).await.unwrap();
    ///     probe.receive_within(Duration::from_millis(1)).await.unwrap_err();
    ///     probe.expect_within(Duration::from_secs(60), 2).await.unwrap();
    ///     probe.expect(3).await.unwrap();
    /// });
    /// ```
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Returns a reference to the actor.
    #[must_use]
    pub fn actor(&self) -> ActorRef<M> {
        self.actor.clone()
    }

    /// Returns the number of messages in the inbox.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inbox.lock().messages.len()
    }

    /// Returns whether the inbox is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all messages in the inbox, oldest first, without a wait.
    #[must_use]
    pub fn drain(&self) -> Vec<M> {
        self.inbox.lock().messages.drain(..).collect()
    }

    /// Waits for a message, at most for `limit`.
    async fn next(&mut self, limit: Duration) -> Option<M> {
        let next = poll_fn(|context| {
            if !self.inbox.lock().messages.is_empty() {
                ready!(budget::poll_consume(context));
            }
            let mut came = self.inbox.lock();
            match came.messages.pop_front() {
                Some(message) => Poll::Ready(message),
                None => {
                    came.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        timeout(limit, next).await.ok()
    }
}

impl<M: Debug + Send + 'static> Probe<M> {
    /// Waits for the next message, and returns it.
    ///
    /// # Errors
    /// If no message comes within the probe's [patience](Self::set_patience).
    ///
    /// # Cancel safety
    /// As for all [waits of a probe](Probe#cancel-safety).
    pub async fn receive(&mut self) -> Result<M, Unexpected> {
        self.receive_within(self.patience).await
    }

    /// Does the same as [`receive`](Self::receive) with another patience.
    ///
    /// # Errors
    /// If no message comes in time.
    ///
    /// # Examples
    /// See [`set_patience`](Self::set_patience).
    pub async fn receive_within(&mut self, limit: Duration) -> Result<M, Unexpected> {
        self.take_within(limit, "a message", Ok).await
    }

    /// Waits for the next message, which has to equal `expected`, and returns it.
    ///
    /// # Errors
    /// If no message comes within the probe's patience, or another one comes.
    pub async fn expect(&mut self, expected: M) -> Result<M, Unexpected>
    where
        M: PartialEq,
    {
        self.expect_within(self.patience, expected).await
    }

    /// Does the same as [`expect`](Self::expect) with another patience.
    ///
    /// # Errors
    /// If no message comes in time, or another one comes.
    ///
    /// # Examples
    /// See [`set_patience`](Self::set_patience).
    pub async fn expect_within(&mut self, limit: Duration, expected: M) -> Result<M, Unexpected>
    where
        M: PartialEq,
    {
        let same = |message| if message == expected { Ok(message) } else { Err(message) };
        self.take_within(limit, &format!("{expected:?}"), same).await
    }

    /// Waits for the next message, which has to pass a test, and returns it. `what` describes the
    /// expected message.
    ///
    /// # Errors
    /// If no message comes within the probe's patience, or the message does not pass.
    pub async fn expect_that(
        &mut self,
        what: &str,
        test: impl FnOnce(&M) -> bool,
    ) -> Result<M, Unexpected> {
        self.take(what, |message| if test(&message) { Ok(message) } else { Err(message) }).await
    }

    /// Waits for the next message, and returns what `take` takes out of it. `take` returns a
    /// message that is not the expected one.
    ///
    /// # Errors
    /// If no message comes within the probe's patience, or `take` returns the message.
    pub async fn take<T>(
        &mut self,
        what: &str,
        take: impl FnOnce(M) -> Result<T, M>,
    ) -> Result<T, Unexpected> {
        self.take_within(self.patience, what, take).await
    }

    /// Does the same as [`take`](Self::take) with another patience.
    ///
    /// # Errors
    /// If no message comes in time, or `take` returns the message.
    pub async fn take_within<T>(
        &mut self,
        limit: Duration,
        what: &str,
        take: impl FnOnce(M) -> Result<T, M>,
    ) -> Result<T, Unexpected> {
        let Some(message) = self.next(limit).await else {
            let (expected, skipped) = (what.to_owned(), Vec::new());
            return Err(Unexpected::Nothing { expected, waited: limit, skipped });
        };
        take(message).map_err(|other| Unexpected::Other {
            expected: what.to_owned(),
            came: format!("{other:?}"),
            behind: self.behind(),
        })
    }

    /// Answers the next message, through the [`ReplyTo`] that `take` takes out of it.
    ///
    /// # Errors
    /// If no message comes within the probe's patience, `take` returns the message, or its sender
    /// has given up.
    pub async fn reply<R: 'static>(
        &mut self,
        what: &str,
        take: impl FnOnce(M) -> Result<ReplyTo<R>, M>,
        reply: R,
    ) -> Result<(), Unexpected> {
        let to = self.take(what, take).await?;
        to.try_send(reply).map_err(|_| Unexpected::GivenUp { expected: what.to_owned() })
    }

    /// Waits for `limit`, and expects no message. With a limit of zero, the inbox has to be empty.
    ///
    /// # Errors
    /// If a message comes.
    pub async fn expect_none(&mut self, limit: Duration) -> Result<(), Unexpected> {
        let start = Instant::now();
        match self.next(limit).await {
            None => Ok(()),
            Some(message) => Err(Unexpected::Message {
                came: format!("{message:?}"),
                waited: start.elapsed(),
                behind: self.behind(),
            }),
        }
    }

    /// Waits for the first message that passes a test, and returns it. It drops the messages
    /// before.
    ///
    /// # Errors
    /// If no such message comes within the probe's patience, which covers the whole wait.
    ///
    /// # Cancel safety
    /// The messages that a dropped future has passed over are gone.
    pub async fn fish(
        &mut self,
        what: &str,
        test: impl FnMut(&M) -> bool,
    ) -> Result<M, Unexpected> {
        self.fish_within(self.patience, what, test).await
    }

    /// Does the same as [`fish`](Self::fish) with another patience.
    ///
    /// # Errors
    /// If no such message comes in time.
    ///
    /// # Examples
    /// A wait that fails lists what it has dropped:
    /// ```
    /// use evenkeel_actor::kit;
    /// use std::time::Duration;
    ///
    /// kit::run(1, |kit| async move {
    ///     let mut probe = kit.probe();
    ///     for n in [1, 2, 3] {
    ///         probe.actor().send(n).await.unwrap();
    ///     }
    ///     let wait = Duration::from_secs(60);
    ///     let error = probe.fish_within(wait, "a great number", |n| *n > 100).await.unwrap_err();
    ///     let text = "expected a great number, and it has not come within 60s; \
    ///                 what has come instead: 1, 2, 3";
    ///     assert_eq!(error.to_string(), text);
    /// });
    /// ```
    pub async fn fish_within(
        &mut self,
        limit: Duration,
        what: &str,
        mut test: impl FnMut(&M) -> bool,
    ) -> Result<M, Unexpected> {
        let (start, mut skipped) = (Instant::now(), Vec::new());
        loop {
            match self.next(limit.saturating_sub(start.elapsed())).await {
                Some(message) if test(&message) => return Ok(message),
                Some(message) => skipped.push(format!("{message:?}")),
                None => {
                    let expected = what.to_owned();
                    return Err(Unexpected::Nothing { expected, waited: limit, skipped });
                }
            }
        }
    }

    /// Returns the messages in the inbox, in words.
    fn behind(&self) -> Vec<String> {
        self.inbox.lock().messages.iter().map(|message| format!("{message:?}")).collect()
    }
}

impl<M: Send + 'static> Default for Probe<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Send + 'static> Debug for Probe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("actor", &self.actor).field("inbox", &self.len()).finish()
    }
}
