//! Polls futures that insist on a Tokio runtime inside the context of one.
//!
//! Crates that are built on Tokio's own sockets, timers and tasks (reqwest, sqlx, `tokio::net`,
//! `tokio::time`) panic outside of a Tokio runtime. [`CompatExt::compat`] wraps such a future:
//! each poll of it, and its drop, is inside the context of a Tokio runtime that lives on one
//! thread beside the program's own workers. The caller's task stays where it is: its executor
//! polls it, and Tokio's thread only tells it when a socket is ready or a timer is due.
//!
//! The executor may be evenkeel or any other: this crate knows `std::task` and Tokio.
//!
//! ```
//! use evenkeel_compat::CompatExt;
//! use std::time::Duration;
//!
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let task = runtime.spawn(
//!     async {
//!         tokio::time::sleep(Duration::from_millis(2)).await;
//!         "slept"
//!     }
//!     .compat(),
//! );
//! assert_eq!(runtime.block_on(task).unwrap(), "slept");
//! ```
//!
//! # What to wrap
//! An async block, or the call of an async function: its body is then run inside the context. Not
//! the call of a plain function that needs the context itself, because it is made before there is
//! a future to wrap. So `tokio::time::sleep(limit).compat()` panics, and
//! `async { tokio::time::sleep(limit).await }.compat()` does not. For constructors outside of
//! async code there is [`enter`].
//!
//! Values whose destructor needs the context, such as a connection out of a pool of sqlx, are
//! dropped in the wrapped future, or under [`enter`].
//!
//! Wrap the largest part that makes sense, such as the whole task: each poll of a wrapper enters
//! the context. Wrappers may lie in one another.
//!
//! # What runs where
//! | what | where |
//! |---|---|
//! | the wrapped future, and futures that it awaits or joins | in the caller's task, on its executor |
//! | sockets' readiness, timers | on the thread `evenkeel-compat`, which wakes the caller's task |
//! | ends of children, and their pipes, of `tokio::process` (a program that has this feature of Tokio) | likewise |
//! | what a crate spawns by `tokio::spawn` or a `JoinSet` of Tokio | on the thread `evenkeel-compat` |
//! | `tokio::task::spawn_blocking`, files of `tokio::fs`, look-ups of names | on blocking threads of Tokio |
//! | `tokio::task::block_in_place` | its closure is called where it is, and blocks the executor's worker |
//! | `evenkeel::spawn` | on evenkeel, as always |
//! | closures of `evenkeel::fork_join` | on evenkeel, and outside of this context where another worker runs them |
//!
//! The promise of evenkeel is for the tasks on its workers. What a crate spawns by Tokio is
//! outside of it: those tasks share one thread, and one that computes there holds back the others,
//! and the wakes of all sockets and timers of this context. A program with more of that than one
//! thread does brings a Tokio runtime of its own: [`CompatExt::compat_with`].
//!
//! Tokio's budget of operations is counted by Tokio's scheduler alone. A wrapped future that finds
//! everything ready does not yield by it.
//!
//! # The runtime
//! The Tokio runtime of this crate is started once in a process, when it is first needed. It has
//! one thread, which sleeps while there is nothing to do. It lasts as long as the process: its
//! thread is not joined, and what is spawned on it and not awaited is lost when `main` returns.
//! [`handle`] gives its handle. Its thread calls the wakers of the executors that poll wrapped
//! futures: a waker that panics ends it, and with it all sockets and timers of this context.
//! Evenkeel's wakers do not panic.
//!
//! Its thread may run where the thread may that needs it first. If that is a
//! pinned worker (`Builder::pin`), both share one core for as long as the process lasts:
//! such a program calls [`try_handle`] in `main`.
//!
//! # Cost
//! A poll of a wrapper clones a handle and writes thread-local memory twice, beside the poll of
//! the future. A wake from a socket or timer is one from another thread. The runtime's first use
//! starts a thread, and waits until it runs.

#![forbid(unsafe_code)]

mod background;
mod context;
mod error;
mod future;

pub use background::{handle, try_handle};
pub use context::enter;
pub use error::StartError;
pub use future::{Compat, CompatExt};

/// Compiles and runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
