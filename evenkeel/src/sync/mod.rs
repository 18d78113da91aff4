//! What tasks wait for.
//!
//! Channels, mutexes and the like that know no runtime run here as they are (`tokio::sync`,
//! `async-channel`, `futures`); this module has what the runtime can do better.

#[cfg(all(test, loom))]
mod model;
pub mod monitor;
mod semaphore;

pub use semaphore::{Acquire, Semaphore};
