//! The counts of an actor. They come from numbers that its mailbox has anyway, and cost nothing on
//! the path of a message.

use std::time::Duration;

/// The counts of an actor since its spawn; a restart does not reset them. See
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
    /// Messages that have arrived in the mailbox, or from timers. A message that another has
    /// [displaced](crate::DropOldest) does not count. A message from a [stash](crate::Stash) counts
    /// once more, as received and as handled.
    pub received: u64,
    /// Messages that have been handled. The count is exact while the actor rests and after it has
    /// ended. While the actor runs, the message in hand and those taken out with it are not
    /// counted, even if they are done: up to as many as the mailbox has room for. What an ended
    /// actor had in hand counts.
    pub handled: u64,
    /// Messages in the mailbox. Messages that the actor has taken out for its present turn are not
    /// counted: they are the rest of `received`.
    pub depth: usize,
    /// The greatest depth so far. The first few small messages, four at most, lie in the actor
    /// itself and are not told apart: they count as one.
    pub highest_depth: usize,
    /// Senders that wait for room.
    pub waiting_senders: usize,
    /// The total time of its polls, if that is [measured](crate::Builder::measure_busy_time).
    pub busy: Option<Duration>,
    /// How often it has been restarted.
    pub restarts: u32,
}
