//! The runtimes under test, with their timers.

use std::future::Future;
use std::time::Duration;

use suite::kit::runtime::Lost;
use suite::named;
use suite::peer::Peer;

/// A runtime with timers. Dropping the value stops the runtime.
pub(crate) trait Sleeper: Sized + 'static {
    /// The handle of a spawned task.
    type Join<T: Send + 'static>;

    /// Starts a runtime of `workers` workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Spawns a task.
    fn spawn<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future<Output: Send> + Send + 'static;

    /// Joins a task from this thread, which is no worker.
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

/// Tokio's multi-threaded runtime, or that of one thread.
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

named! {
    /// A runtime with timers.
    pub(crate) enum Name as "runtime of timers" {
        /// This project's runtime.
        Evenkeel = "evenkeel": "this project's runtime",
        /// Tokio, of many threads.
        Tokio = "tokio-native": "Tokio of as many threads as there are workers",
        /// Tokio, of one thread.
        TokioOne = "tokio-one": "Tokio's runtime of one thread",
    }
}

impl Name {
    /// Whether it runs on `workers` workers.
    pub(crate) fn has(self, workers: usize) -> bool {
        self != Name::TokioOne || workers == 1
    }
}

impl Peer for Name {}
