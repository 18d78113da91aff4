//! A counting semaphore whose permits carry a datum.
//!
//! # Roles
//! *Waiters* (`P`) and *releasers* (`V`).
//!
//! # States
//! Under the lock: the store of available permits, or the queue of waiters; never both. A waiter's
//! [node](queue::Node) lies in its future. Its [word](crate::primitives::wait_word) is *new*, then
//! *waiting* (in the queue), then *granted* (its datum is in the node) and at last *done*.
//!
//! # Protocol
//! `P`: under the lock, take a permit if there is one; otherwise join the back of the queue. `V`:
//! under the lock, put the permit into the store if the queue is empty. Otherwise take the front
//! node out, put the datum and *granted* into it, release the lock, and wake the node's task, which
//! takes its datum without the lock.
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
mod permit;
mod queue;

pub use acquire::{Acquire, AcquireOwned, Take};
pub use permit::{OwnedPermit, Permit};

use crate::detect::Object;
use crate::primitives::const_unless_model;
use crate::primitives::spin_lock::SpinLock;
use queue::Inner;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A counting semaphore that serves waiting tasks first in, first out.
///
/// [`acquire`](Self::acquire) (`P`) gives a [`Permit`], which is released when it is dropped.
/// Every permit carries a datum `D`: a pool's connections, or nothing, which is `()`. A semaphore
/// may also pass data, or signals, from one task to another: one task [hands a datum
/// over](Self::hand_over) or [adds permits](Self::add_permits) (`V`), and the other
/// [takes](Self::take) one (`P`).
///
/// `P` and `V` cost one locked instruction each, and one more to wake a task. A future that waits
/// with a waker of another kind, as inside `FuturesUnordered` or on another runtime, allocates
/// memory for that waker.
///
/// # Examples
/// At most two tasks at a time are inside:
/// ```
/// use evenkeel::sync::Semaphore;
///
/// static BERTHS: Semaphore = Semaphore::new(2);
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let ships: Vec<_> = (0..5)
///         .map(|_| {
///             evenkeel::spawn(async {
///                 let _permit = BERTHS.acquire().await;
///                 evenkeel::yield_now().await;
///             })
///         })
///         .collect();
///     for ship in ships {
///         ship.await.unwrap();
///     }
/// });
/// assert_eq!(BERTHS.available_permits(), 2);
/// ```
/// One task passes a datum to another:
/// ```
/// use evenkeel::sync::Semaphore;
/// use std::sync::Arc;
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let semaphore = Arc::new(Semaphore::empty());
///     let waiter = evenkeel::spawn({
///         let semaphore = semaphore.clone();
///         async move { semaphore.take().await }
///     });
///     semaphore.hand_over("a datum");
///     assert_eq!(waiter.await.unwrap(), "a datum");
/// });
/// ```
pub struct Semaphore<D = ()> {
    inner: SpinLock<Inner<D>>,
    /// Its identity for [`detect`](crate::detect).
    object: Object,
}

impl Semaphore<()> {
    const_unless_model! {
        /// Creates a semaphore with `permits` permits.
        #[must_use]
        #[track_caller]
        pub const fn new(permits: usize) -> Self {
            let object = Object::semaphore(permits);
            Self { inner: SpinLock::new(Inner::of_units(permits)), object }
        }
    }

    /// Adds `permits` permits (`V`): to the tasks that have waited longest, and the rest to the
    /// store.
    ///
    /// # Panics
    /// If the store is full: it has `usize::MAX` permits.
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::new(0);
    /// semaphore.add_permits(2);
    /// assert_eq!(semaphore.available_permits(), 2);
    /// ```
    #[inline]
    #[track_caller]
    pub fn add_permits(&self, permits: usize) {
        self.object.given(permits);
        queue::add(&self.inner, permits);
    }
}

impl<D> Semaphore<D> {
    const_unless_model! {
        /// Creates a semaphore without permits.
        #[must_use]
        #[track_caller]
        pub const fn empty() -> Self {
            Self { inner: SpinLock::new(Inner::new(VecDeque::new())), object: Object::semaphore(0) }
        }
    }

    /// Creates a semaphore with a permit for each datum. They are acquired in this order,
    /// and a released one goes behind those that are available.
    ///
    /// # Examples
    /// A pool of connections:
    /// ```
    /// use evenkeel::sync::Semaphore;
    ///
    /// struct Connection {
    ///     port: u16,
    ///     queries: u32,
    /// }
    ///
    /// let pool = Semaphore::with_data([4_001, 4_002].map(|port| Connection { port, queries: 0 }));
    /// evenkeel::block_on(async {
    ///     let mut first = pool.acquire().await;
    ///     first.queries += 1;
    ///     drop(first);
    ///     assert_eq!(pool.acquire().await.port, 4_002);
    ///     let first = pool.acquire().await;
    ///     assert_eq!((first.port, first.queries), (4_001, 1));
    /// });
    /// ```
    #[track_caller]
    pub fn with_data(data: impl IntoIterator<Item = D>) -> Self {
        let data: VecDeque<D> = data.into_iter().collect();
        let object = Object::semaphore(data.len());
        Self { inner: SpinLock::new(Inner::new(data)), object }
    }

    /// Promises that the task that acquires a permit also releases it, as with a lock. Then tasks
    /// that hold all permits and wait for each other are reported as a [deadlock](crate::detect).
    /// Without this promise a wait for a permit is never part of a deadlock. It has no other
    /// effect.
    ///
    /// # Examples
    /// ```
    /// let lock = evenkeel::sync::Semaphore::new(1).returned_by_takers();
    /// assert_eq!(lock.available_permits(), 1);
    /// ```
    #[must_use]
    pub fn returned_by_takers(mut self) -> Self {
        self.object.promise_lock();
        self
    }

    /// Returns the number of available permits.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.inner.lock().available()
    }

    /// Returns the number of tasks that wait for a permit.
    ///
    /// # Examples
    /// A future joins the queue at its first poll, and a release hands it the permit directly:
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// use futures::poll;
    /// use std::pin::pin;
    ///
    /// let semaphore = Semaphore::new(0);
    /// evenkeel::block_on(async {
    ///     let mut acquire = pin!(semaphore.acquire());
    ///     assert_eq!(semaphore.waiting(), 0);
    ///     assert!(poll!(&mut acquire).is_pending());
    ///     assert_eq!(semaphore.waiting(), 1);
    ///     semaphore.add_permits(1);
    ///     assert_eq!((semaphore.waiting(), semaphore.available_permits()), (0, 0));
    ///     drop(acquire.await);
    ///     assert_eq!(semaphore.available_permits(), 1);
    /// });
    /// ```
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting()
    }
}

impl<D: Send> Semaphore<D> {
    /// Waits for a permit (`P`), behind all tasks that have waited longer.
    ///
    /// # Cancel safety
    /// A dropped future leaves the queue. If it was already granted a permit, the permit goes to
    /// the next waiting task. A task that drops its future and calls `acquire` again waits at the
    /// back.
    ///
    /// # Panics
    /// The future panics if it is polled again after it has returned its permit.
    ///
    /// # Examples
    /// An `acquire` that is ended by a limit leaves the queue, and no permit is lost:
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// use evenkeel::time::{Duration, timeout};
    ///
    /// let semaphore = Semaphore::new(1);
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let permit = semaphore.acquire().await;
    ///     let late = timeout(Duration::from_millis(2), semaphore.acquire()).await;
    ///     assert!(late.is_err());
    ///     assert_eq!(semaphore.waiting(), 0);
    ///     drop(permit);
    ///     let _permit = semaphore.acquire().await;
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_, D> {
        Acquire::new(self)
    }

    /// Waits for a permit, as [`acquire`](Self::acquire) does, and takes its datum out: the permit
    /// is not released. This is the other side of [`hand_over`](Self::hand_over).
    ///
    /// # Cancel safety
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    /// As [`acquire`](Self::acquire).
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::with_data(["chart"]);
    /// assert_eq!(evenkeel::block_on(semaphore.take()), "chart");
    /// assert_eq!(semaphore.available_permits(), 0);
    /// ```
    #[inline]
    #[track_caller]
    pub fn take(&self) -> Take<'_, D> {
        Take::new(self)
    }

    /// As [`acquire`](Self::acquire), for a permit that can be sent to another task.
    ///
    /// # Cancel safety
    /// As [`acquire`](Self::acquire).
    ///
    /// # Examples
    /// At most two of the tasks compute at a time, because each is spawned with a permit:
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// let limit = Arc::new(Semaphore::new(2));
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let mut tasks = Vec::new();
    ///     for n in 1..=5 {
    ///         let permit = limit.clone().acquire_owned().await;
    ///         tasks.push(evenkeel::spawn(async move {
    ///             let square = n * n;
    ///             drop(permit);
    ///             square
    ///         }));
    ///     }
    ///     let mut sum = 0;
    ///     for task in tasks {
    ///         sum += task.await.unwrap();
    ///     }
    ///     assert_eq!((sum, limit.available_permits()), (55, 2));
    /// });
    /// ```
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> AcquireOwned<D> {
        AcquireOwned::new(self)
    }

    /// Takes a permit without waiting. Returns `None` if no permit is available.
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::with_data(["one"]);
    /// let permit = semaphore.try_acquire().unwrap();
    /// assert_eq!(*permit, "one");
    /// assert!(semaphore.try_acquire().is_none());
    /// ```
    pub fn try_acquire(&self) -> Option<Permit<'_, D>> {
        self.try_take().map(|datum| Permit::new(self, datum))
    }

    /// As [`try_acquire`](Self::try_acquire), for a permit that can be sent to another task.
    ///
    /// # Examples
    /// A server that refuses requests when it has enough to do:
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// use evenkeel::task::JoinHandle;
    /// use std::sync::Arc;
    ///
    /// fn serve(limit: &Arc<Semaphore>, request: u32) -> Option<JoinHandle<u32>> {
    ///     let permit = limit.clone().try_acquire_owned()?;
    ///     Some(evenkeel::spawn(async move {
    ///         let _permit = permit;
    ///         request + 1
    ///     }))
    /// }
    ///
    /// let limit = Arc::new(Semaphore::new(1));
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     assert_eq!(serve(&limit, 7).unwrap().await.unwrap(), 8);
    ///     let _busy = limit.acquire().await;
    ///     assert!(serve(&limit, 9).is_none());
    /// });
    /// ```
    pub fn try_acquire_owned(self: Arc<Self>) -> Option<OwnedPermit<D>> {
        self.try_take().map(|datum| OwnedPermit::new(self, datum))
    }

    fn try_take(&self) -> Option<D> {
        let datum = self.inner.lock().take()?;
        self.object.taken();
        Some(datum)
    }

    /// Gives the semaphore a permit with this datum (`V`): to the task that has waited longest, or
    /// to the store if no task waits. The caller need not have acquired a permit.
    ///
    /// # Panics
    /// If the store is full: the available permits exceed the capacity of a
    /// [`VecDeque`], `usize::MAX` of them if a datum has no size,
    /// otherwise `isize::MAX` bytes.
    ///
    /// # Examples
    /// ```
    /// let semaphore = evenkeel::sync::Semaphore::empty();
    /// semaphore.hand_over("chart");
    /// assert_eq!(semaphore.try_acquire().unwrap().into_inner(), "chart");
    /// ```
    #[inline]
    pub fn hand_over(&self, datum: D) {
        self.object.given(1);
        queue::release(&self.inner, datum);
    }
}

/// A panic leaves it whole: no critical section of it runs a caller's code. A permit that a panic
/// drops gives its datum back as it is.
impl<D: UnwindSafe> UnwindSafe for Semaphore<D> {}
/// A panic leaves it whole through a shared reference too: no two permits share a datum.
impl<D: UnwindSafe> RefUnwindSafe for Semaphore<D> {}

impl<D> fmt::Debug for Semaphore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available", &self.available_permits())
            .field("waiting", &self.waiting())
            .finish()
    }
}
