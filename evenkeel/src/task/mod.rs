//! Tasks: spawned futures, their handles, and what tasks can do about themselves.
//!
//! `raw_task` is the lower half, all that the scheduler knows of tasks; this
//! room stands on the scheduler.

mod awaited;
mod cell;
mod error;
mod join;
pub(crate) mod lent;
#[cfg(all(test, loom))]
mod model;
mod parking;
pub(crate) mod public;
#[cfg(all(test, loom))]
mod public_model;
mod spawning;
mod task_ref;
pub(crate) mod waker;
pub(crate) mod word_waker;
mod yielding;

pub use crate::raw_task::id::Id;
pub use crate::raw_task::report::{TaskInfo, TaskPanic};
pub(crate) use cell::make;
pub use error::JoinError;
pub use join::JoinHandle;
pub use parking::{Park, park};
pub(crate) use spawning::spawn_on;
pub use spawning::{Builder, spawn, spawn_blocking};
pub use task_ref::{Task, current, try_current};
pub use yielding::{YieldNow, yield_now};
