//! The runtimes under test, with their timers.

use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;

use crate::runtime::Lost;

/// A runtime with timers. Dropping the value stops it.
pub(crate) trait Sleeper: Sized + 'static {
    /// What a spawn gives.
    type Join<T: Send + 'static>;

    /// Starts as many workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Spawns a task.
    fn spawn<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future<Output: Send> + Send + 'static;

    /// Waits for a task on this thread, which is no worker.
    fn join<T: Send + 'static>(&self, task: Self::Join<T>) -> Result<T, Lost>;

    /// A timer.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// A future with a limit.
    fn timeout<F: Future<Output: Send> + Send>(
        duration: Duration,
        future: F,
    ) -> impl Future<Output: Send> + Send;

    /// Goes to the back of the ready queue.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// This project's runtime.
pub(crate) struct Evenkeel(evenkeel::Runtime);

impl Sleeper for Evenkeel {
    type Join<T: Send + 'static> = evenkeel::JoinHandle<T>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Self(evenkeel::Builder::new().workers(workers).build()?))
    }

    fn spawn<F>(&self, future: F) -> evenkeel::JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.0.spawn(future)
    }

    fn join<T: Send + 'static>(&self, task: evenkeel::JoinHandle<T>) -> Result<T, Lost> {
        self.0.block_on(task).map_err(|error| Lost(error.to_string()))
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        evenkeel::time::sleep(duration)
    }

    fn timeout<F: Future<Output: Send> + Send>(
        duration: Duration,
        future: F,
    ) -> impl Future<Output: Send> + Send {
        evenkeel::time::timeout(duration, future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        evenkeel::yield_now()
    }
}

/// Tokio's runtime of many threads, or of one.
pub(crate) struct Tokio<const ONE: bool>(tokio::runtime::Runtime);

impl<const ONE: bool> Sleeper for Tokio<ONE> {
    type Join<T: Send + 'static> = tokio::task::JoinHandle<T>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        let mut builder = if ONE {
            anyhow::ensure!(workers == 1, "Tokio's runtime of one thread has one worker");
            tokio::runtime::Builder::new_current_thread()
        } else {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(workers);
            builder
        };
        Ok(Self(builder.enable_time().build()?))
    }

    fn spawn<F>(&self, future: F) -> tokio::task::JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.0.spawn(future)
    }

    fn join<T: Send + 'static>(&self, task: tokio::task::JoinHandle<T>) -> Result<T, Lost> {
        // The runtime of one thread runs all its tasks on the thread that waits here.
        self.0.block_on(task).map_err(|error| Lost(error.to_string()))
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    fn timeout<F: Future<Output: Send> + Send>(
        duration: Duration,
        future: F,
    ) -> impl Future<Output: Send> + Send {
        tokio::time::timeout(duration, future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// This project's runtime.
    Evenkeel,
    /// Tokio, of many threads.
    Tokio,
    /// Tokio, of one thread.
    TokioOne,
}

impl Name {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Name; 3] = [Name::Evenkeel, Name::Tokio, Name::TokioOne];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Name::Evenkeel => "evenkeel",
            Name::Tokio => "tokio-native",
            Name::TokioOne => "tokio-one",
        }
    }

    /// Whether it runs on so many workers.
    pub(crate) fn has(self, workers: usize) -> bool {
        self != Name::TokioOne || workers == 1
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no runtime with timers has.
#[derive(Debug, thiserror::Error)]
#[error("unknown runtime `{0}` for {bench}: known are {known}", bench = super::NAME, known = Name::ALL.map(Name::name).join(", "))]
pub(crate) struct UnknownSleeper(String);

impl FromStr for Name {
    type Err = UnknownSleeper;

    fn from_str(name: &str) -> Result<Self, UnknownSleeper> {
        let known = Name::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| UnknownSleeper(name.to_owned()))
    }
}
