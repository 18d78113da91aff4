//! Jobs without a joiner.
//!
//! Each job is counted, so that a runtime that drains ends after it. A job that a worker of the
//! runtime spawns lies in that worker's deque; a job from another thread is an errand.
//!
//! A runtime that aborts ends after its jobs too, but drops them: the worker that comes to a job
//! drops the closure instead of calling it. So jobs that spawn jobs without end come to an end. Not
//! the spawner drops a job: the closure's destructor would run inside of the call, under the
//! spawner's locks. The joins and scopes of jobs that have begun go on, because threads wait for
//! them: their jobs are not detached.

#![allow(unsafe_code, reason = "a job in a deque may borrow, which these do not")]

use super::broadcast::BroadcastContext;
use super::{entry, errand, spawned};
use crate::primitives::unwind;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::shared::{Phase, Shared};
use crate::runtime::Handle;
use crate::scheduler;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// Spawns `job` on some worker of the runtime that the caller belongs to, or else of a default one,
/// without waiting for it. A runtime that [drains](crate::Shutdown::Drain) ends after it. One that
/// aborts, also after a [deadline](crate::Shutdown::Deadline) or because its
/// [`Runtime`](crate::Runtime) is dropped, drops the jobs that have not begun, and each new one. A
/// closure that is under way then waits in vain for a job's effect: have it wait for something that
/// the job's destructor ends as well, such as a channel.
///
/// If a worker spawns it, the job lies in that worker's deque. A thief takes the oldest job there.
/// The worker itself takes the youngest, as soon as it has returned from the closure that it runs,
/// or waits. The job must not borrow: see [`scope`](super::scope()) for jobs that do, and
/// [`evenkeel::spawn`](crate::spawn()) for tasks, which can wait without keeping a worker.
///
/// A panic in it, or in its destructor, goes to
/// [`Builder::on_job_panic`](crate::Builder::on_job_panic).
///
/// # Locks
/// The job may run on this stack at the end of the fork or the scope within which it was spawned.
/// It must not take a lock that is held across such a fork or scope, or that the closure of one
/// returns locked.
///
/// # Examples
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// evenkeel::fork_join::spawn(move || sender.send(6 * 7).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
pub fn spawn<F>(job: F)
where
    F: FnOnce() + Send + 'static,
{
    entered::with_worker(|context| match context {
        Some(context) => push(context, job),
        None => entry::handle().send_job(job),
    });
}

/// As [`spawn`], but the jobs that one worker spawns in this way run in the order in which they
/// were spawned.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// runtime.install(move || {
///     for number in 0..3 {
///         let sender = sender.clone();
///         evenkeel::fork_join::spawn_fifo(move || sender.send(number).unwrap());
///     }
/// });
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn spawn_fifo<F>(job: F)
where
    F: FnOnce() + Send + 'static,
{
    entered::with_worker(|context| match context {
        Some(context) => push_fifo(context, job),
        None => entry::handle().send_job(job),
    });
}

/// Has each worker run `op` once, as [`broadcast`](super::broadcast()) does, without waiting. A
/// runtime that aborts before any part has begun drops all of them, as it drops the jobs of
/// [`spawn`].
///
/// A panic in it goes to [`Builder::on_job_panic`](crate::Builder::on_job_panic).
///
/// # Examples
/// ```
/// let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// runtime.handle().spawn_broadcast(move |worker| sender.send(worker.index()).unwrap());
/// let mut workers: Vec<_> = receiver.iter().collect();
/// workers.sort();
/// assert_eq!(workers, [0, 1, 2]);
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    entry::handle().spawn_broadcast(op);
}

impl Handle {
    /// As [`fork_join::spawn`](spawn), on this runtime. A runtime that has begun to shut down drops
    /// a job from outside, and one that aborts drops each that has not begun.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{Runtime, Shutdown};
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = Runtime::new().unwrap();
    /// let handle = runtime.handle();
    /// let late = sender.clone();
    /// handle.spawn_job(move || sender.send("in time").unwrap());
    /// runtime.shutdown(Shutdown::Drain);
    /// handle.spawn_job(move || late.send("too late").unwrap());
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), ["in time"]);
    /// ```
    pub fn spawn_job<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        entry::with_own(self, |context| match context {
            Some(context) => push(context, job),
            None => self.send_job(job),
        });
    }

    /// As [`fork_join::spawn_fifo`](spawn_fifo), on this runtime. A runtime that has begun to shut
    /// down drops a job from outside.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let handle = runtime.handle();
    /// runtime.install(move || {
    ///     for number in 0..3 {
    ///         let sender = sender.clone();
    ///         handle.spawn_job_fifo(move || sender.send(number).unwrap());
    ///     }
    /// });
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn spawn_job_fifo<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        entry::with_own(self, |context| match context {
            Some(context) => push_fifo(context, job),
            None => self.send_job(job),
        });
    }

    fn send_job(&self, job: impl FnOnce() + Send + 'static) {
        errand::send(self, Box::new(move || here(|context| run(context.shared(), job))));
    }

    /// As [`fork_join::spawn_broadcast`](spawn_broadcast), on this runtime. A runtime that has
    /// begun to shut down drops a broadcast from outside.
    ///
    /// # Examples
    /// Each worker empties a cache of its own, while the caller goes on:
    /// ```
    /// use std::cell::RefCell;
    /// thread_local! {
    ///     static CACHE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// }
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// let handle = runtime.handle();
    /// handle.broadcast(|_| CACHE.with_borrow_mut(|cache| cache.push(1)));
    /// handle.spawn_broadcast(|_| drop(CACHE.take()));
    /// // Every worker gets the parts of two broadcasts in the same order.
    /// assert_eq!(handle.broadcast(|_| CACHE.with_borrow(Vec::len)), [0, 0]);
    /// ```
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let (shared, op) = (self.shared(), Arc::new(op));
        let workers = self.workers();
        // The first part that a worker comes to decides for all: parts may wait for each other.
        let drops = Arc::new(OnceLock::new());
        scheduler::broadcast::send(shared, |index| {
            let (shared, op, drops) = (shared.clone(), op.clone(), drops.clone());
            let part = move || op(BroadcastContext::new(index, workers));
            Box::new(move || {
                let drops = *drops.get_or_init(|| aborts(&shared));
                run_unless(drops, &shared, part);
            })
        });
    }
}

/// Puts a job into the worker's deque.
fn push(context: &Context, job: impl FnOnce() + Send + 'static) {
    let job = count(context, job);
    // SAFETY: it borrows nothing.
    unsafe { spawned::push(context, job) }
}

/// Puts a job into the worker's queue.
fn push_fifo(context: &Context, job: impl FnOnce() + Send + 'static) {
    let job = count(context, job);
    // SAFETY: it borrows nothing, and the queue is there as long as its worker.
    unsafe { spawned::push_fifo(context, false, &context.seat.processor().fifo, job) }
}

/// Counts a job that a worker of the runtime is going to run.
fn count<F>(context: &Context, job: F) -> impl FnOnce() + Send + use<F>
where
    F: FnOnce() + Send + 'static,
{
    // If the runtime is over, the worker has no loop, and the count does not matter.
    context.shared().enter_jobs(1);
    move || {
        here(|context| {
            run(context.shared(), job);
            context.shared().note_completed_outside();
        });
    }
}

fn here<R>(f: impl FnOnce(&Context) -> R) -> R {
    entered::with_worker(|context| f(context.expect("jobs are run by workers")))
}

/// Returns whether the runtime drops its jobs. Once it is over, the worker's hooks may spawn some.
fn aborts(shared: &Shared) -> bool {
    shared.phase() == Phase::Aborting
}

/// Runs a job, or drops it if the runtime aborts.
fn run(shared: &Shared, job: impl FnOnce()) {
    run_unless(aborts(shared), shared, job);
}

/// Runs a job, or drops it, and reports its panic.
fn run_unless(drops: bool, shared: &Shared, job: impl FnOnce()) {
    let run = || if drops { drop(job) } else { job() };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        unwind::contain(|| match &shared.hooks.job_panic {
            Some(hook) => hook(panic),
            // The process's panic hook has reported it.
            None => drop(panic),
        });
    }
}
