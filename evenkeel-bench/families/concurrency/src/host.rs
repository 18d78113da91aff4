//! The hosts of an experiment's parties: tasks of a runtime, or threads.
//!
//! A function begins a party from its part, and returns a future, on a thread as in a task, so that
//! each experiment is written once. On a thread the future never returns `Pending`: whatever it
//! awaits blocks the thread and is ready then.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use suite::kit::fault::Fault;
use suite::kit::runtime::evenkeel;
use suite::kit::runtime::tokio_hand::{TokioHand, builder};
use suite::kit::runtime::{Lost, Runtime};

/// A host of parties.
pub(super) trait Host: 'static {
    /// Lets another party run.
    fn yield_now() -> impl Future<Output = ()>;

    /// Starts a task or thread that returns this number, and joins it.
    fn spawn_and_join(number: u64) -> impl Future<Output = Result<u64, Lost>>;
}

/// Tokio with its own primitives.
pub(super) struct Tokio;

impl Host for Tokio {
    /// By hand: Tokio's own yield turns the driver before a lone task is polled again, which takes
    /// up to four times as long (`run --bench yield`).
    fn yield_now() -> impl Future<Output = ()> {
        TokioHand::yield_now()
    }

    async fn spawn_and_join(number: u64) -> Result<u64, Lost> {
        tokio::spawn(async move { number }).await.map_err(|error| Lost(error.to_string()))
    }
}

impl Tokio {
    /// Runs a party for each part, each in a task of its own, and returns their results in order.
    pub(super) fn run<S, F>(
        procs: usize,
        parts: Vec<S>,
        go: fn(S) -> F,
    ) -> Result<Vec<F::Output>, Fault>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let runtime = builder(procs).build().map_err(|error| Fault::Start(error.into()))?;
        runtime.block_on(async {
            let tasks: Vec<_> = parts.into_iter().map(|part| tokio::spawn(go(part))).collect();
            let mut results = Vec::new();
            for task in tasks {
                results.push(task.await.map_err(|error| Lost(error.to_string()))?);
            }
            Ok(results)
        })
    }
}

/// This project's tasks.
pub(super) struct Evenkeel;

impl Host for Evenkeel {
    fn yield_now() -> impl Future<Output = ()> {
        evenkeel::Evenkeel::yield_now()
    }

    async fn spawn_and_join(number: u64) -> Result<u64, Lost> {
        evenkeel::Evenkeel::spawn(async move { number }).await
    }
}

impl Evenkeel {
    /// As [`Tokio::run`].
    pub(super) fn run<S, F>(
        procs: usize,
        parts: Vec<S>,
        go: fn(S) -> F,
    ) -> Result<Vec<F::Output>, Fault>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let runtime = evenkeel::Evenkeel::start(procs).map_err(Fault::Start)?;
        runtime.block_on(async {
            let tasks: Vec<_> =
                parts.into_iter().map(|part| evenkeel::Evenkeel::spawn(go(part))).collect();
            let mut results = Vec::new();
            for task in tasks {
                results.push(task.await?);
            }
            Ok(results)
        })
    }
}

/// The system's threads.
pub(super) struct Threads;

impl Host for Threads {
    async fn yield_now() {
        thread::yield_now();
    }

    async fn spawn_and_join(number: u64) -> Result<u64, Lost> {
        thread::spawn(move || number).join().map_err(|_| panicked())
    }
}

impl Threads {
    /// Runs a party for each part, each on a thread of its own, which may use the cores of the
    /// calling thread.
    pub(super) fn run<S, F>(
        _procs: usize,
        parts: Vec<S>,
        go: fn(S) -> F,
    ) -> Result<Vec<F::Output>, Fault>
    where
        S: Send,
        F: Future<Output: Send>,
    {
        thread::scope(|scope| {
            let threads: Vec<_> =
                parts.into_iter().map(|part| scope.spawn(move || at_once(go(part)))).collect();
            let results = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| Fault::Lost(panicked())));
            results.collect()
        })
    }
}

fn panicked() -> Lost {
    Lost("a thread panicked".to_owned())
}

/// The result of a future that is ready at once.
pub(super) fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("what is awaited on a thread blocks it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn twice(part: u64) -> u64 {
        part * 2
    }

    #[test]
    fn every_host_gives_the_results_in_order() {
        for procs in [1, 2] {
            for results in [
                Tokio::run(procs, vec![1, 2, 3], twice),
                Evenkeel::run(procs, vec![1, 2, 3], twice),
                Threads::run(procs, vec![1, 2, 3], twice),
            ] {
                assert_eq!(results.unwrap(), [2, 4, 6]);
            }
        }
    }

    async fn fail(part: u64) -> u64 {
        assert!(part == 0, "a party that fails");
        part
    }

    #[test]
    fn a_party_that_panics_is_lost() {
        for results in [
            Tokio::run(1, vec![0, 1], fail),
            Evenkeel::run(1, vec![0, 1], fail),
            Threads::run(1, vec![0, 1], fail),
        ] {
            assert!(matches!(results, Err(Fault::Lost(_))));
        }
    }
}
