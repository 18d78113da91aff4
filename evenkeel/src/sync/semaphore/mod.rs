//! A counting semaphore whose permits carry a datum.
//!
//! # Roles
//! *Waiters* (`P`) and *releasers* (`V`).
//!
//! # States
//! Under the lock: the store of available permits, or the queue of waiters; never both. A waiter's
//! [node](queue::Node) lies in its future. It is *new*, then *waiting* (in the queue), then
//! *granted* (its datum is in the node) and at last *done*.
//!
//! # Protocol
//! `P`: under the lock, take a permit if there is one; otherwise join the back of the queue. `V`:
//! under the lock, put the permit into the store if the queue is empty. Otherwise take the front
//! node out, put the datum and *granted* into it, release the lock, and wake the node's task.
//! *Granted* is stored with release ordering and read with acquire ordering, so the waiter takes
//! its datum without the lock. After that store the releaser does not touch the node: the waiter
//! may have freed it.
//!
//! A waiter that is dropped while it waits leaves the queue under the lock. A waiter that is
//! dropped after it was granted passes its permit on by a `V` of its own.
//!
//! # Why nothing is lost, and no waiter is overtaken
//! A permit is in the store, in one node, or with one task. A release hands it to the front waiter
//! directly, so a task that arrives later cannot take it in between.
//!
//! # Cache lines
//! The cost of a hand-over between cores is the cache lines it waits for, one after the other. So a
//! waiter is three words at the beginning of its future, and its waker is one of them
//! ([`WordWaker`](crate::task::word_waker::WordWaker)). In a task that begins with such a future,
//! these words share the line of the task's header. And the releaser that serves the front node
//! does not touch the node behind it.
//!
//! # Rejected
//! A slab of waiters under the lock: the waiter would take the lock once more for its datum. A
//! count that is released before the waiter runs (a *barging* semaphore): a waiter may lose every
//! race. Prefetching the lines of the front waiter: no gain in `evenkeel-bench run --bench locality
//! --procs 2`.

mod acquire;
mod queue;

pub use acquire::Acquire;

use crate::detect::Object;
use crate::primitives::spin_lock::SpinLock;
use queue::Inner;
use std::collections::VecDeque;
use std::fmt;

/// A counting semaphore that hands permits over first in, first out. Every permit carries a datum
/// `D`. [`release_with`](Self::release_with) (`V`) hands it to the task that has waited longest in
/// [`acquire`](Self::acquire) (`P`). For a plain semaphore `D` is `()`.
///
/// `P` and `V` cost one locked instruction each, and one more to wake a task. A future that waits
/// with a waker of another kind, as inside `FuturesUnordered` or on another runtime, allocates
/// memory for that waker.
///
/// No constructor is a `const fn`: the same code runs with a model checker's atomics, which are
/// made at run time. Put a semaphore in a `static` into a [`LazyLock`](std::sync::LazyLock):
///
/// ```
/// use evenkeel::sync::Semaphore;
/// use std::sync::LazyLock;
///
/// static LICENCES: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(3));
/// assert_eq!(LICENCES.available(), 3);
/// ```
///
/// # Panics
/// [`release`](Semaphore::release) and [`release_with`](Self::release_with) panic if the available
/// permits exceed the capacity of a [`VecDeque`]: `usize::MAX` of them if a datum has no size,
/// otherwise `isize::MAX` bytes. The semaphore sets no other bound, and keeps each permit until it
/// is acquired.
///
/// # Examples
/// ```
/// use evenkeel::sync::Semaphore;
/// use std::sync::Arc;
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let semaphore = Arc::new(Semaphore::empty());
///     let waiter = evenkeel::spawn({
///         let semaphore = semaphore.clone();
///         async move { semaphore.acquire().await }
///     });
///     semaphore.release_with("a datum");
///     assert_eq!(waiter.await.unwrap(), "a datum");
/// });
/// ```
pub struct Semaphore<D = ()> {
    inner: SpinLock<Inner<D>>,
    /// Its identity for [`detect`](crate::detect).
    object: Object,
}

impl Semaphore<()> {
    /// Creates a semaphore with `permits` permits.
    #[must_use]
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self::with_permits(VecDeque::from(vec![(); permits]))
    }

    /// Releases a permit (`V`): to the task that has waited longest, or to the store if no task
    /// waits.
    ///
    /// # Panics
    /// If the store is full: it has `usize::MAX` permits.
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::new(0);
    /// semaphore.release();
    /// assert_eq!(semaphore.available(), 1);
    /// ```
    #[inline]
    pub fn release(&self) {
        self.release_with(());
    }
}

impl<D> Semaphore<D> {
    /// Creates a semaphore without permits.
    #[must_use]
    #[track_caller]
    pub fn empty() -> Self {
        Self::with_permits(VecDeque::new())
    }

    /// Creates a semaphore with a permit for each datum. They are acquired in this order.
    #[track_caller]
    pub fn with_data(data: impl IntoIterator<Item = D>) -> Self {
        Self::with_permits(data.into_iter().collect())
    }

    #[track_caller]
    fn with_permits(permits: VecDeque<D>) -> Self {
        let object = Object::semaphore(permits.len());
        Self { inner: SpinLock::new(Inner::new(permits)), object }
    }

    /// Promises that the task that takes a permit also releases it, as with a lock. Then tasks that
    /// have taken all permits and wait for each other are reported as a [deadlock](crate::detect).
    /// Without this promise a wait for a permit is never part of a deadlock. It has no other
    /// effect.
    ///
    /// # Examples
    /// ```
    /// let lock = evenkeel::sync::Semaphore::new(1).returned_by_takers();
    /// assert_eq!(lock.available(), 1);
    /// ```
    #[must_use]
    pub fn returned_by_takers(mut self) -> Self {
        self.object.promise_lock();
        self
    }

    /// Returns the number of available permits.
    #[must_use]
    pub fn available(&self) -> usize {
        self.inner.lock().permits.len()
    }

    /// Returns the number of tasks that wait for a permit.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting()
    }

    /// Takes a permit without waiting, and returns its datum. Returns `None` if no permit is
    /// available.
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::with_data(["one"]);
    /// assert_eq!(semaphore.try_acquire(), Some("one"));
    /// assert_eq!(semaphore.try_acquire(), None);
    /// ```
    #[must_use]
    pub fn try_acquire(&self) -> Option<D> {
        let datum = self.inner.lock().permits.pop_front()?;
        self.object.taken();
        Some(datum)
    }
}

impl<D: Send> Semaphore<D> {
    /// Waits for a permit (`P`), behind all tasks that have waited longer, takes it, and returns
    /// its datum.
    ///
    /// # Cancel safety
    /// A dropped future leaves the queue. If it was already granted a permit, the permit goes to
    /// the next waiting task. A task that drops its future and calls `acquire` again waits at the
    /// back.
    ///
    /// # Panics
    /// The future panics if it is polled again after it has returned its permit.
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_, D> {
        Acquire::new(self)
    }

    /// Releases a permit with a datum (`V`): to the task that has waited longest, or to the store
    /// if no task waits.
    ///
    /// # Panics
    /// If the store is full; see [`Semaphore`].
    #[inline]
    pub fn release_with(&self, datum: D) {
        self.object.given();
        queue::release(&self.inner, datum);
    }
}

impl<D> fmt::Debug for Semaphore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available", &self.available())
            .field("waiting", &self.waiting())
            .finish()
    }
}
