//! Tasks: spawned futures, their handles, and what tasks can do about themselves.
//!
//! `raw_task` is the lower half, all that the scheduler knows of tasks; this room stands on the
//! scheduler.
//!
//! # Examples
//! A task that works when it is told to, named in reports:
//! ```
//! use evenkeel::task::{Builder, Task, current, park, yield_now};
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::sync::Arc;
//!
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let tally = Arc::new(AtomicU32::new(0));
//! let pumped = tally.clone();
//! runtime.block_on(async move {
//!     let pump = Builder::new().name("pump").spawn(async move {
//!         assert_eq!(current().name(), Some("pump"));
//!         loop {
//!             park().await;
//!             pumped.fetch_add(1, Ordering::Relaxed);
//!         }
//!     });
//!     let bell: Task = pump.task();
//!     bell.unpark();
//!     while tally.load(Ordering::Relaxed) == 0 {
//!         yield_now().await;
//!     }
//!     pump.abort();
//!     assert!(pump.await.unwrap_err().is_cancelled());
//! });
//! ```

mod abort_handle;
pub(crate) mod answer;
mod awaited;
pub(crate) mod budget;
mod cancellation;
mod cell;
mod error;
mod in_place;
mod join;
mod join_set;
pub(crate) mod lent;
mod local;
mod local_set;
#[cfg(all(test, loom))]
mod model;
pub(crate) mod outcome;
mod parking;
pub(crate) mod public;
#[cfg(all(test, loom))]
mod public_model;
mod spawning;
mod task_ref;
mod tracker;
pub(crate) mod waker;
pub(crate) mod word_waker;
mod yielding;

pub use crate::raw_task::id::Id;
pub use crate::raw_task::report::{Stall, TaskInfo, TaskPanic};
pub use abort_handle::AbortHandle;
pub use cancellation::{CancellationToken, Cancelled, CancelledOwned, DropGuard};
pub(crate) use cell::{Name, make};
pub use error::JoinError;
pub use in_place::block_in_place;
pub use join::JoinHandle;
pub use join_set::JoinSet;
pub use local::{AccessError, LocalKey, TaskLocalFuture};
pub use local_set::{LocalEnterGuard, LocalJoinHandle, LocalSet, spawn_local};
pub use parking::{Park, park};
pub(crate) use spawning::spawn_on;
pub use spawning::{Builder, spawn, spawn_blocking};
pub use task_ref::{Task, current, try_current};
pub use tracker::{TaskTracker, TaskTrackerToken, TaskTrackerWaitFuture, TrackedFuture};
pub use yielding::{YieldNow, yield_now};
