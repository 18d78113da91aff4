//! How a thread waits that must look for itself.

mod bell;
mod pause;

pub(crate) use bell::Bell;
pub use pause::Pause;
