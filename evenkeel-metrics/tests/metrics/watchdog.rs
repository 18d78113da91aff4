//! A time limit for a test that hangs.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Far longer than any test takes, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Watches the test until it is dropped.
#[must_use]
pub(crate) struct Watchdog {
    _end: Sender<()>,
}

/// Aborts the process with a message if the calling test does not end.
pub(crate) fn watchdog() -> Watchdog {
    let (end, ended) = mpsc::channel();
    let test = thread::current().name().unwrap_or("a test").to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // `eprintln` would not do: the test harness keeps its output for a test that has ended.
            let message = format!("{test} has been hanging for {LIMIT:?}\n");
            let _ = std::io::stderr().write_all(message.as_bytes());
            std::process::abort();
        }
    });
    Watchdog { _end: end }
}
