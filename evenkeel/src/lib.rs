//! Evenkeel: an async runtime that lets no ready task starve, whatever the polls of other tasks do.
//!
//! If every worker is inside a poll that does not end, threads beside the workers poll the other
//! tasks: [`Builder::reliefs`] says when they come, and how many there are. Loops of awaits that
//! are always ready are not such polls: they have a [`budget`].
//!
//! Tasks are spawned futures. Processors, one per core, run them in the order in which they became
//! ready. The other processors help one that falls behind, and take over the queue of one that is
//! stuck inside a long poll. See [`Runtime`] to begin, [`task`] for what a task can do, [`sync`]
//! and [`time`] for what it can wait for, and [`fork_join`] for computations on the same workers.
//! [`coroutine`] has bodies that are resumed with values, and `net` sockets, whose streams have the
//! traits of Tokio, hyper and `futures-io` behind features; `fs` has files, and `signal` waits for
//! Ctrl-C and other signals. [`metrics`] shows what goes on inside, and [`detect`] what has come to
//! a halt.
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
//!
//! # The promise
//! If a worker makes progress, a task that becomes ready starts within
//! ```text
//! H · ⌈M/W⌉  +  6·P  +  9 µs · M  +  2 · (N/W) · p
//! ```
//! `M` is the number of workers, and `W` of those whose polls return. `N` is the number of tasks
//! that are ready, `p` the mean time of their polls, and `P` that of the longest poll that returns.
//! `H` is 450 µs, and 850 beside workers with sockets; polls that others overtake count twice in
//! `N · p`. While the other workers sleep, 8 ms are added for a lone task behind a poll that does
//! not end, and for tasks that the runtime keeps together or at their sockets. If no worker makes
//! progress, a [relief](Builder::reliefs) does, alone, some 8 ms later. The time is that of the
//! clock on the wall.
//!
//! *Assumed* is that the system grants the threads and gives them cores, that wakers do not block,
//! and that fewer reliefs are stuck than [`Builder::reliefs`] sets. *It does not hold* in a runtime
//! without reliefs whose workers are all stuck, such as a [current-thread
//! one](Builder::new_current_thread); nor for a task at the home of an [`object`], a local task of
//! a [`LocalSet`](task::LocalSet), the future of [`block_on`], and what waits for something else
//! than its turn. A [deterministic] run has the order of its seed. The constants are fitted to
//! simulated machines, and asserted there; they are not measured on large ones. In the repository,
//! `docs/promise.md` has the details, all exceptions, and how it is checked.
//!
//! # Features
//! | feature | adds |
//! |---|---|
//! | `macros`, on by default | `#[evenkeel::main]`, `#[evenkeel::test]`, `#[derive(Entry)]` |
//! | `net`, on by default | TCP, UDP and Unix sockets over the workers' own readiness sets, on Unix |
//! | `signal`, on by default | Ctrl-C and the other signals of the system, on Unix |
//! | `stream`, on by default | the outputs of a coroutine, ticks, signals and the entries of a folder as a `Stream` of `futures-core` |
//! | `futures-io`, `tokio-io` | streams and files read and write by the traits of `futures_io`, of `tokio::io` |
//! | `hyper` | streams have the traits of `hyper::rt`; tasks and timers for it, `HyperExecutor` and `HyperTimer` |
//! | `select` | `select!`, `join!`, `try_join!` and `pin!`: Tokio's macros, without its runtime |
//! | `detect` | the [detection of deadlocks](detect) in builds without debug assertions, too |
//! | `counters` | cache misses, where Linux counts them, as a hint for the placement of [objects](object) |

// On docs.rs each item says which feature and system it needs, and nothing of models.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(loom, shuttle))))]
// An example whose handle is not used would warn in the program that copies it.
#![doc(test(attr(deny(unused_must_use))))]

pub mod budget;
pub mod coroutine;
mod deque;
pub mod detect;
#[cfg(not(any(loom, shuttle)))]
pub mod deterministic;
pub mod fork_join;
#[cfg(not(any(loom, shuttle)))]
pub mod fs;
mod idle;
#[doc(hidden)]
pub mod internal;
pub mod metrics;
#[cfg(all(feature = "net", unix, not(any(loom, shuttle))))]
pub mod net;
pub mod object;
mod primitives;
mod processor;
mod queue;
mod raw_task;
mod readiness;
mod runtime;
mod scheduler;
#[cfg(all(feature = "select", not(any(loom, shuttle))))]
mod select;
// Models have the part that brings signals to listeners.
#[cfg(all(feature = "signal", unix, any(not(any(loom, shuttle)), all(test, loom))))]
pub mod signal;
pub mod sync;
pub mod task;
pub mod time;
mod timers;
pub mod topology;
mod travel;

pub(crate) use evenkeel_policy as policy;
#[doc(inline)]
pub use evenkeel_policy::Locality;
pub use runtime::{AlreadyWorker, BuildError, Builder, EnterGuard, Handle, Runtime, WorkerThread};
pub use runtime::{Shutdown, ShutdownReport, block_on};
pub use task::{JoinError, JoinHandle, block_in_place, spawn, spawn_blocking, yield_now};

#[cfg(feature = "macros")]
pub use evenkeel_macros::{main, test};
#[cfg(all(feature = "select", not(any(loom, shuttle))))]
pub use select::{join, pin, select, try_join};

/// Compiles and runs the example of the package's front page.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
