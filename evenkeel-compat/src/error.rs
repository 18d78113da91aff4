//! Why the Tokio runtime of this crate cannot be started.

use std::error::Error;
use std::fmt;
use std::io;

/// Why the Tokio runtime of this crate cannot be started. Returned by
/// [`try_handle`](crate::try_handle).
///
/// The next call tries again. `Debug` says what `Display` does, for `unwrap` and for a `main` that
/// returns it.
#[non_exhaustive]
pub enum StartError {
    /// The operating system refuses a thread.
    Thread(io::Error),
    /// The operating system refuses what a Tokio runtime needs, such as a descriptor for its
    /// sockets.
    Runtime(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(source) => {
                write!(f, "the system refuses a thread for the Tokio runtime: {source}")
            }
            Self::Runtime(source) => write!(
                f,
                "the system refuses a Tokio runtime: {source}; a limit on open files may be reached"
            ),
        }
    }
}

impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StartError({self})")
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(source) | Self::Runtime(source) => Some(source),
        }
    }
}
