//! A form of fork-join that passes the worker by argument, to save the last nanosecond.

#![allow(unsafe_code, reason = "a worker's deque is reached through its thread")]

use super::entry;
use super::half::Here;
use super::join::{join_on_then, join_slowly};
use crate::deque::Deque;
use crate::deque::slot::Place;
use crate::processor::entered;
use std::fmt;
use std::marker::PhantomData;

/// The worker that the caller runs on, and where it forks next: see [`on_worker`].
pub struct Worker<'a> {
    deque: &'a Deque,
    head: Place,
    /// A worker belongs to one thread.
    not_send: PhantomData<*mut ()>,
}

/// Calls `f` with the calling thread's worker, or else, as [`join`](super::join()) does, on some
/// worker. A fork by the worker's [`join`](Worker::join) looks nothing up.
///
/// # Panics
/// With the panic of `f`.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{Worker, on_worker};
///
/// fn fib(mut worker: Worker<'_>, n: u32) -> u64 {
///     if n < 2 {
///         return n.into();
///     }
///     let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
///     a + b
/// }
/// assert_eq!(on_worker(|worker| fib(worker, 20)), 6_765);
/// ```
#[inline]
pub fn on_worker<F, R>(f: F) -> R
where
    F: FnOnce(Worker<'_>) -> R + Send,
    R: Send,
{
    // SAFETY: only this call uses the deque, and it runs on top of the worker's loop.
    match unsafe { entered::deque() } {
        Some(deque) => f(Worker::new(deque, deque.head())),
        None => entry::in_worker(entry::default_handle, |context| {
            let deque = &context.seat.processor().deque;
            f(Worker::new(deque, deque.head()))
        }),
    }
}

impl<'a> Worker<'a> {
    #[inline(always)]
    fn new(deque: &'a Deque, head: Place) -> Self {
        Self { deque, head, not_send: PhantomData }
    }

    #[inline(always)]
    fn at(here: Here<'a>) -> Self {
        Self::new(here.deque, here.head)
    }

    /// Returns the same worker, to pass it to a function and use this one again afterwards.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::fork_join::{Worker, on_worker};
    ///
    /// fn fill(mut worker: Worker<'_>, squares: &mut [usize], from: usize) {
    ///     match squares {
    ///         [] => {}
    ///         [square] => *square = from * from,
    ///         _ => {
    ///             let middle = squares.len() / 2;
    ///             let (low, high) = squares.split_at_mut(middle);
    ///             worker.join(|worker| fill(worker, low, from), |worker| fill(worker, high, from + middle));
    ///         }
    ///     }
    /// }
    /// let (mut first, mut second) = ([0; 5], [0; 3]);
    /// on_worker(|mut worker| {
    ///     fill(worker.reborrow(), &mut first, 0);
    ///     fill(worker, &mut second, 5);
    /// });
    /// assert_eq!((first, second), ([0, 1, 4, 9, 16], [25, 36, 49]));
    /// ```
    #[inline(always)]
    pub fn reborrow(&mut self) -> Worker<'_> {
        Worker::new(self.deque, self.head)
    }

    /// As [`join`](super::join()). Each half gets the worker that it runs on.
    ///
    /// # Panics
    /// As [`join`](super::join()).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::fork_join::{Worker, on_worker};
    ///
    /// fn sort(mut worker: Worker<'_>, numbers: &mut [u32]) {
    ///     if let Some((&mut pivot, rest)) = numbers.split_first_mut() {
    ///         let less = rest.iter().filter(|&&number| number < pivot).count();
    ///         numbers.select_nth_unstable(less);
    ///         let (low, high) = numbers.split_at_mut(less);
    ///         worker.join(|worker| sort(worker, low), |worker| sort(worker, &mut high[1..]));
    ///     }
    /// }
    /// let mut numbers = [4, 1, 5, 9, 2, 6, 3];
    /// on_worker(|worker| sort(worker, &mut numbers));
    /// assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 9]);
    /// ```
    #[inline(always)]
    pub fn join<A, B, RA, RB>(&mut self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        // `Send`, so that no half can use a worker that is not its own: none is `Send`.
        A: FnOnce(Worker<'_>) -> RA + Send,
        B: FnOnce(Worker<'_>) -> RB + Send,
        RB: Send,
    {
        self.join_then(oper_a, oper_b, |a, b| (a, b))
    }

    /// [`join`](Worker::join), and then `then` with both results, on this worker.
    ///
    /// If `then` is all that follows in a recursive function, and the halves take along what they
    /// need, the compiler can turn the second half into a loop, as it does with a call. That takes
    /// a third from the cost of a fork.
    ///
    /// # Panics
    /// As [`join`](super::join()), and with the panic of `then`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::fork_join::{Worker, on_worker};
    ///
    /// fn fib(mut worker: Worker<'_>, n: u32) -> u64 {
    ///     if n < 2 {
    ///         return n.into();
    ///     }
    ///     worker.join_then(
    ///         move |worker| fib(worker, n - 1),
    ///         move |worker| fib(worker, n - 2),
    ///         |a, b| a + b,
    ///     )
    /// }
    /// assert_eq!(on_worker(|worker| fib(worker, 20)), 6_765);
    /// ```
    #[inline(always)]
    pub fn join_then<A, B, RA, RB, R>(
        &mut self,
        oper_a: A,
        oper_b: B,
        then: impl FnOnce(RA, RB) -> R,
    ) -> R
    where
        A: FnOnce(Worker<'_>) -> RA + Send,
        B: FnOnce(Worker<'_>) -> RB + Send,
        RB: Send,
    {
        let oper_a = |here: Here<'_>| oper_a(Worker::at(here));
        let oper_b = |here: Here<'_>| oper_b(Worker::at(here));
        if self.deque.has_boxed() {
            // Boxed jobs may lie above: the place in hand is too low as long as they do.
            let (first, second) = join_slowly(self.deque, false, oper_a, oper_b);
            return then(first, second);
        }
        // The place in hand, so that the processor need not wait for the one in memory.
        debug_assert_eq!(self.head, self.deque.head());
        join_on_then(self.deque, self.head, false, oper_a, oper_b, then)
    }
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
