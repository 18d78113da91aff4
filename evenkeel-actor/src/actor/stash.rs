//! Messages that an actor puts aside for later.

use super::context::Context;
use crate::actor::Actor;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

/// Messages that an actor puts aside because it cannot handle them yet, up to a bound.
///
/// An actor that waits for one message of many, such as the answer of another actor, keeps the
/// others in a stash. When it can go on, it [takes them out](Self::unstash_all). It handles them
/// before the messages in its mailbox, in the order in which they came.
///
/// A handler may also await an answer, with [`ask`](crate::ActorRef::ask). Then the mailbox keeps
/// the messages that come meanwhile, a full mailbox holds senders back, and two actors that ask
/// each other wait for ever. An actor with a stash can look at each message and choose.
///
/// # What is left
/// A stash is dropped with its actor. The asker of a question in one of its messages gets
/// [`NoReply`](crate::AskError::NoReply).
///
/// # Source
/// The stash of Akka, and its `StashBuffer` for typed actors.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Context, Failure, Handled, ReplyTo, Stash, spawn};
///
/// /// Handles nothing until it knows the rate.
/// struct Converter {
///     rate: Option<u64>,
///     early: Stash<Message>,
/// }
///
/// enum Message {
///     Rate(u64),
///     Convert(u64, ReplyTo<u64>),
/// }
///
/// impl Actor for Converter {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
///         match (message, self.rate) {
///             (Message::Rate(rate), _) => {
///                 self.rate = Some(rate);
///                 self.early.unstash_all(context);
///             }
///             (Message::Convert(amount, reply), Some(rate)) => reply.send(amount * rate),
///             (message, None) => self.early.put(message)?,
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let price = runtime.block_on(async {
///     let converter = spawn(Converter { rate: None, early: Stash::new(100) });
///     let price = converter.ask(|reply| Message::Convert(6, reply));
///     let (price, rate) = futures::join!(price, converter.send(Message::Rate(7)));
///     rate.unwrap();
///     price.unwrap()
/// });
/// assert_eq!(price, 42);
/// ```
pub struct Stash<M> {
    messages: VecDeque<M>,
    capacity: usize,
}

impl<M: Send + 'static> Stash<M> {
    /// Creates a stash for `capacity` messages. The first message allocates the storage. A stash of
    /// capacity 0 takes no message.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self { messages: VecDeque::new(), capacity }
    }

    /// Puts a message aside, behind the others.
    ///
    /// # Errors
    /// Returns the message if the stash is full. With `?` the actor fails with this error.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::Stash;
    ///
    /// let mut stash = Stash::new(2);
    /// assert!(stash.is_empty());
    /// stash.put("first").unwrap();
    /// stash.put("second").unwrap();
    /// assert!(stash.is_full());
    /// let full = stash.put("third").unwrap_err();
    /// assert_eq!(full.into_message(), "third");
    ///
    /// assert_eq!(stash.pop(), Some("first"));
    /// assert_eq!((stash.len(), stash.capacity()), (1, 2));
    /// ```
    pub fn put(&mut self, message: M) -> Result<(), StashFull<M>> {
        if self.is_full() {
            return Err(StashFull(message));
        }
        self.messages.push_back(message);
        Ok(())
    }

    /// Takes all messages out, and has the actor handle them next, before the messages in its
    /// mailbox, in the order in which they came.
    ///
    /// Returns the number of messages.
    pub fn unstash_all<A: Actor<Message = M>>(&mut self, context: &mut Context<A>) -> usize {
        self.unstash(self.messages.len(), context)
    }

    /// As [`unstash_all`](Self::unstash_all), with the oldest `at_most` messages only.
    ///
    /// An actor that does one thing at a time takes out one message whenever it has finished one.
    /// If it took out all of them and put all but the first aside again, the cost would be the
    /// square of their number.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Context, Handled, Stash, kit, spawn};
    ///
    /// /// Prints one page at a time: the printer says when it has done so.
    /// struct Spooler {
    ///     printer: ActorRef<u32>,
    ///     busy: bool,
    ///     queue: Stash<Message>,
    /// }
    ///
    /// enum Message {
    ///     Print(u32),
    ///     Printed,
    /// }
    ///
    /// impl Actor for Spooler {
    ///     type Message = Message;
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Print(_) if self.busy => self.queue.put(message)?,
    ///             Message::Print(page) => {
    ///                 self.busy = true;
    ///                 self.printer.send(page).await?;
    ///             }
    ///             Message::Printed => {
    ///                 self.busy = false;
    ///                 self.queue.unstash(1, context);
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let printer = kit.probe();
    ///     let queue = Stash::new(100);
    ///     let spooler = spawn(Spooler { printer: printer.actor(), busy: false, queue });
    ///     for page in 1..=3 {
    ///         spooler.send(Message::Print(page)).await.unwrap();
    ///     }
    ///     for page in 1..=3 {
    ///         kit.settle().await;
    ///         assert_eq!(printer.drain(), [page]);
    ///         spooler.send(Message::Printed).await.unwrap();
    ///     }
    /// });
    /// ```
    pub fn unstash<A: Actor<Message = M>>(
        &mut self,
        at_most: usize,
        context: &mut Context<A>,
    ) -> usize {
        let number = at_most.min(self.messages.len());
        self.messages.drain(..number).rev().for_each(|message| context.put_back(message));
        number
    }

    /// Takes out the oldest message and returns it to the caller, to handle at once.
    ///
    /// # Examples
    /// See [`put`](Self::put).
    pub fn pop(&mut self) -> Option<M> {
        self.messages.pop_front()
    }

    /// Returns the number of messages in the stash.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether the stash is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns whether the stash is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.messages.len() >= self.capacity
    }

    /// Returns the capacity of the stash in messages.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }
}

impl<M> fmt::Debug for Stash<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, capacity } = self;
        f.debug_struct("Stash").field("len", &messages.len()).field("capacity", capacity).finish()
    }
}

/// The error of a full stash, with the message that did not fit.
///
/// # Examples
/// See [`Stash::put`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StashFull<M>(pub M);

impl<M> StashFull<M> {
    /// Returns the message.
    pub fn into_message(self) -> M {
        self.0
    }
}

impl<M> fmt::Debug for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StashFull(..)")
    }
}

impl<M> fmt::Display for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the actor's stash is full: it waits for a message that does not come, or its capacity is too small",
        )
    }
}

impl<M> Error for StashFull<M> {}
