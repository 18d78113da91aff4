//! Detached jobs, and broadcasts.

use crate::BroadcastContext;
use crate::global;
use evenkeel::fork_join;

/// Spawns `func`, which a thread of the caller's pool, or else of the global one, runs at some
/// time: see [`evenkeel::fork_join::spawn`]. Of the jobs that one thread spawns and no thief
/// steals, the last runs first.
///
/// A panic goes to the pool's [`panic_handler`](crate::ThreadPoolBuilder::panic_handler), and
/// without one aborts the process.
///
/// # Examples
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(22).unwrap());
/// assert_eq!(receiver.recv(), Ok(22));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    if fork_join::is_worker() {
        return fork_join::spawn(func);
    }
    global::handle().spawn_job(func);
}

/// Does the same as [`spawn`], but of the jobs that one thread spawns in this way the first begins
/// first.
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    if fork_join::is_worker() {
        return fork_join::spawn_fifo(func);
    }
    global::handle().spawn_job_fifo(func);
}

/// Runs `op` on each thread of the caller's pool, or else of the global one, and returns the
/// results by the threads' numbers: see [`evenkeel::fork_join::broadcast()`].
///
/// # Panics
/// If one of the calls panics: with that panic, once all are over.
///
/// # Examples
/// ```
/// let indices = rayon_core::broadcast(|thread| thread.index());
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    global::handle().broadcast(op)
}

/// Does the same as [`broadcast`], but does not wait. Its panics are handled like those of
/// [`spawn`].
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    global::handle().spawn_broadcast(op);
}
