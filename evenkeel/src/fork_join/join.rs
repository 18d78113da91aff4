//! `join`: two closures, the second of which another worker may run.

#![allow(unsafe_code, reason = "the second half lies in this frame")]

use super::stack_job::{Place, StackJob};
use super::wait::wait_for;
use super::{entry, spawned};
use crate::primitives::unwind;
use crate::runtime::Handle;
use crate::scheduler::context;
use crate::scheduler::deque::{Deque, Pushed, Reclaimed};
use crate::scheduler::job::{self, Job};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

/// What a half of a [`join_context`] knows of where it runs.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
}

impl FnContext {
    /// Whether another worker runs this half than the one that has called.
    #[must_use]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, and gives both results: the first on this worker, the second on whichever worker takes it first,
/// which is mostly this one.
///
/// A fork costs 2 to 3 ns while the other workers are busy; one that sleeps is woken for it, which costs about 10 µs. The second half
/// lies on this stack. Called outside of a worker it
/// blocks the calling thread while a worker does the work: one of the runtime that the caller belongs to, or
/// of a default one.
///
/// # Waiting
/// A worker whose second half has been taken runs descendants of that half meanwhile, and nothing else: what cannot
/// deadlock with calls in place of forks and spawns cannot deadlock here, even if a mutex is held across a join. (It also runs its parts of
/// [`broadcast`](super::broadcast())s, which must not lock what is held across a fork.)
/// Tasks that are ready on this worker are taken over by the others meanwhile.
///
/// # Panics
/// With the panic of `oper_a` or else of `oper_b`, once both are over. Both are run in any case; `oper_b` after a panic of
/// `oper_a` runs while that unwinds, so a mutex that it holds when it panics too is not poisoned.
///
/// # Limits
/// Forks nest as deep as the stack is: 2 MiB by default for a worker ([`Builder::stack_size`](crate::Builder::stack_size)), and a
/// recursion that overflows it ends the process. Below 65,536 nested forks nothing can be stolen any more.
///
/// # Source
/// Lace (van Dijk and van de Pol, 2014) for the deque, rayon for the interface.
///
/// # Examples
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 1_000 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = evenkeel::fork_join::join(|| sum(left), || sum(right));
///     left + right
/// }
/// let numbers: Vec<u64> = (0..10_000).collect();
/// assert_eq!(sum(&numbers), 49_995_000);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_or(entry::default_handle, oper_a, oper_b)
}

/// As [`join`], with a word to each half on whether it has changed workers.
///
/// # Panics
/// As [`join`].
///
/// # Examples
/// ```
/// let (first, _) = evenkeel::fork_join::join_context(|a| a.migrated(), |b| b.migrated());
/// assert!(first, "called outside of a worker");
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context_or(entry::default_handle, oper_a, oper_b)
}

/// [`join`], with the runtime of whoever belongs to none.
#[inline(always)]
pub fn join_or<A, B, RA, RB>(outside: fn() -> Handle, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_here(outside, |_| oper_a(), |_| oper_b())
}

/// [`join_context`], with the runtime of whoever belongs to none.
#[inline(always)]
pub fn join_context_or<A, B, RA, RB>(outside: fn() -> Handle, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_here(
        outside,
        |place| oper_a(FnContext { migrated: place.migrated }),
        |place| oper_b(FnContext { migrated: place.migrated }),
    )
}

/// [`join`] wherever the caller is; `outside` gives the runtime of whoever belongs to none. Both ways come to the same
/// [`join_on`], which so is compiled once for each pair of closures; and no closure wraps another here, because each layer would double the length of the types'
/// names, of which a debug build of parallel iterators keeps gigabytes.
#[inline(always)]
fn join_here<A, B, RA, RB>(outside: fn() -> Handle, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(Place<'_>) -> RA + Send,
    B: FnOnce(Place<'_>) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // SAFETY: the deque is used by this call alone, which runs on top of the worker's loop.
    match unsafe { context::deque() } {
        Some(deque) => {
            join_on(deque, deque.head(), false, Deque::is_head, own_address, oper_a, oper_b)
        }
        None => entry::in_worker(outside, |context| {
            let deque = &context.seat.processor().deque;
            join_on(deque, deque.head(), true, Deque::is_head, own_address, oper_a, oper_b)
        }),
    }
}

/// A job's address without a note.
#[inline(always)]
pub(super) fn own_address(job: NonNull<Job>) -> NonNull<Job> {
    job
}

/// [`join`] on the worker of this deque, whose head is `index`; `entered` says whether it is another than the caller's. The halves are told where they run; `is_last` is one of two ways
/// to see whether anything lies above, and `pushed` gives the address by which the job is pushed: its own, or that with a note.
///
/// What a fork costs is mostly its stores, those of registers that are kept across the first half among them: so the
/// way back after a panic keeps none.
#[inline(always)]
pub(super) fn join_on<A, B, RA, RB>(
    deque: &Deque<Job>,
    index: u32,
    entered: bool,
    is_last: impl FnOnce(&Deque<Job>, u32) -> bool,
    pushed: impl FnOnce(NonNull<Job>) -> NonNull<Job>,
    oper_a: A,
    oper_b: B,
) -> (RA, RB)
where
    A: FnOnce(Place<'_>) -> RA,
    B: FnOnce(Place<'_>) -> RB,
{
    let job = StackJob::new(oper_b, index);
    let address = pushed(job.as_job());
    if !deque.push(index, address) && spawned::push_slowly(deque, index, address) == Pushed::Full {
        let here = Place { deque, head: index, migrated: entered };
        // SAFETY: nobody has the job.
        return join_serially(|| oper_a(here), || unsafe { job.run(here) });
    }
    let unwinding = Unwinding(&job);
    let first = oper_a(Place { deque, head: index + 1, migrated: entered });
    mem::forget(unwinding);
    if is_last(deque, index) && deque.pop(index) {
        // SAFETY: it has just been popped.
        return (first, unsafe { job.run(Place { deque, head: index, migrated: entered }) });
    }
    match settle(&job, index, entered) {
        Ok(second) => (first, second),
        Err(panic) => {
            unwind::contain(|| drop(first));
            resume_unwind(panic)
        }
    }
}

/// [`join_on`] where the deque is full.
#[cold]
#[inline(never)]
fn join_serially<RA, RB>(oper_a: impl FnOnce() -> RA, oper_b: impl FnOnce() -> RB) -> (RA, RB) {
    let first = catch_unwind(AssertUnwindSafe(oper_a));
    let second = catch_unwind(AssertUnwindSafe(oper_b));
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), other) => {
            unwind::contain(|| drop(other));
            resume_unwind(panic)
        }
        (Ok(first), Err(panic)) => {
            unwind::contain(|| drop(first));
            resume_unwind(panic)
        }
    }
}

/// Has the second half come to its end, wherever it is. The caller is the worker that has forked it.
#[cold]
#[inline(never)]
fn settle<F, R>(job: &StackJob<F, R>, index: u32, entered: bool) -> std::thread::Result<R>
where
    F: FnOnce(Place<'_>) -> R,
{
    context::with_worker(|context| {
        let context = context.expect("a fork ends on the worker where it began");
        let deque = &context.seat.processor().deque;
        job::run_above(context, index + 1);
        if deque.reclaim(index) == Reclaimed::Own {
            let place = Place { deque, head: index, migrated: entered };
            // SAFETY: it has just been taken back.
            return catch_unwind(AssertUnwindSafe(|| unsafe { job.run(place) }));
        }
        deque.retire(index);
        wait_for(context, &job.latch);
        // SAFETY: it is complete.
        unsafe { job.take_result() }
    })
}

/// Waits for the second half when the first one panics: its job lies in the frame that is being unwound.
struct Unwinding<'a, F, R>(&'a StackJob<F, R>)
where
    F: FnOnce(Place<'_>) -> R;

impl<F, R> Drop for Unwinding<'_, F, R>
where
    F: FnOnce(Place<'_>) -> R,
{
    // In line, so that the job's address is not kept anywhere.
    #[inline(always)]
    fn drop(&mut self) {
        settle_unwinding(self.0);
    }
}

#[cold]
#[inline(never)]
fn settle_unwinding<F, R>(job: &StackJob<F, R>)
where
    F: FnOnce(Place<'_>) -> R,
{
    // The panic that is on its way is the first half's, and goes before the second's.
    let outcome = settle(job, job.index, false);
    unwind::contain(|| drop(outcome));
}
