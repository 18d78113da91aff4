//! What is counted.
//!
//! An actor's counts come from numbers that its mailbox has anyway, and cost nothing on the way of
//! a message; what its system is told of, an actor counts in its own memory, and tells of 64
//! messages at once. The counts of a [system](System) are kept by each thread apart.

use crate::counters::Count;
use crate::system::System;
use std::time::Duration;

/// What has been counted of an actor, from its spawn on; a restart begins nothing anew. See
/// [`ActorRef::metrics`](crate::ActorRef::metrics).
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Builder, Context, Handled, ReplyTo};
///
/// struct Echo;
///
/// impl Actor for Echo {
///     type Message = ReplyTo<()>;
///
///     async fn handle(&mut self, reply: ReplyTo<()>, _context: &mut Context<Self>) -> Handled {
///         reply.send(());
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// runtime.block_on(async {
///     let echo = Builder::new().measure_busy_time().spawn(Echo).unwrap();
///     for _ in 0..10 {
///         echo.ask(|reply| reply).await.unwrap();
///     }
///     while echo.metrics().handled < 10 {
///         evenkeel::yield_now().await;
///     }
///     let metrics = echo.metrics();
///     assert_eq!((metrics.received, metrics.depth), (10, 0));
///     assert!(metrics.busy.unwrap() > std::time::Duration::ZERO);
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorMetrics {
    /// Messages that have come into the mailbox, and from timers. One that another has [put
    /// out](crate::DropOldest) does not count; one that has been in a [stash](crate::Stash) counts
    /// once more, as received and as handled.
    pub received: u64,
    /// Messages that have been handled. It is exact while the actor rests and when it has ended;
    /// while it runs, the one in hand and those that it has taken out with it are not counted, even
    /// if they are done: up to as many as the mailbox has room for. What an ended actor had in hand
    /// counts.
    pub handled: u64,
    /// Messages in the mailbox now. What the actor has taken out, to handle it in its present turn,
    /// is not counted: that is the rest of `received`.
    pub depth: usize,
    /// The most that there have been at once. The first few small ones, four at most, lie in the
    /// actor itself and are not told apart: they count as one.
    pub highest_depth: usize,
    /// Senders that wait for room now.
    pub waiting_senders: usize,
    /// How long it has been polled in all, if that is
    /// [measured](crate::Builder::measure_busy_time).
    pub busy: Option<Duration>,
    /// How often it has been started again.
    pub restarts: u32,
}

/// What has been counted in a system. See [`System::metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemMetrics {
    /// Actors that have been spawned.
    pub spawned: u64,
    /// Those of them that have ended, for whatever reason.
    pub ended: u64,
    /// Those of the ended that have failed.
    pub failed: u64,
    /// How often actors have been started again.
    pub restarts: u64,
    /// Messages that have been handled. Each actor tells of 64 at once, and of the others when it
    /// stops or fails; up to 63 of one that panics or is killed are not counted.
    pub messages: u64,
    /// Messages that nobody has handled.
    pub dead_letters: u64,
    /// Names that actors have now.
    pub names: usize,
}

impl SystemMetrics {
    /// How many actors there are, as far as that can be told while they come and go.
    #[must_use]
    pub fn alive(&self) -> u64 {
        self.spawned.saturating_sub(self.ended)
    }
}

impl System {
    /// What has been counted until now. It is not of one moment: what happens meanwhile is in some
    /// of the numbers.
    ///
    /// # Examples
    /// ```
    /// let before = evenkeel_actor::System::current().metrics();
    /// assert_eq!(before.alive(), before.spawned - before.ended);
    /// ```
    #[must_use]
    pub fn metrics(self) -> SystemMetrics {
        let counters = self.counters();
        // First, so that no more have ended than are spawned, and what has ended is in the others.
        let ended = counters.sum(Count::Ended);
        SystemMetrics {
            spawned: counters.sum(Count::Spawned),
            ended,
            failed: counters.sum(Count::Failed).min(ended),
            restarts: counters.sum(Count::Restarted),
            messages: counters.sum(Count::Messages),
            dead_letters: self.dead_letters(),
            names: self.names().len(),
        }
    }
}
