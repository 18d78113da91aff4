//! Futures that insist on a Tokio runtime, in tasks of evenkeel and elsewhere.

mod drops;
mod elsewhere;
mod ends;
mod net;
mod spawns;
mod time;
mod watchdog;

use evenkeel::{Builder, Runtime};
use std::thread;
use tokio::runtime::Handle;

/// Runs `test` in runtimes with 1, 2 and 8 workers.
fn on_workers(test: impl Fn(&Runtime)) {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2, 8] {
        test(&Builder::new().workers(workers).name("deck").build().unwrap());
    }
}

/// Whether the calling thread is inside the context of this crate's Tokio runtime.
fn is_inside() -> bool {
    Handle::try_current().is_ok_and(|current| current.id() == evenkeel_compat::handle().id())
}

/// Whether the calling thread is inside of no Tokio runtime's context.
fn is_outside() -> bool {
    Handle::try_current().is_err()
}

/// The name of the calling thread.
fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}
