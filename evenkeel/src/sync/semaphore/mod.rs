//! A counting semaphore whose permits carry a datum.
//!
//! # Roles
//! *Waiters* (`P`) and *releasers* (`V`).
//!
//! # States
//! Under the lock: the permits that nobody waits for, or the queue of waiters; never both. A
//! waiter's [node](queue::Node) lies in its future. It is *new*, then *waiting* (in the queue),
//! then *granted* (its datum is in the node) and at last *done*.
//!
//! # Protocol
//! `P`: under the lock, take a permit if there is one; otherwise join the back of the queue. `V`:
//! under the lock, leave the permit if nobody waits; otherwise take the front node out, put the
//! datum and *granted* into it, and wake its task after the lock is released. *Granted* is stored
//! with release ordering and read with acquire ordering, so the waiter takes its datum without the
//! lock. After that store the releaser does not touch the node, which may be gone.
//!
//! A waiter that is dropped while it waits leaves the queue under the lock. One that is dropped
//! after it was granted passes its permit on by a `V` of its own.
//!
//! # Why nothing is lost, and nobody overtakes
//! A permit is in the store, in one node, or in the hands of one task. It goes to the front of the
//! queue directly, so a task that arrives later cannot take it in between.
//!
//! # Lines
//! A hand-over between cores waits for cache lines one after the other, and costs little else. So a
//! waiter is three words, its waker being one of them
//! ([`WordWaker`](crate::task::word_waker::WordWaker)), at the beginning of its future: in a task
//! whose future begins with it, they share the line of the task's header. And whoever serves the
//! front node leaves the one behind it alone.
//!
//! # Rejected
//! A slab of waiters under the lock: the waiter would take the lock once more for its datum. A
//! count that is released before the waiter runs (a *barging* semaphore): a waiter may lose every
//! race. Fetching the lines of the front waiter ahead: no gain in `evenkeel-bench run --bench
//! locality --procs 2`.

mod acquire;
mod queue;

pub use acquire::Acquire;

use crate::detect::Object;
use crate::primitives::spin_lock::SpinLock;
use queue::Inner;
use std::collections::VecDeque;
use std::fmt;

/// A counting semaphore with first-in-first-out hand-over. Every permit carries a datum `D`, which
/// [`release_with`](Self::release_with) (`V`) hands to the task whose [`acquire`](Self::acquire)
/// (`P`) it completes; for a plain semaphore `D` is `()`.
///
/// `P` and `V` cost one locked instruction each, and one more to wake a task. A future that waits
/// under a waker that is not evenkeel's, as inside `FuturesUnordered` or on another runtime,
/// allocates room for it.
///
/// No constructor is a `const fn`: the code is the same with the atomics of a model checker, which
/// are made at run time. A semaphore in a `static` lies in a [`LazyLock`](std::sync::LazyLock):
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
/// [`release`](Semaphore::release) and [`release_with`](Self::release_with) panic if the permits
/// that nobody waits for exceed the capacity of a [`VecDeque`]: `usize::MAX` of them where a datum
/// has no size, otherwise `isize::MAX` bytes. They are kept until they are acquired, without a
/// bound of their own.
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
    /// What [`detect`](crate::detect) knows it by.
    object: Object,
}

impl Semaphore<()> {
    /// A semaphore with so many permits.
    #[must_use]
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self::with_permits(VecDeque::from(vec![(); permits]))
    }

    /// Gives a permit back (`V`): to the task that waits longest, or to the store.
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
    /// A semaphore without permits.
    #[must_use]
    #[track_caller]
    pub fn empty() -> Self {
        Self::with_permits(VecDeque::new())
    }

    /// A semaphore with a permit for each datum, which are acquired in this order.
    #[track_caller]
    pub fn with_data(data: impl IntoIterator<Item = D>) -> Self {
        Self::with_permits(data.into_iter().collect())
    }

    #[track_caller]
    fn with_permits(permits: VecDeque<D>) -> Self {
        let object = Object::semaphore(permits.len());
        Self { inner: SpinLock::new(Inner::new(permits)), object }
    }

    /// Promises that whoever takes a permit gives it back, as with a lock: then those who have
    /// taken all permits, and wait for each other, are told of as a [deadlock](crate::detect).
    /// Without the promise a wait for a permit is part of no deadlock. Has no effect otherwise.
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

    /// Permits that nobody waits for.
    #[must_use]
    pub fn available(&self) -> usize {
        self.inner.lock().permits.len()
    }

    /// Tasks that wait for a permit.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting()
    }

    /// Takes a permit if there is one, without waiting.
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
    /// Takes a permit (`P`), after all tasks that have been waiting longer, and gives its datum.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves the queue; if it had been granted a permit already, the
    /// permit goes to the next task that waits. A task that gives up and comes back waits at the
    /// back.
    ///
    /// # Panics
    /// The future panics if it is polled again after it has given its permit.
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_, D> {
        Acquire::new(self)
    }

    /// Gives a permit (`V`): its datum goes to the task that waits longest, or into the store.
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
