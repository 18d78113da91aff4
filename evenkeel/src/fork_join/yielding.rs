//! How a closure can yield the worker that it runs on, and what it can ask of it.

use super::entry;
use crate::primitives::clock;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::runtime::Handle;
use crate::scheduler::job::{self, Asked, Stolen};
use crate::scheduler::{broadcast, errands, guest};

/// The result of a yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The worker has run a job.
    Executed,
    /// There was no job that it could have run.
    Idle,
}

/// Has the caller's worker run one other job, if there is any; returns `None` if the caller is not
/// on a worker.
///
/// For closures that wait by polling: `while !done() { yield_now(); }`. The worker takes the oldest
/// job of its own deque, which may be the second half of a `join` further down its stack; its part
/// of a broadcast; if its deque is empty, a job of another worker; or a call or job that has come
/// to its runtime from outside. Unlike a worker that waits for a fork it may so run anything: do
/// not hold a lock across this call that other jobs take.
///
/// A half that waits in this way for the other half needs a worker. A task may be polled on a
/// thread beside the workers ([`Builder::reliefs`](crate::Builder::reliefs)), where halves run one
/// after the other and such a wait never ends.
///
/// # Examples
/// A half that waits for the other one, which the same worker has to run:
/// ```
/// use evenkeel::fork_join::{Yield, join, yield_now};
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let done = AtomicBool::new(false);
/// let wait = || {
///     while !done.load(Ordering::Acquire) {
///         match yield_now().expect("this is a worker") {
///             Yield::Executed => {}
///             Yield::Idle => std::hint::spin_loop(),
///         }
///     }
/// };
/// runtime.install(|| join(wait, || done.store(true, Ordering::Release)));
/// assert_eq!(yield_now(), None, "the program's main thread is no worker");
/// ```
pub fn yield_now() -> Option<Yield> {
    on_worker(|context| run_local(context) || steal(context) || errands::run_one(context))
}

/// As [`yield_now`], but the worker looks no further than its own deque and its part of a
/// broadcast.
///
/// # Examples
/// ```
/// assert_eq!(evenkeel::fork_join::yield_local(), None, "this is no worker");
/// ```
pub fn yield_local() -> Option<Yield> {
    on_worker(run_local)
}

fn on_worker(run: impl FnOnce(&Context) -> bool) -> Option<Yield> {
    entered::with_worker(|context| Some(if run(context?) { Yield::Executed } else { Yield::Idle }))
}

/// The worker robs itself: the owner of the job further down the stack finds it stolen and
/// complete.
///
/// It publishes for itself, and leaves a thief's request: if it took the request without an answer,
/// a sleeping thief would not hear of the jobs that are left. It answers once it has its job, so
/// that it wakes no thief for that one. If no job is left, the next push answers.
fn run_local(context: &Context) -> bool {
    let deque = &context.seat.processor().deque;
    let me = context.seat.me();
    if !deque.is_empty() {
        if !deque.has_public() {
            deque.publish_unasked();
        }
        if let Some(own) = Stolen::take(context.shared(), me, || true) {
            if deque.is_asked() && deque.has_any() {
                context.answer_thieves();
            }
            own.run_own(context);
            return true;
        }
    }
    broadcast::run_one(context)
}

/// Takes a job from another worker, if the caller's own deque is empty: a thief's deque is empty
/// when it begins. It asks for private jobs, and seizes those of the first worker that it has asked
/// in vain, by earlier yields: that worker may wait for the caller, and push no more.
fn steal(context: &Context) -> bool {
    let shared = context.shared();
    if !context.seat.processor().deque.is_empty() {
        return false;
    }
    let before = context.forks.asked_in_yields.take();
    for other in shared.hosts(context.seat.me()) {
        let deque = &shared.processor(other).deque;
        if !deque.has_public() && deque.has_private() {
            if context.forks.asked_in_yields.get().is_some() {
                deque.ask();
            } else {
                let since = before.filter(|&(host, _)| host == other).map(|(_, since)| since);
                let mut asked = Asked(since.unwrap_or_default());
                if asked.is_in_vain(deque, clock::now()) {
                    deque.seize();
                }
                context.forks.asked_in_yields.set(Some((other, asked.0)));
            }
        }
        if !job::may_take(context, other, 0) {
            continue;
        }
        if let Some(stolen) = Stolen::take(shared, other, || job::may_take(context, other, 0)) {
            let distance = context.distance(other);
            context.counters().count_steal(distance);
            guest::host(context, distance, || stolen.run(context));
            return true;
        }
    }
    false
}

/// Returns whether the caller runs on a worker of a runtime.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{is_worker, join};
/// assert!(!is_worker());
/// assert_eq!(join(is_worker, is_worker), (true, true));
/// ```
#[inline(always)]
#[must_use]
pub fn is_worker() -> bool {
    entered::is_worker()
}

/// Returns the number of the worker that the caller runs on, from zero, if it is on one. On the
/// relief and on a spare it is `None`: see [threads](super#threads).
///
/// # Examples
/// ```
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// assert!(runtime.install(|| evenkeel::fork_join::worker_index()).unwrap() < 2);
/// assert_eq!(evenkeel::fork_join::worker_index(), None);
/// ```
#[must_use]
pub fn worker_index() -> Option<usize> {
    entered::with_worker(|context| context.filter(|own| !own.is_spare()).map(|own| own.seat.me()))
}

/// Returns the number of workers of the runtime that the caller belongs to, or else of the default
/// one.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// assert_eq!(runtime.install(|| evenkeel::fork_join::worker_count()), 2);
/// ```
#[must_use]
pub fn worker_count() -> usize {
    entered::with_worker(|context| match context {
        Some(context) => context.shared().workers,
        None => entry::handle().workers(),
    })
}

/// Returns whether jobs lie in the deque of the worker that the caller runs on, if it is on one: a
/// hint whether forking gives the other workers anything that they do not have.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{has_pending_jobs, join};
/// assert_eq!(has_pending_jobs(), None);
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let (first, second) = runtime.install(|| join(has_pending_jobs, has_pending_jobs));
/// assert_eq!((first, second), (Some(true), Some(false)));
/// ```
#[must_use]
pub fn has_pending_jobs() -> Option<bool> {
    entered::with_worker(|context| Some(!context?.seat.processor().deque.is_empty()))
}

impl Handle {
    /// Returns the number of workers of the runtime.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
    /// assert_eq!(runtime.handle().workers(), 3);
    /// ```
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared().workers
    }
}
