//! Why a message was not put in.

use std::error::Error;
use std::fmt;

/// Why a message for another node was not put in. `E` is the error of its writer.
///
/// # Examples
/// See [`Multiplexer`](super::Multiplexer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutError<E> {
    /// The number of bytes that wait for the node has reached its bound.
    Full {
        /// The bound.
        most: usize,
    },
    /// The message is too long.
    TooLong {
        /// Its length.
        length: usize,
        /// The greatest length.
        most: usize,
    },
    /// The node is down.
    Down,
    /// This node is about to leave.
    Leaving,
    /// The message cannot be written.
    Unwritable(E),
}

impl<E: fmt::Display> fmt::Display for PutError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { most } => {
                write!(f, "{most} bytes wait for the node, which is the bound; wait for room")
            }
            Self::TooLong { length, most } => write!(
                f,
                "the message has {length} bytes, and the bound is {most}; send it in parts or raise the bound"
            ),
            Self::Down => f.write_str("the node is down"),
            Self::Leaving => f.write_str("this node is about to leave"),
            Self::Unwritable(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for PutError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unwritable(error) => error.source(),
            _ => None,
        }
    }
}
