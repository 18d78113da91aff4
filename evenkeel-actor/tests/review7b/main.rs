//! What a review of nodes has found: each test fails, or shows a hang, until its finding is dealt with.

mod bytes;
mod calls;
mod ends;
#[allow(dead_code, reason = "not all of it is needed here")]
#[path = "../remote/world.rs"]
mod world;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Runs a body that must come to an end; a hang is told as such, far beyond what it may take.
fn ends(body: impl FnOnce() + Send + 'static) {
    let (over, told) = channel();
    let body = std::thread::spawn(move || {
        body();
        let _ = over.send(());
    });
    match told.recv_timeout(Duration::from_secs(15)) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(body.join().unwrap_err()),
    }
}
