//! Runs a test on workers.

use std::future::Future;

/// Runs a test as a task of a runtime with `workers` workers.
pub(crate) fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new()
        .workers(workers)
        .reliefs(if workers == 1 { 0 } else { 64 })
        .build()
        .unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}
