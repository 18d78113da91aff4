//! Runs a test on workers.

use std::future::Future;

/// Runs a test as a task of a runtime with `workers` workers.
pub(crate) fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}
