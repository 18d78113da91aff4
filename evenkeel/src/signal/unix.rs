//! Listeners for the signals of Unix.

pub use super::kind::SignalKind;
pub use super::listener::{Signal, signal};
