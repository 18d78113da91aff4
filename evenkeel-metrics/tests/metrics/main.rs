//! What an exporter tells recorders of the thread that calls it.

#[cfg(unix)]
mod figures;
mod recorder;
mod recorders;
mod run;
mod watchdog;

use evenkeel::{Builder, Runtime};

/// Runs `test` in runtimes with 1, 2 and 8 workers.
fn on_workers(test: impl Fn(&Runtime)) {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2, 8] {
        test(&Builder::new().workers(workers).build().unwrap());
    }
}
