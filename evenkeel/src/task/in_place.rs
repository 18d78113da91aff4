//! Blocking inside a task.

use crate::scheduler::away;

/// Calls `f`, which may block the thread or compute for long, and hands the worker's other tasks on
/// before.
///
/// Inside a task, the calling worker's ready tasks go to a sleeping worker, or to a
/// [relief](crate::Builder::reliefs) if none sleeps. So they do not wait until the
/// [lookout](crate::Builder::reliefs) finds the worker stuck, some milliseconds later. The task
/// itself stays where it is: what else it is about to do, such as other branches of a `select!`,
/// waits for `f`. Everywhere else this is a plain call: on a thread that is no worker, inside
/// fork-join work that no task of this worker waits for, in a deterministic run.
///
/// [`spawn_blocking`](crate::spawn_blocking) costs a task and a change of threads, and takes a
/// closure that owns all that it needs; `f` may borrow.
///
/// # Panics
/// With the panic of `f`. [`block_on`](crate::block_on) panics inside of it, as in every task: the
/// thread is still a worker's.
///
/// # Cost
/// Two locked instructions and a look at the queues; a wake-up if there are ready tasks.
///
/// # Examples
/// One worker, whose task waits for another one:
/// ```
/// use std::sync::mpsc;
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let (sender, receiver) = mpsc::channel();
/// let task = runtime.spawn(async move {
///     evenkeel::spawn(async move { sender.send("aft").unwrap() }).detach();
///     evenkeel::block_in_place(|| receiver.recv().unwrap())
/// });
/// assert_eq!(runtime.block_on(task).unwrap(), "aft");
/// ```
///
/// The name and the use are those of Tokio's function, which panics on a runtime of one thread.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    away::block_in_place(f)
}
