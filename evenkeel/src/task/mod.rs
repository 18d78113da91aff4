//! Tasks: spawned futures, their handles, and what they can do about themselves.
//!
//! The lower half of the room (`header`, `rights`, `state`, `id`, `report`, `blocks`, `birth`) is
//! all that the scheduler knows of tasks; the upper half stands on the scheduler.

pub(crate) mod berth;
mod birth;
pub(crate) mod blocks;
mod cell;
mod error;
pub(crate) mod header;
pub(crate) mod id;
mod join;
pub(crate) mod lent;
#[cfg(all(test, loom))]
mod model;
mod parking;
pub(crate) mod public;
#[cfg(all(test, loom))]
mod public_model;
pub(crate) mod report;
pub(crate) mod rights;
mod spawning;
pub(crate) mod state;
mod task_ref;
pub(crate) mod waker;
pub(crate) mod word_waker;
mod yielding;

pub(crate) use birth::Birth;
pub(crate) use cell::make;
pub use error::JoinError;
pub use id::Id;
pub use join::JoinHandle;
pub use parking::{Park, park};
pub use report::{TaskInfo, TaskPanic};
pub(crate) use spawning::spawn_on;
pub use spawning::{Builder, spawn, spawn_blocking};
pub use task_ref::{Task, current, try_current};
pub use yielding::{YieldNow, yield_now};
