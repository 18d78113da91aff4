//! `join`: two closures, the second of which another worker may run.

#![allow(
    unsafe_code,
    reason = "the second half lies in a slot, and what is too large for it in this frame"
)]

use super::half::{Half, Here, Room};
use super::wait::wait_for;
use super::{entry, spawned};
use crate::deque::slot::Place;
use crate::deque::{Deque, Reclaimed};
use crate::primitives::unwind;
use crate::processor::entered;
use crate::runtime::Handle;
use crate::scheduler::job;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Tells a half of a [`join_context`] where it runs.
///
/// # Examples
/// A sum that forks further only where another worker takes part:
/// ```
/// use evenkeel::fork_join::{FnContext, join_context, worker_count};
///
/// fn sum(numbers: &[u64], forks: usize, context: FnContext) -> u64 {
///     let forks = if context.migrated() { worker_count() } else { forks / 2 };
///     if forks == 0 || numbers.len() < 2 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = join_context(|a| sum(left, forks, a), |b| sum(right, forks, b));
///     left + right
/// }
/// let numbers: Vec<u64> = (0..10_000).collect();
/// let (total, ()) = join_context(|a| sum(&numbers, worker_count(), a), |_| ());
/// assert_eq!(total, 49_995_000);
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
}

impl FnContext {
    /// Returns whether this half was stolen. As a rule it runs on another worker than the caller's
    /// then; a half that yields may take the other one by itself.
    #[must_use]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, and returns both results: the first on this worker, the second on the worker
/// that takes it first, which is mostly this one.
///
/// A fork costs 1 to 2 ns while the other workers are busy. If one sleeps, it is woken for the
/// fork, which costs about 10 µs. A fork costs least where `oper_b` moves small values in, instead
/// of borrowing them from the frame that forks. The second half lies in a slot of the worker's own,
/// or on this stack if it is larger than 48 bytes. Called outside of a worker, `join` blocks the
/// calling thread while a worker does the work: a worker of the runtime that the caller belongs to,
/// or of a default one.
///
/// # Waiting
/// A worker waits for a second half that was stolen. Meanwhile it runs descendants of that half,
/// and nothing else. So if the halves wait for nothing but locks and joins, and cannot deadlock
/// with a thread for each fork, they cannot deadlock here, even if a mutex is held across a join.
/// The other workers take over tasks that are ready on this worker meanwhile. If all workers are
/// inside forks, or stuck in other polls, a [relief](crate::Builder::reliefs) polls the tasks, some
/// milliseconds later. In a task [`future::join`](super::future::join) is better for halves that
/// take long.
///
/// # Panics
/// With the panic of `oper_a` or else of `oper_b`, once both are over. Both are run in any case.
/// After a panic of `oper_a`, `oper_b` runs while that panic unwinds: [`std::thread::panicking`] is
/// true in it, and a mutex that it holds when it panics too is not poisoned.
///
/// # Limits
/// Forks nest as deep as the stack allows: 2 MiB by default for a worker
/// ([`Builder::stack_size`](crate::Builder::stack_size)). A recursion that overflows it ends the
/// process. On a worker with 65,530 jobs in its deque, nested forks or spawned ones, a fork runs
/// its halves one after the other; what these spawn can be stolen.
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

/// As [`join`], and tells each half whether it has changed workers.
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

/// [`join`], with `outside` for the runtime of callers that belong to none.
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

/// [`join_context`], with `outside` for the runtime of callers that belong to none.
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
        |here| oper_a(FnContext { migrated: here.migrated }),
        |here| oper_b(FnContext { migrated: here.migrated }),
    )
}

/// [`join`] on any thread; `outside` returns the runtime for callers that belong to none. Workers
/// and other threads both call [`join_on`], which so is compiled once for each pair of closures. No
/// closure wraps another here, because each layer would double the length of the types' names, of
/// which a debug build of parallel iterators keeps gigabytes.
#[inline(always)]
fn join_here<A, B, RA, RB>(outside: fn() -> Handle, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA + Send,
    B: FnOnce(Here<'_>) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // SAFETY: only this call uses the deque, and it runs on top of the worker's loop.
    match unsafe { entered::deque() } {
        Some(deque) => join_on(deque, deque.head(), false, oper_a, oper_b),
        None => entry::in_worker(outside, |context| {
            let deque = &context.seat.processor().deque;
            // A relief runs its calls itself.
            join_on(deque, deque.head(), !context.is_relief(), oper_a, oper_b)
        }),
    }
}

/// [`join`] on the worker of this deque, with its head at `place`; `entered` says whether it is
/// another worker than the caller's. Each half gets a [`Here`] that says where it runs.
#[inline(always)]
pub(super) fn join_on<A, B, RA, RB>(
    deque: &Deque,
    place: Place,
    entered: bool,
    oper_a: A,
    oper_b: B,
) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    join_on_then(deque, place, entered, oper_a, oper_b, |a, b| (a, b))
}

/// [`join_on`], and then `then` with both results.
///
/// The cost of a fork is mostly its stores, which include those of registers that are kept across
/// the first half: so the way back after a panic keeps none.
#[inline(always)]
pub(super) fn join_on_then<A, B, RA, RB, R>(
    deque: &Deque,
    place: Place,
    entered: bool,
    oper_a: A,
    oper_b: B,
    then: impl FnOnce(RA, RB) -> R,
) -> R
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    if !deque.has_room(place) {
        let (first, second) = join_slowly(deque, entered, oper_a, oper_b);
        return then(first, second);
    }
    let mut room = Room::new();
    // SAFETY: the place is the head, and there is a slot. The room is this frame's.
    let half = unsafe { Half::put(place, &mut room, oper_b) };
    deque.push(place);
    join_pushed(deque, half, entered, oper_a, then)
}

/// [`join_on`] for the cases in which a thief has asked for jobs, boxed jobs may lie above the
/// place in hand, or slots have to be prepared.
///
/// Halves that do not fit into registers come to the slow way by address. The address is that of a
/// separate place: if it were that of the halves themselves, these would lie in memory on the fast
/// way too.
#[inline(always)]
pub(super) fn join_slowly<A, B, RA, RB>(
    deque: &Deque,
    entered: bool,
    oper_a: A,
    oper_b: B,
) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    if size_of::<A>().max(size_of::<B>()) <= size_of::<usize>() {
        join_by_value(deque, entered, oper_a, oper_b)
    } else {
        join_by_address(deque, entered, &mut Some((oper_a, oper_b)))
    }
}

#[cold]
#[inline(never)]
fn join_by_address<A, B, RA, RB>(
    deque: &Deque,
    entered: bool,
    halves: &mut Option<(A, B)>,
) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    let (oper_a, oper_b) = halves.take().expect("the halves are there");
    join_by_value(deque, entered, oper_a, oper_b)
}

#[cold]
#[inline(never)]
fn join_by_value<A, B, RA, RB>(deque: &Deque, entered: bool, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    let place = deque.head();
    if !deque.prepare(place) {
        return join_serially(deque, place, entered, oper_a, oper_b);
    }
    let mut room = Room::new();
    // SAFETY: as in `join_on`.
    let half = unsafe { Half::put(place, &mut room, oper_b) };
    deque.push(place);
    if deque.is_asked() {
        spawned::answer(deque);
    }
    join_pushed(deque, half, entered, oper_a, |a, b| (a, b))
}

/// The rest of a fork after its second half has been pushed. Both ways call `then`, so that on the
/// fast one only `then` follows the second half.
#[inline(always)]
fn join_pushed<A, B, RA, RB, R>(
    deque: &Deque,
    half: Half<B, RB>,
    entered: bool,
    oper_a: A,
    then: impl FnOnce(RA, RB) -> R,
) -> R
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    let unwinding = Unwinding(half, entered);
    let first = oper_a(Here { deque, head: half.place.next(), migrated: entered });
    mem::forget(unwinding);
    let first = unwind::Contained::new(first);
    // SAFETY: the worker is still in the fork, and its deque exists.
    let deque = unsafe { half.place.deque() };
    // Boxed jobs may lie above. It would be dear to look for them at the head, which has just been
    // stored.
    if !deque.has_boxed() && deque.pop(half.place) {
        // SAFETY: it has just been popped.
        let second = unsafe { half.run(deque, entered) };
        then(first.into_inner(), second)
    } else {
        let second = settle_in_place(half, entered);
        then(first.into_inner(), second)
    }
}

/// [`join_on`] where the deque is full.
fn join_serially<A, B, RA, RB>(
    deque: &Deque,
    place: Place,
    entered: bool,
    oper_a: A,
    oper_b: B,
) -> (RA, RB)
where
    A: FnOnce(Here<'_>) -> RA,
    B: FnOnce(Here<'_>) -> RB,
{
    let here = Here { deque, head: place, migrated: entered };
    let first = catch_unwind(AssertUnwindSafe(|| oper_a(here)));
    let second = catch_unwind(AssertUnwindSafe(|| oper_b(here)));
    unwind::both(first, second)
}

/// Brings the second half to its end, wherever it is. The caller is the worker that has forked it.
fn settle<F, R>(half: Half<F, R>, entered: bool) -> std::thread::Result<R>
where
    F: FnOnce(Here<'_>) -> R,
{
    // SAFETY: the worker is still in the fork, and its deque exists.
    entered::with_owner(unsafe { half.place.deque() }, |context| {
        let deque = &context.seat.processor().deque;
        job::run_above(context, deque.level_above(half.place));
        if deque.reclaim(half.place) == Reclaimed::Own {
            // SAFETY: it has just been taken back.
            return catch_unwind(AssertUnwindSafe(|| unsafe { half.run(deque, entered) }));
        }
        // SAFETY: it is not at its end before its result has been taken.
        wait_for(context, unsafe { half.latch() });
        // SAFETY: it is complete.
        let result = unsafe { half.take_result() };
        deque.retire(half.place);
        result
    })
}

/// As [`settle`], but a panic of the half becomes one of the caller: a result with either would be
/// returned through the caller's frame.
#[cold]
#[inline(never)]
fn settle_in_place<F, R>(half: Half<F, R>, entered: bool) -> R
where
    F: FnOnce(Here<'_>) -> R,
{
    // SAFETY: the worker is still in the fork, and its deque exists.
    let deque = unsafe { half.place.deque() };
    if deque.is_last(half.place) && deque.pop(half.place) {
        // SAFETY: it has just been popped.
        return unsafe { half.run(deque, entered) };
    }
    settle(half, entered).unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits for the second half when the first one panics: the second borrows from the frame that is
/// being unwound.
struct Unwinding<F, R>(Half<F, R>, bool)
where
    F: FnOnce(Here<'_>) -> R;

impl<F, R> Drop for Unwinding<F, R>
where
    F: FnOnce(Here<'_>) -> R,
{
    // In line, so that it keeps no more than the fork does anyway.
    #[inline(always)]
    fn drop(&mut self) {
        settle_unwinding(self.0, self.1);
    }
}

#[cold]
#[inline(never)]
fn settle_unwinding<F, R>(half: Half<F, R>, entered: bool)
where
    F: FnOnce(Here<'_>) -> R,
{
    // The panic that unwinds is the first half's, and takes precedence over the second's.
    let outcome = settle(half, entered);
    unwind::contain(|| drop(outcome));
}
