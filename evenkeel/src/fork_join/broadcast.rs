//! Closures that each worker runs.

use super::entry;
use super::scope::{Scope, in_place};
use crate::primitives::unwind::Contained;
use crate::primitives::{Mutex, lock};
use crate::runtime::Handle;
use std::fmt;
use std::marker::PhantomData;

/// Tells a part of a broadcast which worker runs it.
///
/// # Examples
/// Each worker takes its share of a table:
/// ```
/// use evenkeel::fork_join::{BroadcastContext, broadcast};
/// let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
/// let table: Vec<u64> = (0..1_000).collect();
/// let share = |worker: BroadcastContext<'_>| -> u64 {
///     table.iter().skip(worker.index()).step_by(worker.num_threads()).sum()
/// };
/// let sums = runtime.install(|| broadcast(share));
/// assert_eq!(sums.len(), 3);
/// assert_eq!(sums.iter().sum::<u64>(), 499_500);
/// ```
pub struct BroadcastContext<'a> {
    index: usize,
    workers: usize,
    /// The context stays with its worker, and with its part.
    marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(super) fn new(index: usize, workers: usize) -> Self {
        Self { index, workers, marker: PhantomData }
    }

    /// Returns the worker's number, from zero. Where [another worker](broadcast()) runs the part,
    /// it is the number of the worker that the part is for.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of workers, which is the number of parts.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.workers
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.workers)
            .finish()
    }
}

/// Runs `op` once on each worker of the runtime that the caller belongs to, or else of a default
/// one, and returns the results by the workers' numbers.
///
/// A worker runs its part when it has nothing in its deque, before it steals; or while it waits for
/// a forked half, a scope or another runtime. Every worker gets the parts of two broadcasts in the
/// same order. What a part locks must not be held across a fork, since the part may run on top of
/// the holder. A worker inside a closure that neither ends nor waits keeps the caller waiting. Each
/// part costs an allocation, and a system call if its worker sleeps.
///
/// If a [worker](crate::WorkerThread) was dropped, or if its thread had settled and has ended, the
/// next worker runs its part beside its own, so that there is a result for each number.
///
/// # Panics
/// With the panic of one of the parts, once all are over. Also if the runtime has begun to shut
/// down.
///
/// # Source
/// rayon, for interface and order.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
/// let squares = runtime.install(|| {
///     evenkeel::fork_join::broadcast(|worker| worker.index() * worker.index())
/// });
/// assert_eq!(squares, [0, 1, 4]);
/// ```
#[track_caller]
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    entry::handle().broadcast(op)
}

impl Handle {
    /// As [`broadcast`], on the workers of this runtime.
    ///
    /// # Panics
    /// As [`broadcast`].
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().workers(2).name("deck").build().unwrap();
    /// let named = runtime.handle().broadcast(|worker| {
    ///     let thread = std::thread::current();
    ///     thread.name() == Some(&format!("deck-{}", worker.index()))
    /// });
    /// assert_eq!(named, [true, true]);
    /// ```
    #[track_caller]
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        // Contained: if a part panics, the results of others are dropped while that unwinds.
        let results: Vec<_> =
            (0..self.workers()).map(|_| Contained::new(Mutex::new(None))).collect();
        in_place(
            self.clone(),
            |scope| scope,
            |scope| {
                scope.spawn_broadcast(|_, context| {
                    let place = &*results[context.index()];
                    let result = op(context);
                    *lock(place) = Some(result);
                });
            },
        );
        let results = results.into_iter().map(|result| lock(&result.into_inner()).take());
        let results: Option<Vec<_>> = results.collect();
        results.expect(
            "broadcast is called on a runtime that has begun to end: call it before the shutdown",
        )
    }
}

impl<'scope> Scope<'scope> {
    /// Spawns a job for each worker of the runtime, which no other worker runs, unless that worker
    /// is [gone](broadcast()). A worker comes to it when it has nothing in its deque, or when it
    /// waits. A worker inside a closure that neither ends nor waits keeps the scope from ending.
    /// What such a job locks must not be held across a fork. A runtime that has begun to shut down
    /// drops jobs from outside.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
    /// let visited = AtomicUsize::new(0);
    /// runtime.handle().in_place_scope(|scope| {
    ///     scope.spawn_broadcast(|_, worker| {
    ///         visited.fetch_add(worker.index(), Ordering::Relaxed);
    ///     });
    /// });
    /// assert_eq!(visited.into_inner(), 3);
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.leave_parts(move |scope, index, workers| {
            body(scope, BroadcastContext::new(index, workers));
        });
    }
}
