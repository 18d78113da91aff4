//! The waits of a thread that has to poll.

mod bell;
mod pause;

pub(crate) use bell::Bell;
pub use pause::Pause;
