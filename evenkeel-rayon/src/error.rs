//! Why a pool cannot be built.

use evenkeel::BuildError;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a pool cannot be built.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    Io(io::Error),
    /// An error that `rayon-core` does not have.
    Build(BuildError),
}

impl ThreadPoolBuildError {
    pub(crate) fn global_already_initialized() -> Self {
        Self { kind: Kind::GlobalPoolAlreadyInitialized }
    }

    pub(crate) fn already_in_pool() -> Self {
        Self { kind: Kind::CurrentThreadAlreadyInPool }
    }
}

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        let kind = match error {
            BuildError::Thread { source, .. } => Kind::Io(source),
            other => Kind::Build(other),
        };
        Self { kind }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized => {
                f.write_str("The global thread pool has already been initialized.")
            }
            Kind::CurrentThreadAlreadyInPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            Kind::Io(error) => error.fmt(f),
            Kind::Build(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized | Kind::CurrentThreadAlreadyInPool => None,
            Kind::Io(error) => Some(error),
            Kind::Build(error) => Some(error),
        }
    }
}
