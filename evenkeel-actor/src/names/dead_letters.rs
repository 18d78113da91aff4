//! Actors that receive dead letters.

use crate::actor::context::Context;
use crate::actor::{Actor, Handled};
use crate::life::builder::Builder;
use crate::mailbox::overflow::{Fail, Overflow};
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::subscription::Subscription;
use crate::words::dead_letter::DeadLetter;

/// The number of records that may wait for a closure. An estimate: one burst, in some 40 kilobytes;
/// no benchmark sets it.
const RECORDS: usize = 1_024;

/// The actor of [`System::on_dead_letter`].
struct Watch<F> {
    tell: F,
    system: System,
}

impl<F> Drop for Watch<F> {
    fn drop(&mut self) {
        self.system.subscribers().ends();
    }
}

/// Counts a [`Watch`] that has begun at its drop. That is after the actor is counted as spawned: so
/// the system never counts too few actors. A spawn that panics drops the `Watch`, which counts its
/// end, so this counts then too.
struct Begins(System);

impl Drop for Begins {
    fn drop(&mut self) {
        self.0.subscribers().has_begun();
    }
}

impl<F: FnMut(DeadLetter) + Send + 'static> Actor for Watch<F> {
    type Message = DeadLetter;

    async fn handle(&mut self, letter: DeadLetter, _context: &mut Context<Self>) -> Handled {
        (self.tell)(letter);
        Ok(())
    }
}

/// Dead letters.
impl System {
    /// Sends an actor a record of each later dead letter, until the subscription is dropped or the
    /// actor has stopped.
    ///
    /// The thread that finds a dead letter never waits for the actor, even if its policy `P` has
    /// senders wait. A record that a full mailbox refuses is
    /// [counted](Self::unrecorded_dead_letters) and left out. The subscription counts as a
    /// reference to the actor.
    ///
    /// An actor of another node is sent no records of messages that another node has sent to this
    /// one: these could be records that do not get to their subscriber, and would go round for
    /// ever. They are counted as unrecorded. Subscribe an actor on each node to hear of all.
    ///
    /// # Examples
    /// An actor that counts the dead letters of each type of message:
    /// ```
    /// use evenkeel_actor::{Actor, Context, DeadLetter, Handled, ReplyTo, kit, spawn};
    /// use std::collections::BTreeMap;
    ///
    /// #[derive(Default)]
    /// struct Counts(BTreeMap<&'static str, u64>);
    ///
    /// enum Message {
    ///     Letter(DeadLetter),
    ///     Get(ReplyTo<BTreeMap<&'static str, u64>>),
    /// }
    ///
    /// impl From<DeadLetter> for Message {
    ///     fn from(letter: DeadLetter) -> Self {
    ///         Self::Letter(letter)
    ///     }
    /// }
    ///
    /// impl Actor for Counts {
    ///     type Message = Message;
    ///
    ///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Letter(DeadLetter { message, count, .. }) => {
    ///                 *self.0.entry(message).or_default() += count;
    ///             }
    ///             Message::Get(reply) => reply.send(self.0.clone()),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let counts = spawn(Counts::default());
    ///     // For as long as the actor lives.
    ///     kit.system().send_dead_letters_to(&counts).keep();
    ///
    ///     let (numbers, words) = (kit.probe::<u32>().actor(), kit.probe::<bool>().actor());
    ///     numbers.try_send(1).unwrap();
    ///     numbers.try_send(2).unwrap();
    ///     words.try_send(true).unwrap();
    ///     numbers.stop_now();
    ///     words.stop_now();
    ///     kit.settle().await;
    ///     let expected = BTreeMap::from([("bool", 1), ("u32", 2)]);
    ///     assert_eq!(counts.ask(Message::Get).await, Ok(expected));
    /// });
    /// ```
    pub fn send_dead_letters_to<M, P>(self, actor: &ActorRef<M, P>) -> Subscription
    where
        M: From<DeadLetter> + Send + 'static,
        P: Overflow,
    {
        let (actor, is_away) = (actor.clone(), actor.remote().is_some());
        let any = actor.any();
        let tell = move |letter: &DeadLetter| actor.tell_news(M::from(letter.clone()));
        self.subscribers().add(any, is_away, tell)
    }

    /// Calls `f` with a record of each later dead letter, until the subscription is dropped. An
    /// actor of its own calls `f`, for one record after the other. Records that arrive faster than
    /// it handles them wait, at most 1,024.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, DeadLetterKind, Handled, System};
    ///
    /// struct Deaf;
    ///
    /// impl Actor for Deaf {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _message: u32, context: &mut Context<Self>) -> Handled {
    ///         context.actor_ref().try_send(2).unwrap();
    ///         context.stop();
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let letter = runtime.block_on(async {
    ///     let system = System::new();
    ///     let _subscription = system.on_dead_letter(move |letter| sender.send(letter).unwrap());
    ///     let deaf = Builder::new().system(system).spawn(Deaf).unwrap();
    ///     deaf.try_send(1).unwrap();
    ///     loop {
    ///         match receiver.try_recv() {
    ///             Ok(letter) => break letter,
    ///             Err(_) => evenkeel::yield_now().await,
    ///         }
    ///     }
    /// });
    /// assert_eq!(letter.kind, DeadLetterKind::LeftBehind);
    /// assert_eq!((letter.message, letter.count), ("u32", 1));
    /// ```
    #[track_caller]
    pub fn on_dead_letter(self, f: impl FnMut(DeadLetter) + Send + 'static) -> Subscription {
        let builder = Builder::new().capacity(RECORDS).overflow::<Fail>().system(self);
        let watch = Watch { tell: f, system: self };
        let begins = Begins(self);
        let watch = builder.spawn(watch).expect("a mailbox may have this capacity");
        drop(begins);
        self.send_dead_letters_to(&watch)
    }
}

#[cfg(test)]
mod tests {
    use crate::system::System;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn an_actor_that_is_not_spawned_for_want_of_a_runtime_counts_nowhere() {
        let system = System::new();
        assert!(catch_unwind(AssertUnwindSafe(|| system.on_dead_letter(drop))).is_err());
        assert_eq!((system.metrics().spawned, system.working()), (0, 0));
    }
}
