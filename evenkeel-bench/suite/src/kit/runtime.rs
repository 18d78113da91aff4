//! The runtimes under test, and the interface that the experiments use.
//!
//! Each experiment is written once, generic over [`Runtime`]. Every primitive is an associated type
//! or a static call, so that the compiler sees through it: an indirect call would be a tenth of
//! what is measured. A runtime that lacks a primitive does not compile, so no cell of the table is
//! missing silently.
//!
//! Go's programs do the same experiments in a process of their own.

pub mod evenkeel;
pub mod tokio_hand;
pub mod tokio_native;

use std::future::Future;
use std::sync::Arc;

/// The cells of Locality: one array, which one task has at a time.
pub type Array = Box<[u64]>;

/// A runtime that runs in this process.
///
/// Dropping the value stops the runtime.
pub trait Runtime: Sized + 'static {
    /// Its name on the command line and in the tables.
    const NAME: &'static str;

    /// How a task waits for its token.
    type Parker: Parker;
    /// Semaphores with permits that carry nothing.
    type Permits: Semaphores<()>;
    /// Semaphores with permits that carry an array.
    type Arrays: Semaphores<Array>;

    /// Starts the runtime with this many processors, and with nothing that the experiments do not
    /// use: no timers and no I/O driver.
    fn start(procs: usize) -> anyhow::Result<Self>;

    /// Runs a future on the calling thread, which is not one of the workers, within the runtime.
    fn block_on<F: Future>(&self, future: F) -> F::Output;

    /// Spawns a task; called within the runtime.
    fn spawn<F>(future: F) -> impl Future<Output = Result<F::Output, Lost>> + Send + 'static
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Goes to the back of the ready queue.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// A token that one task waits for, and that any task can post.
///
/// Clones are handles of the same token.
pub trait Parker: Clone + Default + Send + Sync + 'static {
    /// A handle that posts the token: cheap to call, and kept by the poster.
    type Unparker: Send + Sync + 'static;

    /// Binds the token to the calling task. Every other use comes after this call.
    fn attach(&self) -> impl Future<Output = ()> + Send;

    /// Waits for the token and takes it. Only the task that attached may call this.
    fn park(&self) -> impl Future<Output = ()> + Send;

    /// Returns a handle for posting. The token must be attached.
    fn unparker(&self) -> Self::Unparker;

    /// Posts the token.
    fn unpark(unparker: &Self::Unparker);
}

/// A row of FIFO semaphores with hand-over, whose permits each carry a datum.
///
/// They come as a row with a seat per task because the fastest hand-made ones keep one waiting
/// place per task for all of them.
pub trait Semaphores<D>: Send + Sync + Sized + 'static {
    /// A task's place at these semaphores.
    type Seat: Send + 'static;

    /// `spots` semaphores without permits, used by at most `tasks` tasks.
    fn new(spots: usize, tasks: usize) -> Self;

    /// Returns the place of one task; each is given out once.
    fn seat(self: &Arc<Self>, task: usize) -> Self::Seat;

    /// V: wakes the task that has waited longest and hands the datum to it, or keeps both.
    fn release(&self, spot: usize, datum: D);

    /// P: takes a permit with its datum, or waits for one.
    fn acquire(&self, spot: usize, seat: &mut Self::Seat) -> impl Future<Output = D> + Send;

    /// Returns the number of free permits.
    fn available(&self, spot: usize) -> usize;
}

/// A task that ended without a result, in the runtime's own words.
#[derive(Debug, thiserror::Error)]
#[error("a task was lost: {0}")]
pub struct Lost(pub String);

#[cfg(test)]
mod tests;
