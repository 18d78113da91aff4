//! What tasks wait for.
//!
//! Channels, mutexes and the like that know no runtime run here as they are (`tokio::sync`,
//! `async-channel`, `futures`); this module has what the runtime can do better: a [`Semaphore`]
//! whose permits carry a datum, and [monitors](monitor).

#[cfg(all(test, loom))]
mod model;
pub mod monitor;
mod semaphore;

pub use semaphore::{Acquire, Semaphore};
