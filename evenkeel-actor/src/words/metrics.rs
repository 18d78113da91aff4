//! What is counted of an actor. The counts come from numbers that its mailbox has anyway, and cost
//! nothing on the way of a message.

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
