//! Several futures in one task: macros of Tokio.
//!
//! They are plain code over `std::task`, and need nothing of Tokio's runtime. All names in them
//! begin with `$crate`, so they work under the names that they have here. Macros of our own would
//! be the same lines once more.

/// Waits for the first of several futures, and drops the others: [`tokio::select!`], as it is.
///
/// The branches run in the task that waits, by turns and not in parallel. A branch that loses is
/// dropped in the middle, so it should be cancel safe: the documentation of each future here says
/// so under *Cancel safety*.
///
/// # Fairness
/// Each poll begins with a branch that is chosen at random, so of several branches that are ready
/// each wins at times. With `biased;` before the first branch, each poll begins with the first one.
/// The random choice does not follow the seed of a [deterministic](crate::deterministic) run: a
/// program that is to repeat there writes `biased;`.
///
/// # Budget
/// The macro takes no unit of the [budget](crate::budget), and Tokio's own budget has no limit
/// here. The operations in the branches take theirs. A loop yields in time if one of the operations
/// that it makes in each round is one of this project, or is wrapped in
/// [`budget::with`](crate::budget::with). Of others that are always ready it makes one poll that
/// does not end: such a loop calls [`budget::consume`](crate::budget::consume) in each round.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, sleep};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// let first = runtime.block_on(async {
///     evenkeel::select! {
///         () = sleep(Duration::from_secs(60)) => "gig",
///         () = sleep(Duration::from_secs(20)) => "launch",
///     }
/// });
/// assert_eq!(first, "launch");
/// ```
///
/// The rest is Tokio's own documentation.
#[doc(inline)]
pub use tokio::select;

/// Waits for all of several futures, and returns their outputs: [`tokio::join!`], as it is.
///
/// The futures run in the task that waits, by turns and not in parallel: to use more workers,
/// [`spawn`](crate::spawn()) them. For closures on several workers there is
/// [`fork_join::join`](crate::fork_join::join()).
///
/// # Fairness
/// Each poll polls all futures that are not complete, and begins with another one than the poll
/// before. With `biased;` before the first future, it begins with the first one.
///
/// # Budget
/// As with [`select!`](crate::select!), the macro takes no unit. If a future in it uses up the
/// slice of a poll, operations of the others that are ready yield, and go on at the next poll.
///
/// # Cancel safety
/// That of the futures: a task that is dropped at the macro drops all of them, and the outputs that
/// are there.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let (port, starboard) = runtime.block_on(async {
///     let tasks = [evenkeel::spawn(async { 2 }), evenkeel::spawn(async { 3 })];
///     let [port, starboard] = tasks;
///     evenkeel::join!(port, starboard)
/// });
/// assert_eq!(port.unwrap() + starboard.unwrap(), 5);
/// ```
///
/// The rest is Tokio's own documentation.
#[doc(inline)]
pub use tokio::join;

/// Waits for all of several futures that return results, or for the first error, and then drops the
/// others: [`tokio::try_join!`], as it is.
///
/// Otherwise as [`join!`](crate::join!), with its fairness and budget.
///
/// # Examples
/// ```
/// use evenkeel::JoinError;
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let error: JoinError = runtime.block_on(async {
///     let watch = evenkeel::spawn(std::future::pending::<()>());
///     let cook = evenkeel::spawn(async { panic!("no more tea") });
///     evenkeel::try_join!(watch, cook).map(|(_, ())| ()).unwrap_err()
/// });
/// assert!(error.is_panic());
/// ```
///
/// The rest is Tokio's own documentation.
#[doc(inline)]
pub use tokio::try_join;

/// Pins values in variables of their own names: [`tokio::pin!`], as it is.
///
/// [`std::pin::pin!`] is an expression instead. A future that [`select!`](crate::select!) waits for
/// in each round of a loop is pinned before the loop, and borrowed in it.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, interval, sleep};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// let ticks = runtime.block_on(async {
///     let watch = sleep(Duration::from_secs(210));
///     evenkeel::pin!(watch);
///     let mut minute = interval(Duration::from_secs(60));
///     let mut ticks = 0;
///     loop {
///         evenkeel::select! {
///             _ = minute.tick() => ticks += 1,
///             () = &mut watch => break ticks,
///         }
///     }
/// });
/// assert_eq!(ticks, 4);
/// ```
///
/// The rest is Tokio's own documentation.
#[doc(inline)]
pub use tokio::pin;
