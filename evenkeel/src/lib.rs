//! Evenkeel: an async runtime that lets no ready task starve, as long as one worker comes back from
//! its poll.
//!
//! With every worker inside a poll that does not end, or in a loop of awaits that are always ready,
//! the other tasks wait.
//!
//! Tasks are spawned futures. Processors, one per core, run them in the order in which they became
//! ready; a processor that falls behind is helped by the others, and one that is stuck inside a
//! long poll has its queue taken over. See [`Runtime`] to begin, [`task`] for what a task can do,
//! [`sync`] and [`time`] for what it can wait for, [`fork_join`] for computations on the same
//! workers, [`coroutine`] for bodies that are resumed with values, [`metrics`] and [`detect`] for
//! what goes on inside and what has come to a halt.
//!
//! ```
//! # fn main() -> Result<(), evenkeel::BuildError> {
//! let runtime = evenkeel::Runtime::new()?;
//! let sum = runtime.block_on(async {
//!     let handles: Vec<_> = (1..=100_u32).map(|n| evenkeel::spawn(async move { n })).collect();
//!     let mut sum = 0;
//!     for handle in handles {
//!         sum += handle.await.unwrap();
//!     }
//!     sum
//! });
//! assert_eq!(sum, 5_050);
//! # Ok(())
//! # }
//! ```

pub mod coroutine;
pub mod detect;
#[cfg(not(any(loom, shuttle)))]
pub mod deterministic;
pub mod fork_join;
#[doc(hidden)]
pub mod internal;
pub mod metrics;
pub mod object;
mod primitives;
mod runtime;
mod scheduler;
pub mod sync;
pub mod task;
pub mod time;
pub mod topology;

pub(crate) use evenkeel_policy as policy;
#[doc(inline)]
pub use evenkeel_policy::Locality;
pub use runtime::{AlreadyWorker, BuildError, Builder, Handle, Runtime, WorkerThread, block_on};
pub use runtime::{Shutdown, ShutdownReport};
pub use task::{JoinError, JoinHandle, spawn, spawn_blocking, yield_now};

#[cfg(feature = "macros")]
pub use evenkeel_macros::{main, test};

/// Compiles and runs the example of the package's front page.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
