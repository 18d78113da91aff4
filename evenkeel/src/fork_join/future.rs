//! Forks that are awaited: a task that waits for one does not keep its worker.
//!
//! [`join()`](super::join()) inside a task is right for short work: it returns when both halves are
//! over, and its worker waits for a stolen half. [`join`] here lets the worker go on with other
//! tasks in that case, and [`fork`] does not even run a half on the spot. A fork has to own what it
//! uses (`'static`), since a task can be dropped while its fork is under way.
//!
//! # Roles
//! The *task* has forked, and polls. The *runner* is the worker that runs the job: a thief, or the
//! worker that forked it.
//!
//! # States
//! The place between them (`task/outcome.rs`) is *open*, with the waker of the last poll or none.
//! Then the result is *there*, until the task takes it; or it says that the fork was *not run*.
//!
//! # Why nothing is lost
//! Both change the place under its lock: a poll finds the result, or the runner finds the waker. A
//! worker runs the jobs in its deque at the end of each batch, and before it searches, sleeps or
//! leaves. A thread that has [settled](crate::WorkerThread::settle) as a worker has no batches, so
//! another worker has to steal its jobs.
//!
//! # Rejected
//! To borrow, and to wait in `drop`: a future that is forgotten is not dropped, and its frame goes
//! all the same.

#![allow(unsafe_code, reason = "jobs go through a deque")]

use super::{entry, spawned};
use crate::detect;
use crate::primitives::unwind;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::scheduler::job;
use crate::task::budget::Unit;
use crate::task::outcome::Outcome;
use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker, ready};
use std::thread;

/// Where the runner leaves the result of a job, or none if the runtime has ended before.
type Place<R> = Arc<Outcome<Option<thread::Result<R>>>>;

/// Makes the job that runs `oper` and leaves its result. The job does not panic.
fn job_of<F, R>(oper: F) -> (Place<R>, impl FnOnce() + Send)
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let place = Arc::new(Outcome::new());
    let runner = Runner(Some(place.clone()));
    (place, move || runner.complete(catch_unwind(AssertUnwindSafe(oper))))
}

/// The runner's end of a place.
struct Runner<R>(Option<Place<R>>);

impl<R> Runner<R> {
    fn complete(mut self, result: thread::Result<R>) {
        self.leave(Some(result));
    }

    fn leave(&mut self, result: Option<thread::Result<R>>) {
        let Some(place) = self.0.take() else { return };
        place.complete(result);
        // The last holder of a result that has not been taken drops it.
        unwind::contain(|| drop(place));
    }
}

impl<R> Drop for Runner<R> {
    /// A runtime that ends drops the forks that it has not run: their tasks panic.
    fn drop(&mut self) {
        self.leave(None);
    }
}

/// Pushes a job into the deque of this worker, or sends it to a runtime's workers.
fn push<F: FnOnce() + Send + 'static>(job: F) {
    entered::with_worker(|context| match context {
        Some(context) => {
            // A runtime that drains waits for the job, whether or not a task awaits it.
            let shared = context.shared().clone();
            shared.enter_jobs(1);
            let forked = detect::forked();
            let counted = move || {
                job();
                detect::ended(forked);
                shared.note_completed_outside();
            };
            // SAFETY: the job borrows nothing.
            unsafe { spawned::push(context, counted) }
        }
        None => push_outside(job),
    });
}

/// Leaves a job to the runtime that this thread belongs to, or to the default one.
#[cold]
fn push_outside<F: FnOnce() + Send + 'static>(job: F) {
    // The task's handle is dropped: the place has the result.
    drop(entry::handle().spawn(async move { job() }));
}

/// Begins to run `oper` beside the task, on the worker that takes it first, and returns a future of
/// its result.
///
/// It is run whether or not the future is polled. At the latest the worker runs it itself when the
/// polls of the present batch are over, after some microseconds. Outside of a worker the fork goes
/// to the runtime that the thread belongs to, or to the default one.
///
/// # Panics
/// The returned future panics with the panic of `oper`, and when it is polled again after it was
/// ready. It also panics if the runtime has ended before it ran `oper`, which happens only to forks
/// from outside of it.
///
/// # Cancel safety
/// If the future is dropped, `oper` runs all the same, and its result, or its panic, is dropped; a
/// runtime that drains ends after it.
///
/// # Cost
/// Two allocations, some 100 ns.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{future::fork, join};
///
/// fn fib(n: u32) -> u64 {
///     if n < 2 {
///         return n.into();
///     }
///     let (a, b) = join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
/// # #[evenkeel::main]
/// # async fn main() {
/// let a_number = fork(|| fib(20));
/// evenkeel::yield_now().await;
/// assert_eq!(a_number.await, 6_765);
/// # }
/// ```
pub fn fork<F, R>(oper: F) -> Fork<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let (place, job) = job_of(oper);
    push(job);
    Fork { place: Some(place), unit: Unit::NEW }
}

/// The result of a fork. Returned by [`fork`], which has an example.
#[must_use = "the result is in the future"]
pub struct Fork<R> {
    /// None once the result has been taken.
    place: Option<Place<R>>,
    unit: Unit,
}

impl<R> Fork<R> {
    /// Returns the result, which may be a panic, if it is there; none if the fork was not run.
    fn poll_result(&mut self, waker: &Waker) -> Poll<Option<thread::Result<R>>> {
        let Some(place) = &self.place else {
            panic!(
                "a fork is polled after its result has been taken: keep the result, and poll it no more"
            )
        };
        let result = ready!(place.poll(waker, &mut self.unit));
        self.place = None;
        Poll::Ready(result)
    }
}

impl<R> Future for Fork<R> {
    type Output = R;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<R> {
        match ready!(self.poll_result(cx.waker())) {
            Some(Ok(result)) => Poll::Ready(result),
            Some(Err(panic)) => resume_unwind(panic),
            None => panic!(
                "fork: its runtime ended before it ran the closure: fork inside a runtime that runs"
            ),
        }
    }
}

/// Returns a future that runs both closures: the first on the worker that polls it first, the
/// second on the worker that takes it first. The future is ready at once unless another worker has
/// taken the second. Then the task waits, and its worker goes on with others.
///
/// # Panics
/// The returned future panics with the panic of `oper_a` or else of `oper_b`, once both are over.
/// It also panics when it is polled again after it was ready, and if the runtime has ended before
/// it ran `oper_b`, as [`fork`] does.
///
/// # Cancel safety
/// A future that has not been polled runs nothing, and neither does one that has yielded because
/// the [slice](crate::budget) of its first poll was over. If it is dropped later, `oper_b` runs all
/// the same, and its result is dropped.
///
/// # Cost
/// Two allocations, some 100 ns.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::future::join;
/// # #[evenkeel::main]
/// # async fn main() {
/// let numbers: std::sync::Arc<[u64]> = (0..1_000).collect();
/// let (left, right) = (numbers.clone(), numbers);
/// let (left, right) = join(
///     move || left[..500].iter().sum::<u64>(),
///     move || right[500..].iter().sum::<u64>(),
/// ).await;
/// assert_eq!(left + right, 499_500);
/// # }
/// ```
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> Join<A, B, RA, RB>
where
    A: FnOnce() -> RA + Send + 'static,
    B: FnOnce() -> RB + Send + 'static,
    RA: Send + 'static,
    RB: Send + 'static,
{
    Join { stage: Stage::New(oper_a, oper_b), unit: Unit::NEW }
}

/// The results of both halves. Returned by [`join`], which has an example.
#[must_use = "futures do nothing unless they are polled"]
pub struct Join<A, B, RA, RB> {
    stage: Stage<A, B, RA, RB>,
    unit: Unit,
}

enum Stage<A, B, RA, RB> {
    New(A, B),
    /// The first half is over; the second is in a deque or with its runner.
    Forked(thread::Result<RA>, Fork<RB>),
    Over,
}

// Nothing in it is pinned: the closures are moved out before they are called.
impl<A, B, RA, RB> Unpin for Join<A, B, RA, RB> {}

impl<A, B, RA, RB> Future for Join<A, B, RA, RB>
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send + 'static,
    RB: Send + 'static,
{
    type Output = (RA, RB);

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<(RA, RB)> {
        if let Stage::New(..) = self.stage {
            // Before it runs anything.
            ready!(self.unit.poll(cx.waker()));
        }
        let (first, mut second) = match mem::replace(&mut self.stage, Stage::Over) {
            Stage::New(oper_a, oper_b) => {
                let (first, mut second) =
                    entered::with_worker(|context| run(context, oper_a, oper_b));
                second.unit.owe();
                (first, second)
            }
            Stage::Forked(first, second) => (first, second),
            Stage::Over => {
                panic!("a join is polled after it was ready: keep the results, and poll it no more")
            }
        };
        let Poll::Ready(result) = second.poll_result(cx.waker()) else {
            self.stage = Stage::Forked(first, second);
            return Poll::Pending;
        };
        match (first, result) {
            (first, Some(result)) => Poll::Ready(unwind::both(first, result)),
            (Err(panic), None) => resume_unwind(panic),
            (Ok(first), None) => {
                unwind::contain(|| drop(first));
                panic!(
                    "join: its runtime ended before it ran the second closure: join inside a \
                     runtime that runs"
                );
            }
        }
    }
}

/// Forks the second half and runs the first; then the second too, if no thief has taken it.
fn run<RA, RB>(
    context: Option<&Context>,
    oper_a: impl FnOnce() -> RA,
    oper_b: impl FnOnce() -> RB + Send + 'static,
) -> (thread::Result<RA>, Fork<RB>)
where
    RB: Send + 'static,
{
    let floor = context.map(|context| context.seat.processor().deque.level());
    let second = fork(oper_b);
    let first = catch_unwind(AssertUnwindSafe(oper_a));
    if let (Some(context), Some(floor)) = (context, floor) {
        job::run_above(context, floor);
    }
    (first, second)
}

impl<R> fmt::Debug for Fork<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = self.place.as_ref().is_some_and(|place| place.is_there());
        f.debug_struct("Fork").field("complete", &complete).finish_non_exhaustive()
    }
}

impl<A, B, RA, RB> fmt::Debug for Join<A, B, RA, RB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").finish_non_exhaustive()
    }
}
