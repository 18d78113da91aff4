//! Bodies of tests that might hang.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Runs a body that must end; reports a hang after far longer than the body may take.
pub(crate) fn ends(body: impl FnOnce() + Send + 'static) {
    // Boxed, so that a thread is compiled once, and not for each test.
    let body: Box<dyn FnOnce() + Send> = Box::new(body);
    let (over, told) = channel();
    let body = std::thread::spawn(move || {
        body();
        let _ = over.send(());
    });
    match told.recv_timeout(Duration::from_secs(60)) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(body.join().unwrap_err()),
    }
}
