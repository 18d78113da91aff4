//! Fork-join on the workers that run tasks: [`join()`] for two halves, [`scope()`] for any number
//! of jobs that borrow, [`broadcast()`] for each worker, [`spawn()`] for jobs without a joiner.
//!
//! Jobs lie in slots of their worker's deque, or, if they are too large, on the stack of the thread
//! that forks them. A worker takes its own jobs back without a fence or a locked instruction unless
//! another has asked for work; idle workers take the oldest, which are the largest.
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
//! Inside a task a `join` keeps the worker from other tasks until it returns. The other workers
//! take over the ready ones; where these workers run parts of the `join`, a [thread beside
//! them](#threads) does. The forks of [`future`] are awaited instead.
//!
//! # Threads
//! While all workers compute for callers of [`install`](crate::Runtime::install) and [`spawn()`],
//! for each other, or for tasks that fork, a thread of its own, a
//! [relief](crate::Builder::reliefs), polls ready tasks. What a task forks there runs on that
//! thread, one half after the other; what it spawns goes to the workers.
//!
//! A worker that waits for a stolen half runs nothing but parts of that half, because its frames
//! may hold locks. Calls and jobs from outside do not wait for it: while it waits, and the other
//! workers are inside closures, or once all are stuck inside polls or sleep inside calls, *spares*,
//! threads beside the workers, run them. At most as many spares are at work as workers wait or are
//! stuck, and after ten milliseconds in which none takes a call, as many as calls sleep; a worker
//! that is back runs beside its spare until that call is over. Idle workers steal what a spare
//! forks. The first call takes as long as the start of a thread, some 60 µs; the thread then stays
//! for ten seconds. Calls on spares may wait for a later call. Once as many of them do as the
//! runtime has workers, and at least 64, the later call waits too.
//! [`RuntimeMetrics::run_by_spares`](crate::metrics::RuntimeMetrics) counts the calls that spares
//! run.
//!
//! Neither kind of thread is one of the numbered workers: [`worker_index`] is `None` there, and the
//! hooks of the workers do not run.

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
#[doc(hidden)]
pub use entry::{handle_or, is_inside, is_worker_of};
#[doc(hidden)]
pub use fifo::scope_fifo_or;
pub use fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub use join::{FnContext, join, join_context};
#[doc(hidden)]
pub use join::{join_context_or, join_or};
#[doc(hidden)]
pub use scope::scope_or;
pub use scope::{Scope, in_place_scope, scope};
pub use sized::{Footprint, FootprintError, join_parts, join_sized, try_join_sized};
pub use worker::{Worker, on_worker};
pub use yielding::{Yield, has_pending_jobs, is_worker, worker_count, worker_index};
pub use yielding::{yield_local, yield_now};
