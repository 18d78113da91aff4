//! Fork-join on the workers that run tasks: [`join()`] for two halves, [`scope()`] for any number of jobs that borrow,
//! [`broadcast()`] for each worker, [`spawn()`] for jobs that nobody waits for.
//!
//! Jobs lie in slots of their worker's deque, or, where they are too large, on the stack of whoever forks them. A worker
//! takes its own jobs back without a fence or a locked instruction
//! unless another has asked for work; idle workers take the oldest, which are the largest.
//!
//! ```
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return n.into();
//!     }
//!     let (a, b) = evenkeel::fork_join::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(20), 6_765);
//! ```
//!
//! Inside a task a `join` keeps the worker from other tasks until it returns; the other workers take over those that are ready. The
//! forks of [`future`] are awaited instead. While workers compute for [`install`](crate::Runtime::install), [`spawn()`] and each other, a thread of its own,
//! the [relief](crate::Builder::relief), polls tasks that are ready. It is no worker: what a task forks there is done by one, and [`worker_index`] is `None`.

mod broadcast;
mod detached;
mod entry;
mod errand;
mod fifo;
pub mod future;
mod half;
mod join;
mod member;
mod outside;
mod scope;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod sized;
pub(crate) mod spawned;
mod wait;
mod worker;
mod yielding;

pub use broadcast::{BroadcastContext, broadcast};
pub use detached::{spawn, spawn_broadcast, spawn_fifo};
pub use fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub use join::{FnContext, join, join_context};
#[doc(hidden)]
pub use join::{join_context_or, join_or};
pub use scope::{Scope, in_place_scope, scope};
pub use sized::{Footprint, FootprintError, join_parts, join_sized, try_join_sized};
pub use worker::{Worker, on_worker};
pub use yielding::{Yield, has_pending_jobs, is_worker, worker_count, worker_index};
pub use yielding::{yield_local, yield_now};
