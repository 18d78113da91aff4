//! The errors of frames.

use super::frame::VERSION;
use std::error::Error;
use std::fmt;

/// Why bytes are not a frame, or why a frame cannot carry a message. `at` counts bytes from the
/// beginning of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The first byte is not that of a frame.
    NotAFrame {
        /// The first byte.
        found: u8,
    },
    /// The frame is of a version that this build does not read.
    WrongVersion {
        /// Its version.
        found: u8,
    },
    /// The frame has no message.
    Empty,
    /// The frame ends in the middle of a record.
    Truncated {
        /// The place of the missing bytes.
        at: usize,
        /// The least number of missing bytes.
        missing: usize,
    },
    /// A part of the frame, or the frame itself, is too long.
    Oversized {
        /// The part.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The greatest length.
        most: usize,
    },
    /// Bytes follow the last field of a message.
    Trailing {
        /// Where they begin.
        at: usize,
        /// How many there are.
        bytes: usize,
    },
    /// A message has an unknown kind.
    UnknownKind {
        /// The place of the kind.
        at: usize,
        /// The kind.
        kind: u8,
    },
    /// A field of a few codes has an unknown one.
    UnknownCode {
        /// The place of the field.
        at: usize,
        /// The field.
        what: &'static str,
        /// The code.
        code: u8,
    },
    /// A number is not in its shortest form, so that one message would have several forms.
    Overlong {
        /// Where the number begins.
        at: usize,
    },
    /// A number is greater than its field takes.
    TooGreat {
        /// Where the number begins.
        at: usize,
        /// The greatest number of the field.
        most: u64,
    },
    /// A text is not UTF-8.
    NotText {
        /// Where the text begins.
        at: usize,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFrame { found } => {
                write!(f, "not a frame: it begins with the byte {found:#04x}")
            }
            Self::WrongVersion { found } => write!(
                f,
                "the frame has version {found}, this node reads version {VERSION}; run the same build on all nodes"
            ),
            Self::Empty => f.write_str("the frame holds no message"),
            Self::Truncated { at, missing } => {
                write!(f, "the frame ends at byte {at}, where {missing} more belong at least")
            }
            Self::Oversized { what, length, most } => {
                write!(f, "{what} is {length} bytes long, and {most} is the most")
            }
            Self::Trailing { at, bytes } => {
                write!(f, "{bytes} bytes follow the end of a message at byte {at}")
            }
            Self::UnknownKind { at, kind } => {
                write!(f, "no message is of the kind {kind}, at byte {at}")
            }
            Self::UnknownCode { at, what, code } => {
                write!(f, "{code} is no code for {what}, at byte {at}")
            }
            Self::Overlong { at } => {
                write!(f, "the number at byte {at} is not in its shortest form")
            }
            Self::TooGreat { at, most } => {
                write!(f, "the number at byte {at} is greater than {most}")
            }
            Self::NotText { at } => write!(f, "the text at byte {at} is not UTF-8"),
        }
    }
}

impl Error for FrameError {}
