//! A drop-in for `rayon-core`: with it, `rayon`'s parallel iterators and sorts, and every crate
//! that uses them, run on Evenkeel's workers.
//!
//! A program selects it with one line in its `Cargo.toml`, and changes nothing else:
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "evenkeel/evenkeel-rayon" }
//! ```
//! The whole public surface of `rayon-core` 1.13 is here, with its semantics but for what follows.
//! A [`ThreadPool`] is an [`evenkeel::Runtime`]; on a worker of a runtime of the program's own,
//! inside a task say, the functions of this crate use that runtime.
//!
//! # What is different
//! **Waiting.** A worker of rayon that waits for a [`join()`] or a [`scope()`] runs whatever it can
//! steal. Here it runs descendants of what it waits for: a mutex that is held across a `join`
//! cannot be taken by a job on top of its holder. It also runs its parts of [`broadcast`]s, and
//! beside a wait for another pool what comes to its own pool from outside. A closure that waits by
//! other means for a job that is neither its descendant nor in reach of another worker calls
//! [`yield_now`], as with rayon.
//!
//! **Calls from outside.** Where all threads of a pool are inside closures and one of them waits,
//! rayon runs a call or a job that comes from outside on top of that wait. Here a thread of its own
//! does, a *spare*: see [`evenkeel::fork_join`](evenkeel::fork_join#threads). There
//! [`current_thread_index`] is `None`. Code that needs a number for each thread takes `unwrap_or`
//! with one more place than [`current_num_threads`], behind a lock.
//!
//! **Order.** [`yield_now`] and [`yield_local`] run the oldest job of the worker's deque, rayon the
//! youngest. `breadth_first` is accepted and changes nothing; it is a hint in rayon too.
//!
//! **Threads.** A pool has [`max_num_threads`] = 1,024 threads at most, rayon 65,535. Above 65,530
//! jobs in one worker's deque, forks are plain calls.
//!
//! **Panics of [`spawn()`]ed jobs** on a runtime of the program's own go to its
//! `Builder::on_job_panic`; in a pool without a `panic_handler` they abort the process, as with
//! rayon.
//!
//! **Without threads.** On a target that has none rayon falls back to the calling thread; this
//! crate does not.

mod build;
mod config;
mod error;
mod global;
mod join;
mod pool;
mod scope;
mod spawn;
mod thread;

pub use build::ThreadPoolBuilder;
#[allow(deprecated, reason = "rayon-core still has it")]
pub use config::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use evenkeel::fork_join::{BroadcastContext, FnContext, Scope, ScopeFifo, Yield};
pub use global::{current_num_threads, max_num_threads};
pub use join::{join, join_context};
pub use pool::ThreadPool;
pub use scope::{in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{broadcast, spawn, spawn_broadcast, spawn_fifo};
pub use thread::{
    ThreadBuilder, current_thread_has_pending_tasks, current_thread_index, yield_local, yield_now,
};
