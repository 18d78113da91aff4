//! Work that may never end, because a part of it waits for ever.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use crate::kit::fault::Fault;

/// How long a run may take that sets itself no limit. An estimate: the longest, of ten million
/// tasks, takes a minute.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Runs `work` on a thread of its own. If the work does not end within `patience`, because a part
/// of it waits for ever, leaves the thread behind and returns an error.
pub fn patiently<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> anyhow::Result<T> {
    let (ended, end) = mpsc::channel();
    // The receiver is gone if the caller has stopped waiting.
    let thread = thread::Builder::new().spawn(move || drop(ended.send(work())));
    let thread = thread.context("cannot start a thread")?;
    match end.recv_timeout(patience) {
        Ok(result) => result.map_err(|fault| anyhow!("{fault}")),
        Err(RecvTimeoutError::Disconnected) => {
            drop(thread.join());
            Err(anyhow!("it panicked"))
        }
        Err(RecvTimeoutError::Timeout) => {
            let why = "a wake, message or job was lost, or the run is too long";
            Err(anyhow!("it was still running after {patience:?}: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_waits_for_ever_is_given_up() {
        let stuck = || {
            thread::park();
            Ok(())
        };
        let error = patiently(Duration::from_millis(20), stuck).unwrap_err().to_string();
        assert!(error.contains("a wake, message or job was lost"), "{error}");
        let long = Duration::from_secs(30);
        let error = patiently(long, || Fault::check::<()>("odd")).unwrap_err().to_string();
        assert_eq!(error, "odd");
        let panics = || -> Result<(), Fault> { panic!("a test of this") };
        assert_eq!(patiently(long, panics).unwrap_err().to_string(), "it panicked");
    }
}
