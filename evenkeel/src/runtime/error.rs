//! Why a runtime cannot be built.

use crate::processor::blocking::DEFAULT_THREADS;
use crate::topology::TopologyError;
use std::fmt;
use std::io;
use std::time::Duration;

/// The finest resolution of timers, in nanoseconds. A shorter tick is shorter than the delay of the
/// system's own wake-ups.
pub(crate) const FINEST: u64 = 1_000;

/// The coarsest resolution: 1 s. A program that needs no finer timers needs none of ours.
pub(crate) const COARSEST: u64 = 1_000_000_000;

/// The most workers of a runtime.
pub(crate) const MOST_WORKERS: usize = 1_024;

/// The most reliefs of a runtime.
pub(crate) const MOST_RELIEFS: usize = 1_024;

/// Why a runtime cannot be built.
///
/// `Debug` says what `Display` does, for `unwrap` and for a `main` that returns it.
#[non_exhaustive]
pub enum BuildError {
    /// The number of workers is not between 1 and 1,024.
    Workers {
        /// The number asked for.
        asked: usize,
    },
    /// A [current-thread](crate::Builder::new_current_thread) runtime would have several workers.
    CurrentThread {
        /// The number of workers asked for.
        asked: usize,
    },
    /// The number of reliefs is above 1,024.
    Reliefs {
        /// The number asked for.
        asked: usize,
    },
    /// There would be no thread for blocking closures.
    BlockingThreads {
        /// The number asked for, zero.
        asked: usize,
    },
    /// The name has a zero byte in it.
    Name {
        /// The name asked for.
        asked: String,
    },
    /// The resolution of timers is not between a microsecond and a second.
    TimerResolution {
        /// The resolution asked for.
        asked: Duration,
    },
    /// The machine's topology cannot be read.
    Topology(TopologyError),
    /// The operating system refuses a thread.
    Thread {
        /// The worker that it was for.
        worker: usize,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system refuses to pin a worker to its core.
    Pin {
        /// The worker.
        worker: usize,
        /// The core, by the system's number.
        cpu: usize,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers { asked } => write!(
                f,
                "a runtime has 1 to {MOST_WORKERS} workers, not {asked}: leave `workers` out to have \
                 one per core in use"
            ),
            Self::CurrentThread { asked } => write!(
                f,
                "a current-thread runtime has one worker, not {asked}: leave `workers` out, or build \
                 with `Builder::new`"
            ),
            Self::Reliefs { asked } => write!(
                f,
                "a runtime has at most {MOST_RELIEFS} reliefs, not {asked}: leave `reliefs` out to have 64"
            ),
            Self::BlockingThreads { asked } => write!(
                f,
                "a runtime has 1 or more threads for blocking closures, not {asked}: leave \
                 `blocking_threads` out to have {DEFAULT_THREADS} at most"
            ),
            Self::Name { asked } => {
                write!(f, "no thread can be called {asked:?}: leave the zero byte out of `name`")
            }
            Self::TimerResolution { asked } => write!(
                f,
                "timers have a resolution of 1 µs to 1 s, not {asked:?}: leave `timer_resolution` out to \
                 have 1 ms"
            ),
            Self::Topology(error) => write!(
                f,
                "cannot read the machine's topology ({error}): give one with `Builder::topology`"
            ),
            Self::Thread { worker, source } => write!(
                f,
                "cannot start worker {worker} ({source}): ask for fewer workers or a smaller stack"
            ),
            Self::Pin { worker, cpu, source } => write!(
                f,
                "cannot pin worker {worker} to core {cpu} ({source}): build without `pin`, or with a \
                 topology of cores that this process may use"
            ),
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildError({self})")
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Workers { .. }
            | Self::CurrentThread { .. }
            | Self::Reliefs { .. }
            | Self::BlockingThreads { .. }
            | Self::Name { .. }
            | Self::TimerResolution { .. } => None,
            Self::Topology(error) => Some(error),
            Self::Thread { source, .. } | Self::Pin { source, .. } => Some(source),
        }
    }
}
