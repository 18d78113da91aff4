//! Messages that an actor puts aside for later.

use super::context::Context;
use crate::actor::Actor;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

/// Messages that an actor puts aside because it cannot handle them yet, up to a bound.
///
/// An actor that waits for one message of many, such as the answer of another actor, keeps what
/// comes meanwhile in a stash and [takes it out](Self::unstash_all) when it can go on. What is
/// taken out is handled before what lies in the mailbox, in the order in which it came.
///
/// A handler may wait for an answer by itself too, with [`ask`](crate::ActorRef::ask): then the
/// mailbox keeps what comes meanwhile, senders are held back when it is full, and two actors that
/// ask each other wait for ever. An actor with a stash can look at each message and choose.
///
/// # What is left
/// A stash is dropped with its actor. Those who asked for something in one of its messages get
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
    /// A stash for so many messages. Storage appears with the first; a capacity of 0 takes none.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self { messages: VecDeque::new(), capacity }
    }

    /// Puts a message aside, behind the others.
    ///
    /// # Errors
    /// With the message, if the stash is full. By `?` the actor fails with it.
    pub fn put(&mut self, message: M) -> Result<(), StashFull<M>> {
        if self.is_full() {
            return Err(StashFull(message));
        }
        self.messages.push_back(message);
        Ok(())
    }

    /// Has the actor handle all of them next, in the order in which they came, before what lies in
    /// its mailbox.
    ///
    /// Gives how many there were.
    pub fn unstash_all<A: Actor<Message = M>>(&mut self, context: &mut Context<A>) -> usize {
        self.unstash(self.messages.len(), context)
    }

    /// The same with the oldest alone, at most so many.
    ///
    /// An actor that does one thing at a time takes out one when it has done one: to take out all
    /// and put all but the first aside again costs the square of their number.
    pub fn unstash<A: Actor<Message = M>>(
        &mut self,
        at_most: usize,
        context: &mut Context<A>,
    ) -> usize {
        let number = at_most.min(self.messages.len());
        self.messages.drain(..number).rev().for_each(|message| context.put_back(message));
        number
    }

    /// Takes out the oldest, for who sees to it by itself.
    pub fn pop(&mut self) -> Option<M> {
        self.messages.pop_front()
    }

    /// How many messages it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether it takes no more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.messages.len() >= self.capacity
    }

    /// How many it takes.
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

/// A stash has no room for a message, which comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StashFull<M>(pub M);

impl<M> StashFull<M> {
    /// The message.
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
