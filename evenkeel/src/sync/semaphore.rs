//! A counting semaphore whose permits carry a datum.
//!
//! # Roles
//! *Waiters* (`P`) and *releasers* (`V`).
//!
//! # States
//! Under the lock: the permits that nobody waits for, or the queue of waiters; never both. A waiter's node
//! lies in its future. It is *new*, then *waiting* (in the queue), then *granted* (its datum is in the node)
//! and at last *done*.
//!
//! # Protocol
//! `P`: under the lock, take a permit if there is one; otherwise join the back of the queue. `V`: under the
//! lock, leave the permit if nobody waits; otherwise take the front node out, put the datum and *granted*
//! into it, and wake its task after the lock is released. *Granted* is stored with release ordering and read
//! with acquire ordering, so the waiter takes its datum without the lock. After that store the releaser does
//! not touch the node, which may be gone.
//!
//! A waiter that is dropped while it waits leaves the queue under the lock. One that is dropped after it was
//! granted passes its permit on by a `V` of its own.
//!
//! # Why nothing is lost, and nobody overtakes
//! A permit is in the store, in one node, or in the hands of one task. It goes to the front of the queue
//! directly, so a task that arrives later cannot take it in between.
//!
//! # Rejected
//! A slab of waiters under the lock: the waiter would take the lock once more for its datum. A count that is
//! released before the waiter runs (a *barging* semaphore): a waiter may lose every race.

#![allow(unsafe_code, reason = "waiters are linked through their futures")]

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::spin_lock::SpinLock;
use crate::task::waker;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

/// A counting semaphore with first-in-first-out hand-over. Every permit carries a datum `D`, which
/// [`release_with`](Self::release_with) (`V`) hands to the task whose [`acquire`](Self::acquire) (`P`) it
/// completes; for a plain semaphore `D` is `()`.
///
/// `P` and `V` cost one locked instruction each, and one more to wake a task.
///
/// No constructor is a `const fn`: the code is the same with the atomics of a model checker, which are made at
/// run time. A semaphore in a `static` lies in a [`LazyLock`](std::sync::LazyLock):
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
/// [`release`](Semaphore::release) and [`release_with`](Self::release_with) panic if the permits that nobody
/// waits for exceed the capacity of a [`VecDeque`]: `usize::MAX` of them where a datum has no size, otherwise
/// `isize::MAX` bytes. They are kept until they are acquired, without a bound of their own.
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
}

struct Inner<D> {
    /// Permits that nobody waits for, oldest first. Of `()` it is a count.
    permits: VecDeque<D>,
    /// The queue of waiters, linked through their nodes.
    front: *mut Node<D>,
    back: *mut Node<D>,
    waiting: usize,
}

// SAFETY: the pointers are to nodes of waiters, whose futures stay where they are until they have left the
// queue under the lock; `D` moves between threads, which `D: Send` permits.
unsafe impl<D: Send> Send for Inner<D> {}

/// A waiter's place. A new one is two words: its slot is written when it joins the queue, because a future
/// is moved into place before its first poll, and most never wait.
struct Node<D> {
    /// A whole word: a smaller one would leave padding, which is copied along at a price.
    progress: AtomicUsize,
    /// There while the node waits or is granted.
    slot: UnsafeCell<MaybeUninit<Slot<D>>>,
}

impl<D> Node<D> {
    /// Calls `f` with the slot.
    ///
    /// # Safety
    /// The slot is there and the caller's: the node waits and the caller has the lock, or it is granted and
    /// the caller is its future.
    #[inline(always)]
    unsafe fn with_slot<R>(&self, f: impl FnOnce(&mut Slot<D>) -> R) -> R {
        self.slot.with_mut(|slot| {
            // SAFETY: the slot is the caller's.
            let slot = unsafe { &mut *slot };
            // SAFETY: the slot is there.
            f(unsafe { slot.assume_init_mut() })
        })
    }
}

/// What is in a node: the lock's while it waits, its future's once it is granted.
struct Slot<D> {
    waker: Option<Waker>,
    /// There once the node is granted. Not an `Option`, so that the node of a plain semaphore stays within
    /// five words: its lines are what a hand-over between cores waits for.
    datum: MaybeUninit<D>,
    /// Of the front node, the address of one that is gone, or null: whoever takes a node out at the front leaves
    /// the next one alone, whose line another core has.
    prev: *mut Node<D>,
    next: *mut Node<D>,
}

const NEW: usize = 0;
const WAITING: usize = 1;
const GRANTED: usize = 2;
const DONE: usize = 3;

impl Semaphore<()> {
    /// A semaphore with so many permits.
    #[must_use]
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
    pub fn empty() -> Self {
        Self::with_permits(VecDeque::new())
    }

    /// A semaphore with a permit for each datum, which are acquired in this order.
    pub fn with_data(data: impl IntoIterator<Item = D>) -> Self {
        Self::with_permits(data.into_iter().collect())
    }

    fn with_permits(permits: VecDeque<D>) -> Self {
        let (front, back) = (ptr::null_mut(), ptr::null_mut());
        Self { inner: SpinLock::new(Inner { permits, front, back, waiting: 0 }) }
    }

    /// Permits that nobody waits for.
    #[must_use]
    pub fn available(&self) -> usize {
        self.inner.lock().permits.len()
    }

    /// Tasks that wait for a permit.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting
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
        self.inner.lock().permits.pop_front()
    }
}

impl<D: Send> Semaphore<D> {
    /// Takes a permit (`P`), after all tasks that have been waiting longer, and gives its datum.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves the queue; if it had been granted a permit already, the permit goes to
    /// the next task that waits. A task that gives up and comes back waits at the back.
    ///
    /// # Panics
    /// The future panics if it is polled again after it has given its permit.
    #[inline]
    pub fn acquire(&self) -> Acquire<'_, D> {
        let progress = AtomicUsize::new(NEW);
        let node = Node { progress, slot: UnsafeCell::new(MaybeUninit::uninit()) };
        Acquire { semaphore: self, node, _pinned: PhantomPinned }
    }

    /// Gives a permit (`V`): its datum goes to the task that waits longest, or into the store.
    ///
    /// # Panics
    /// If the store is full; see [`Semaphore`].
    #[inline]
    pub fn release_with(&self, datum: D) {
        let waker = {
            let mut inner = self.inner.lock();
            match NonNull::new(inner.front) {
                None => {
                    inner.permits.push_back(datum);
                    None
                }
                Some(node) => inner.grant(node, datum),
            }
        };
        if let Some(waker) = waker {
            waker::wake_up(waker);
        }
    }
}

impl<D> Inner<D> {
    /// Gives `datum` to the front node, takes it out of the queue, and gives its waker.
    #[inline]
    fn grant(&mut self, node: NonNull<Node<D>>, datum: D) -> Option<Waker> {
        // SAFETY: it is the front node, so it is in the queue, and its future is there until this lock is
        // released.
        let node = unsafe { node.as_ref() };
        let grant = |slot: &mut Slot<D>| {
            slot.datum.write(datum);
            (slot.waker.take(), slot.next)
        };
        // SAFETY: the node waits, and this thread has the lock.
        let (waker, next) = unsafe { node.with_slot(grant) };
        self.front = next;
        if next.is_null() {
            self.back = ptr::null_mut();
        }
        self.waiting -= 1;
        node.progress.store(GRANTED, edge(Edge::SemaphoreGrant, Ordering::Release));
        waker
    }

    /// Puts a new node at the back.
    ///
    /// # Safety
    /// The node is in no queue, its slot is the caller's, and it stays where it is until it has been taken
    /// out.
    #[inline]
    unsafe fn link(&mut self, node: NonNull<Node<D>>, waker: Option<Waker>) {
        let prev = mem::replace(&mut self.back, node.as_ptr());
        let slot = Slot { waker, datum: MaybeUninit::uninit(), prev, next: ptr::null_mut() };
        // SAFETY: the caller's promise.
        let new = unsafe { node.as_ref() };
        new.slot.with_mut(|place| {
            // SAFETY: the slot is the caller's.
            unsafe { place.write(MaybeUninit::new(slot)) };
        });
        new.progress.store(WAITING, Ordering::Relaxed);
        match NonNull::new(prev) {
            None => self.front = node.as_ptr(),
            Some(prev) => {
                // SAFETY: it is in the queue, so its future is there.
                let prev = unsafe { prev.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { prev.with_slot(|slot| slot.next = node.as_ptr()) };
            }
        }
        self.waiting += 1;
    }

    /// Takes a node out.
    ///
    /// # Safety
    /// The node is in this queue.
    #[inline]
    unsafe fn unlink(&mut self, node: NonNull<Node<D>>) {
        // SAFETY: it is in the queue, so its future is there.
        let node = unsafe { node.as_ref() };
        // SAFETY: it waits, and this thread has the lock.
        let (prev, next) = unsafe { node.with_slot(|slot| (slot.prev, slot.next)) };
        let prev = if ptr::eq(self.front, node) { ptr::null_mut() } else { prev };
        match NonNull::new(prev) {
            None => self.front = next,
            Some(prev) => {
                // SAFETY: it is in the queue, so its future is there.
                let prev = unsafe { prev.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { prev.with_slot(|slot| slot.next = next) };
            }
        }
        match NonNull::new(next) {
            None => self.back = prev,
            Some(next) => {
                // SAFETY: it is in the queue, so its future is there.
                let next = unsafe { next.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { next.with_slot(|slot| slot.prev = prev) };
            }
        }
        self.waiting -= 1;
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

/// The future of [`Semaphore::acquire`].
///
/// # Cancel safety
/// It joins the queue at its first poll. Dropped before it has given its permit, it leaves the queue, and a permit
/// that it had been granted already goes to the next task that waits: none is lost, and the place in the queue is.
///
/// # Panics
/// If it is polled again after it has given its permit.
#[must_use = "futures do nothing unless awaited"]
pub struct Acquire<'a, D: Send = ()> {
    semaphore: &'a Semaphore<D>,
    node: Node<D>,
    /// The queue points to the node.
    _pinned: PhantomPinned,
}

// SAFETY: the node's slot is reached by one thread at a time, as its progress says; its pointers are
// followed under the lock alone; `D` and `Waker` are `Send`.
unsafe impl<D: Send> Send for Acquire<'_, D> {}
// SAFETY: a shared `Acquire` gives no access to anything.
unsafe impl<D: Send> Sync for Acquire<'_, D> {}

impl<D: Send> Acquire<'_, D> {
    /// Takes the datum of a granted node.
    #[inline]
    fn take(&self) -> D {
        self.node.progress.store(DONE, Ordering::Relaxed);
        let take = |slot: &mut Slot<D>| {
            // SAFETY: a granted node has its datum, which is taken once: the node is done.
            unsafe { slot.datum.assume_init_read() }
        };
        // SAFETY: the node was granted, and this is its future. The grant has taken the waker, so nothing
        // is left in the slot to drop.
        unsafe { self.node.with_slot(take) }
    }

    /// Takes a permit, or joins the queue.
    fn begin(self: Pin<&mut Self>, waker: &Waker) -> Poll<D> {
        // A foreign waker's clone is a caller's code, which has no place under the lock.
        let own = waker::task_of(waker);
        let foreign = if own.is_none() { Some(waker.clone()) } else { None };
        let mut inner = self.semaphore.inner.lock();
        if let Some(datum) = inner.permits.pop_front() {
            drop(inner);
            self.node.progress.store(DONE, Ordering::Relaxed);
            return Poll::Ready(datum);
        }
        let waker = own.map(waker::clone_of).or(foreign);
        // SAFETY: the node is new, so it is in no queue and its slot is this future's; the future is
        // pinned, and takes it out when it is dropped.
        unsafe { inner.link(NonNull::from(&self.node), waker) };
        Poll::Pending
    }

    /// Renews the waker of a node that still waits.
    #[cold]
    fn renew(&self, waker: &Waker) -> Poll<D> {
        let fresh = waker.clone();
        let inner = self.semaphore.inner.lock();
        if self.node.progress.load(Ordering::Acquire) == GRANTED {
            drop(inner);
            return Poll::Ready(self.take());
        }
        // SAFETY: the node waits, and this thread has the lock.
        let before = unsafe { self.node.with_slot(|slot| slot.waker.replace(fresh)) };
        drop(inner);
        drop(before);
        Poll::Pending
    }

    /// Takes a node that waits out of the queue. False if it has been granted meanwhile.
    #[cold]
    fn leave(&self) -> bool {
        let mut inner = self.semaphore.inner.lock();
        if self.node.progress.load(Ordering::Acquire) == GRANTED {
            return false;
        }
        // SAFETY: the node waits, so it is in the queue.
        unsafe { inner.unlink(NonNull::from(&self.node)) };
        // SAFETY: the node waits, and this thread has the lock.
        let waker = unsafe { self.node.with_slot(|slot| slot.waker.take()) };
        self.node.progress.store(DONE, Ordering::Relaxed);
        drop(inner);
        drop(waker);
        true
    }
}

impl<D: Send> Future for Acquire<'_, D> {
    type Output = D;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<D> {
        match self.node.progress.load(edge(Edge::SemaphoreGranted, Ordering::Acquire)) {
            NEW => self.begin(context.waker()),
            WAITING => self.renew(context.waker()),
            GRANTED => Poll::Ready(self.take()),
            _ => panic!("Acquire is polled again after it has given its permit"),
        }
    }
}

impl<D: Send> Drop for Acquire<'_, D> {
    #[inline]
    fn drop(&mut self) {
        let progress = self.node.progress.load(edge(Edge::SemaphoreGranted, Ordering::Acquire));
        if progress == NEW || progress == DONE {
            return;
        }
        if progress == WAITING && self.leave() {
            return;
        }
        // The permit came too late for this task: the next one gets it.
        let datum = self.take();
        self.semaphore.release_with(datum);
    }
}

impl<D: Send> fmt::Debug for Acquire<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").finish_non_exhaustive()
    }
}
