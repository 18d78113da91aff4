//! Errors.

use std::error::Error;
use std::fmt;

/// A call of MPI that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiError {
    call: &'static str,
    code: i32,
    text: String,
}

impl MpiError {
    pub(crate) fn new(call: &'static str, code: i32, text: String) -> Self {
        Self { call, code, text }
    }

    /// Returns the code of the call; the library defines its meaning.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returned {}: {}", self.call, self.code, self.text)
    }
}

impl Error for MpiError {}

/// Why a transport did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// [`Config::longest_frame`](crate::Config::longest_frame) is out of range.
    LongestFrame {
        /// The value.
        bytes: usize,
    },
    /// [`Config::window`](crate::Config::window) is out of range.
    Window {
        /// The value.
        frames: u32,
    },
    /// [`Config::in_flight`](crate::Config::in_flight) is zero.
    InFlight,
    /// Other code in this process has initialised MPI before.
    AlreadyInitialised,
    /// MPI was finalised in this process, and cannot be initialised twice.
    Finalised,
    /// The library does not allow its process to have several threads.
    ThreadLevel {
        /// The level that it grants instead of `MPI_THREAD_FUNNELED`.
        granted: String,
    },
    /// The ranks of the job do not agree: another version of this crate, or another longest frame.
    Differs {
        /// What differs.
        what: &'static str,
        /// The value of this rank.
        here: i64,
        /// The least value among the ranks.
        least: i64,
        /// The greatest value among the ranks.
        greatest: i64,
    },
    /// The ranks of the job run different programs.
    Programs {
        /// The program of this rank.
        here: String,
        /// Two of the ranks' programs; the first 112 bytes of each name.
        among: [String; 2],
    },
    /// A call of MPI failed.
    Mpi(MpiError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongestFrame { bytes } => {
                write!(f, "the longest frame must have 1 to 2147483647 bytes, not {bytes}")
            }
            Self::Window { frames } => {
                write!(f, "the window must be 2 frames or more, not {frames}")
            }
            Self::InFlight => f.write_str("at least one frame must be allowed in flight"),
            Self::AlreadyInitialised => f.write_str(
                "MPI is already initialised in this process: start the transport first, and once",
            ),
            Self::Finalised => f.write_str(
                "MPI was finalised in this process, and cannot be initialised again: start one transport, and keep it",
            ),
            Self::ThreadLevel { granted } => write!(
                f,
                "the MPI library grants the thread level {granted}, but Funneled is needed: use a library that was built with threads"
            ),
            Self::Differs { what, here, least, greatest } => write!(
                f,
                "the ranks of this job do not agree on the {what}: here {here}, among all {least} to {greatest}; start the same program with the same settings on all"
            ),
            Self::Programs { here, among: [one, other] } => write!(
                f,
                "this job runs different programs: this rank runs {here:?}, and among all are {one:?} and {other:?}; start the same program on all ranks, or give programs that belong together one name by Config::program"
            ),
            Self::Mpi(error) => error.fmt(f),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Mpi(error) => Some(error),
            _ => None,
        }
    }
}

impl From<MpiError> for StartError {
    fn from(error: MpiError) -> Self {
        Self::Mpi(error)
    }
}
