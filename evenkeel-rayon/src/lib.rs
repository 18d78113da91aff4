//! A drop-in for `rayon-core`: with it, `rayon`'s parallel iterators and sorts, and every crate
//! that uses them, run on Evenkeel's workers.
//!
//! A program selects it with one line in its `Cargo.toml`, and changes nothing else:
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "../evenkeel/evenkeel-rayon" }
//! ```
//! This is the whole public surface of `rayon-core` 1.13, with its semantics except for the
//! differences below. A [`ThreadPool`] is an [`evenkeel::Runtime`]; on a worker of a runtime of the
//! program's own, such as inside a task, the functions of this crate use that runtime. (Where such
//! a task has [entered](evenkeel::Runtime::enter) another runtime, scopes and broadcasts use that.)
//!
//! # What is different
//! **Waiting.** A worker of rayon that waits for a [`join()`] or a [`scope()`] runs any job that it
//! can steal. Here it runs descendants of what it waits for: no job on top of a mutex's holder
//! takes a mutex that is held across a `join`. It also runs its parts of [`broadcast`]s and, while
//! it waits for another pool, calls and jobs from outside of its own pool. A closure that waits by
//! other means for a job that is neither its descendant nor in reach of another worker calls
//! [`yield_now`], as with rayon.
//!
//! **Calls from outside.** If all threads of a pool are inside closures and one of them waits,
//! rayon runs a call or a job from outside on top of that wait. Here a *spare*, a thread of its
//! own, runs it: see [`evenkeel::fork_join`](evenkeel::fork_join#threads). On it
//! [`current_thread_index`] is `None`. Code that needs a number for each thread uses `unwrap_or`
//! with one more place than [`current_num_threads`], behind a lock. A spare is a plain thread also
//! in a pool whose threads the program makes ([`ThreadPoolBuilder::spawn_handler`],
//! [`ThreadPoolBuilder::build_scoped`]): what those threads set up for themselves, such as scoped
//! thread-locals or a place on certain cores, it does not have, and no handler runs on it.
//!
//! **Order.** [`yield_now`] and [`yield_local`] run the oldest job of the worker's deque; those of
//! rayon run the youngest. `breadth_first` is accepted and changes nothing; it is a hint in rayon
//! too.
//!
//! **Threads.** A pool has at most [`max_num_threads`] = 1,024 threads; one of rayon has 65,535.
//! Above 65,530 jobs in one worker's deque, forks are plain calls.
//!
//! **Panics of [`spawn()`]ed jobs** on a runtime of the program's own go to its
//! `Builder::on_job_panic`; in a pool without a `panic_handler` they abort the process, as with
//! rayon.
//!
//! **Without threads.** On a target without threads rayon falls back to the calling thread; this
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
