//! How operations get to blocking threads.

use crate::processor::current;
use crate::task::{JoinError, JoinHandle, spawn_blocking};
use std::io::{Error, Result};
use std::panic::resume_unwind;

/// Begins an operation on a blocking thread of the caller's runtime. It goes on if its handle is
/// dropped.
///
/// # Errors
/// Fails if there is no runtime. `operation` has been dropped then.
pub(super) fn begin<T: Send + 'static>(
    operation: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    refuse_outside()?;
    Ok(spawn_blocking(operation))
}

/// Fails if there is no runtime.
pub(super) fn refuse_outside() -> Result<()> {
    if current::shared().is_none() {
        return Err(Error::other(
            "an operation on files needs a runtime, and there is none: use it inside a task or block_on of an \
             evenkeel runtime, or call std::fs",
        ));
    }
    Ok(())
}

/// Runs an operation on a blocking thread of the caller's runtime.
///
/// # Errors
/// Those of the operation; there is no runtime, or it has ended meanwhile.
pub(super) async fn run<T: Send + 'static>(
    operation: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    begin(operation)?.await.map_err(ended)?
}

/// What an operation returns that has no result.
pub(super) fn ended(error: JoinError) -> Error {
    if error.is_panic() {
        resume_unwind(error.into_panic());
    }
    Error::other(if error.is_stuck() {
        "the runtime has ended during an operation on a file, which may or may not be done"
    } else {
        "the runtime has ended before an operation on a file could begin: end the use of files before the runtime"
    })
}
