//! Primitives that tasks wait for: a semaphore and monitors.
//!
//! Channels, mutexes and the like that depend on no runtime (`tokio::sync`, `async-channel`,
//! `futures`) work here unchanged. This module has what the runtime can do better: a [`Semaphore`]
//! whose permits carry a datum, and [monitors](monitor).

#[cfg(all(test, loom))]
mod model;
pub mod monitor;
mod semaphore;

pub use semaphore::{Acquire, AcquireOwned, OwnedPermit, Permit, Semaphore, Take};
