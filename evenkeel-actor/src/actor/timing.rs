//! Messages that an actor sends to itself later.

use super::context::Context;
use crate::actor::Actor;
use crate::mailbox::timers::TimerId;
use std::time::Duration;

/// Timers.
///
/// A timer belongs to the actor, and takes neither a task nor a thread. It ends with the actor, at
/// a restart, and at a [drain](crate::ActorRef::stop). Its clock is that of the
/// [runtime](evenkeel::time), which a test can stop. A message that is due comes before those in
/// the mailbox, and takes no room there, so a full mailbox does not delay it. Between two messages
/// that are due, the actor handles one from its mailbox.
impl<A: Actor> Context<A> {
    /// Has the actor handle a message once, after `duration`.
    ///
    /// Until the message is handled or [cancelled](Self::cancel), the actor does not stop for want
    /// of references.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, spawn};
    /// use std::time::Duration;
    ///
    /// /// Replies an hour later.
    /// struct Slow;
    ///
    /// enum Message {
    ///     Get(ReplyTo<u32>),
    ///     Now(ReplyTo<u32>),
    /// }
    ///
    /// impl Actor for Slow {
    ///     type Message = Message;
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Get(reply) => {
    ///                 context.send_after(Duration::from_secs(3_600), Message::Now(reply));
    ///             }
    ///             Message::Now(reply) => reply.send(7),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let start = evenkeel::time::Instant::now();
    ///     assert_eq!(spawn(Slow).ask(Message::Get).no_timeout().await, Ok(7));
    ///     assert_eq!(start.elapsed(), Duration::from_secs(3_600));
    /// });
    /// ```
    pub fn send_after(&mut self, duration: Duration, message: A::Message) -> TimerId {
        let number = self.receiver().send_after(duration, message);
        TimerId { actor: self.id(), number }
    }

    /// Has the actor handle a copy of a message once per `period`, the first time after one period.
    ///
    /// If a tick is so late that the next one is due too, the missed ticks are left out. The
    /// following tick comes at its regular time. Ticks do not keep an actor: it stops for want of
    /// other references.
    ///
    /// # Panics
    /// If the period is zero.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, spawn};
    /// use std::time::Duration;
    ///
    /// struct Clock(u32);
    ///
    /// #[derive(Clone)]
    /// struct Tick;
    ///
    /// impl Actor for Clock {
    ///     type Message = Tick;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         context.send_every(Duration::from_secs(1), Tick);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, _tick: Tick, context: &mut Context<Self>) -> Handled {
    ///         self.0 += 1;
    ///         if self.0 == 60 {
    ///             context.stop();
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let start = evenkeel::time::Instant::now();
    ///     let clock = spawn(Clock(0));
    ///     while !clock.is_stopped() {
    ///         evenkeel::time::sleep(Duration::from_millis(100)).await;
    ///     }
    ///     assert_eq!(start.elapsed().as_secs(), 60);
    /// });
    /// ```
    #[track_caller]
    pub fn send_every(&mut self, period: Duration, message: A::Message) -> TimerId
    where
        A::Message: Clone,
    {
        self.send_every_with(period, move || message.clone())
    }

    /// As [`send_every`](Self::send_every), with messages that `make` creates when they are due.
    ///
    /// # Panics
    /// If the period is zero.
    ///
    /// # Examples
    /// See [`cancel`](Self::cancel).
    #[track_caller]
    pub fn send_every_with(
        &mut self,
        period: Duration,
        make: impl FnMut() -> A::Message + Send + 'static,
    ) -> TimerId {
        assert!(!period.is_zero(), "a timer has a period of zero: give it a period above zero");
        let make = Box::new(make);
        let number = self.receiver().with_timers(|timers| timers.every(period, make));
        TimerId { actor: self.id(), number }
    }

    /// Cancels a timer. Its message does not come, even if it is already due. Returns false if the
    /// timer has fired for the last time, was cancelled before, or belongs to another actor.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, TimerId, kit, spawn};
    /// use std::time::Duration;
    ///
    /// /// Rings once a second until an answer comes.
    /// struct Phone {
    ///     ringing: Option<TimerId>,
    ///     rings: u32,
    /// }
    ///
    /// enum Message {
    ///     Ring(u32),
    ///     Answer(ReplyTo<u32>),
    /// }
    ///
    /// impl Actor for Phone {
    ///     type Message = Message;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         let mut rings = 0;
    ///         let ring = move || {
    ///             rings += 1;
    ///             Message::Ring(rings)
    ///         };
    ///         self.ringing = Some(context.send_every_with(Duration::from_secs(1), ring));
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Ring(number) => self.rings = number,
    ///             Message::Answer(reply) => {
    ///                 if let Some(ringing) = self.ringing.take() {
    ///                     assert!(context.cancel(ringing));
    ///                     assert!(!context.cancel(ringing));
    ///                 }
    ///                 reply.send(self.rings);
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |_kit| async {
    ///     let phone = spawn(Phone { ringing: None, rings: 0 });
    ///     evenkeel::time::sleep(Duration::from_millis(3_500)).await;
    ///     assert_eq!(phone.ask(Message::Answer).await, Ok(3));
    ///     evenkeel::time::sleep(Duration::from_secs(60)).await;
    ///     assert_eq!(phone.ask(Message::Answer).await, Ok(3));
    /// });
    /// ```
    pub fn cancel(&mut self, timer: TimerId) -> bool {
        timer.actor == self.id()
            && self.receiver().with_timers(|timers| timers.cancel(timer.number))
    }

    /// Has the actor handle a message from `make` whenever it has been idle for `limit`. Replaces
    /// the previous receive timeout.
    ///
    /// Any message ends the wait, also that of a timer, and that of the timeout itself. The next
    /// wait begins when the actor has handled it.
    ///
    /// # Panics
    /// If the limit is zero.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, spawn};
    /// use std::time::Duration;
    ///
    /// /// Stops after a minute without a message.
    /// struct Session;
    ///
    /// enum Message {
    ///     Work,
    ///     Quiet,
    /// }
    ///
    /// impl Actor for Session {
    ///     type Message = Message;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         context.set_receive_timeout(Duration::from_secs(60), || Message::Quiet);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         if let Message::Quiet = message {
    ///             context.stop();
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let session = spawn(Session);
    ///     for _ in 0..10 {
    ///         evenkeel::time::sleep(Duration::from_secs(50)).await;
    ///         session.send(Message::Work).await.unwrap();
    ///     }
    ///     evenkeel::time::sleep(Duration::from_secs(61)).await;
    ///     assert!(session.is_stopped());
    /// });
    /// ```
    #[track_caller]
    pub fn set_receive_timeout(
        &mut self,
        limit: Duration,
        make: impl FnMut() -> A::Message + Send + 'static,
    ) {
        assert!(!limit.is_zero(), "a receive timeout is zero: give it a limit above zero");
        let idle: (_, Box<dyn FnMut() -> A::Message + Send>) = (limit, Box::new(make));
        self.receiver().with_timers(|timers| timers.set_idle(Some(idle)));
    }

    /// Removes the receive timeout.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, kit, spawn};
    /// use std::time::Duration;
    ///
    /// /// Stops after a minute without a message, unless it was told to stay.
    /// struct Session;
    ///
    /// enum Message {
    ///     Stay,
    ///     Quiet,
    /// }
    ///
    /// impl Actor for Session {
    ///     type Message = Message;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         context.set_receive_timeout(Duration::from_secs(60), || Message::Quiet);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
    ///         match message {
    ///             Message::Stay => context.clear_receive_timeout(),
    ///             Message::Quiet => context.stop(),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |_kit| async {
    ///     let (short, long) = (spawn(Session), spawn(Session));
    ///     long.send(Message::Stay).await.unwrap();
    ///     evenkeel::time::sleep(Duration::from_secs(3_600)).await;
    ///     assert!(short.is_stopped());
    ///     assert!(!long.is_stopped());
    /// });
    /// ```
    pub fn clear_receive_timeout(&mut self) {
        self.receiver().with_timers(|timers| timers.set_idle(None));
    }
}
