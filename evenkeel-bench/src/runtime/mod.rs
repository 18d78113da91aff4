//! The runtimes under test, and what an experiment asks of one.
//!
//! Each experiment is written once, generic over [`Runtime`]. Every primitive is an associated type
//! or a static call, so that the compiler sees through it: an indirect call would be a tenth of
//! what is measured. A runtime that lacks a primitive does not compile, so no cell of the table is
//! missing silently.
//!
//! Go's programs do the same experiments in a process of their own; see [`go`].

pub(crate) mod evenkeel;
pub(crate) mod go;
pub(crate) mod tokio_hand;
pub(crate) mod tokio_native;

use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;

/// The cells of Locality: one array, which one task has at a time.
pub(crate) type Array = Box<[u64]>;

/// A runtime that runs in this process.
///
/// Dropping the value stops the runtime.
pub(crate) trait Runtime: Sized + 'static {
    /// Its name on the command line and in the tables.
    const PEER: Peer;

    /// How a task waits for its token.
    type Parker: Parker;
    /// Semaphores whose permits carry nothing.
    type Permits: Semaphores<()>;
    /// Semaphores whose permits carry an array.
    type Arrays: Semaphores<Array>;

    /// Starts the runtime with this many processors, and with nothing that the experiments do not
    /// use: no timers and no I/O driver.
    fn start(procs: usize) -> anyhow::Result<Self>;

    /// Runs a future on the calling thread, which is none of the workers, within the runtime.
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
pub(crate) trait Parker: Clone + Default + Send + Sync + 'static {
    /// What posts the token: cheap to call, and kept by whoever posts.
    type Unparker: Send + Sync + 'static;

    /// Binds the token to the calling task. Comes before every other use.
    fn attach(&self) -> impl Future<Output = ()> + Send;

    /// Waits for the token and takes it. Only the task that attached may call this.
    fn park(&self) -> impl Future<Output = ()> + Send;

    /// A handle for posting. Needs an attached token.
    fn unparker(&self) -> Self::Unparker;

    /// Posts the token.
    fn unpark(unparker: &Self::Unparker);
}

/// A row of FIFO semaphores with hand-over, whose permits each carry a datum.
///
/// They come as a row with a seat per task because the fastest hand-made ones keep one waiting
/// place per task for all of them.
pub(crate) trait Semaphores<D>: Send + Sync + Sized + 'static {
    /// A task's place at these semaphores.
    type Seat: Send + 'static;

    /// `spots` semaphores without permits, used by at most `tasks` tasks.
    fn new(spots: usize, tasks: usize) -> Self;

    /// The place of one task; each is given out once.
    fn seat(self: &Arc<Self>, task: usize) -> Self::Seat;

    /// V: wakes the task that has waited longest and hands the datum to it, or keeps both.
    fn release(&self, spot: usize, datum: D);

    /// P: takes a permit with its datum, or waits for one.
    fn acquire(&self, spot: usize, seat: &mut Self::Seat) -> impl Future<Output = D> + Send;

    /// Permits that nobody has taken.
    fn available(&self, spot: usize) -> usize;
}

/// A task that ended without a result, in the runtime's own words.
#[derive(Debug, thiserror::Error)]
#[error("a task was lost: {0}")]
pub(crate) struct Lost(pub(crate) String);

/// One column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This project's runtime with its own primitives.
    Evenkeel,
    /// Tokio with hand-made park, semaphore and yield.
    TokioHand,
    /// Tokio with the primitives it ships.
    TokioNative,
    /// Go with channels.
    GoNative,
    /// Go with the runtime's internal park and ready.
    GoHand,
}

impl Peer {
    /// All runtimes, in the order of the tables.
    pub(crate) const ALL: [Peer; 5] =
        [Peer::Evenkeel, Peer::TokioHand, Peer::TokioNative, Peer::GoNative, Peer::GoHand];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Evenkeel => "evenkeel",
            Peer::TokioHand => "tokio-hand",
            Peer::TokioNative => "tokio-native",
            Peer::GoNative => "go-native",
            Peer::GoHand => "go-hand",
        }
    }

    /// What it is, in half a line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Peer::Evenkeel => "this project's runtime with its own primitives",
            Peer::TokioHand => "Tokio with hand-made park, semaphore and yield: its best",
            Peer::TokioNative => "Tokio with the primitives it ships",
            Peer::GoNative => "Go with channels and Gosched",
            Peer::GoHand => "Go with its internal park and ready",
        }
    }

    /// Whether it needs the Go toolchain.
    pub(crate) fn is_go(self) -> bool {
        matches!(self, Peer::GoNative | Peer::GoHand)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Peer {
    type Err = UnknownPeer;

    fn from_str(name: &str) -> Result<Self, UnknownPeer> {
        let known = Peer::ALL.into_iter().find(|peer| peer.name() == name);
        known.ok_or_else(|| UnknownPeer(name.to_owned()))
    }
}

/// A name that no runtime has.
#[derive(Debug, thiserror::Error)]
#[error("unknown runtime `{0}`: known are {known}", known = names())]
pub(crate) struct UnknownPeer(String);

fn names() -> String {
    Peer::ALL.map(Peer::name).join(", ")
}

#[cfg(test)]
mod tests;
