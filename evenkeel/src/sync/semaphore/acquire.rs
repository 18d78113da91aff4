//! `P` as a future: [`Take`] gives the datum, and [`Acquire`] and [`AcquireOwned`] a permit around
//! it.

#![allow(unsafe_code, reason = "the queue points to a node in this future")]

use super::Semaphore;
use super::permit::{OwnedPermit, Permit};
use super::queue::{self, Node, Progress};
use crate::detect::Site;
use crate::task::budget;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// The future of [`Semaphore::take`](super::Semaphore::take), which has an example.
///
/// # Cancel safety
/// It joins the queue at its first poll. If a permit is available then, but the
/// [slice](crate::budget) of the poll is over, it yields, and takes a permit or joins the queue at
/// the next poll. If it is dropped before it has returned its datum, it leaves the queue and loses
/// its place there. A permit that it was already granted goes to the next waiting task, so no
/// permit is lost.
///
/// # Panics
/// If it is polled again after it has returned its datum.
#[must_use = "futures do nothing unless awaited"]
pub struct Take<'a, D: Send = ()>(Wait<&'a Semaphore<D>, D>);

/// A wait for a permit of the semaphore that `S` leads to.
#[repr(C)]
struct Wait<S: Deref<Target = Semaphore<D>>, D: Send> {
    /// First, so that it is near the task's header if the task's future begins with this one.
    node: Node<D>,
    semaphore: S,
    site: Site,
    /// The queue points to the node.
    _pinned: PhantomPinned,
}

// SAFETY: one thread at a time reaches the node's datum and links, as its progress says. Its
// pointers are followed only under the lock. `D` and wakers are `Send`.
unsafe impl<S: Deref<Target = Semaphore<D>> + Send, D: Send> Send for Wait<S, D> {}
// SAFETY: a shared wait gives no access to anything.
unsafe impl<S: Deref<Target = Semaphore<D>> + Sync, D: Send> Sync for Wait<S, D> {}

impl<S: Deref<Target = Semaphore<D>>, D: Send> Wait<S, D> {
    #[inline(always)]
    #[track_caller]
    fn new(semaphore: S) -> Self {
        Self { node: Node::new(), semaphore, site: Site::here(), _pinned: PhantomPinned }
    }

    /// Tells [`detect`](crate::detect) that the node is in the queue. The caller has the lock.
    #[inline(always)]
    fn tell(&self) {
        let node = ptr::from_ref(&self.node).cast();
        // SAFETY: the node waits, and this thread has the lock.
        self.semaphore
            .object
            .awaited()
            .by(node, self.site, false, || unsafe { self.node.waiting() });
    }

    /// Returns a datum that has just been taken.
    #[inline(always)]
    fn taken(&self, datum: D) -> Poll<D> {
        self.semaphore.object.taken();
        Poll::Ready(datum)
    }

    /// Yields, with a permit available.
    #[cold]
    fn give_way(&self, waker: &Waker) -> Poll<D> {
        self.node.set_yielded();
        budget::yield_to(waker)
    }

    /// Takes a permit, or joins the queue. Unless a unit of the poll's slice `is_owed`, it may
    /// yield instead of taking a permit. A future that has to wait needs none.
    #[inline(always)]
    fn begin(self: Pin<&mut Self>, waker: &Waker, is_owed: bool) -> Poll<D> {
        let mut inner = self.semaphore.inner.lock();
        if !is_owed && inner.available() > 0 && !budget::take_unit() {
            drop(inner);
            return self.give_way(waker);
        }
        if let Some(datum) = inner.take() {
            drop(inner);
            self.node.set_done();
            return self.taken(datum);
        }
        let Some(waker) = WordWaker::of_task(waker) else {
            drop(inner);
            return self.begin_foreign(waker);
        };
        // SAFETY: the node is new, so it is in no queue; the future is pinned, and takes it out
        // when it is dropped.
        unsafe { inner.link(&self.node, waker) };
        self.tell();
        Poll::Pending
    }

    /// The same after a yield.
    #[cold]
    fn begin_again(self: Pin<&mut Self>, waker: &Waker) -> Poll<D> {
        self.begin(waker, true)
    }

    /// The same with a waker of another kind: cloning it runs the caller's code, which must not run
    /// under the lock.
    #[cold]
    fn begin_foreign(self: Pin<&mut Self>, waker: &Waker) -> Poll<D> {
        let waker = WordWaker::boxed(waker);
        let mut inner = self.semaphore.inner.lock();
        if let Some(datum) = inner.take() {
            drop(inner);
            self.node.set_done();
            return self.taken(datum);
        }
        // SAFETY: as in `begin`.
        unsafe { inner.link(&self.node, waker) };
        self.tell();
        Poll::Pending
    }

    /// Renews the waker of a node that still waits.
    #[cold]
    fn renew(&self, waker: &Waker) -> Poll<D> {
        // SAFETY: the node waits for this semaphore or was granted, and this is its future.
        if !unsafe { self.node.renew(&self.semaphore.inner, waker) } {
            return Poll::Pending;
        }
        // SAFETY: the node was granted, and this is its future.
        self.taken(unsafe { self.node.take() })
    }

    /// Takes a waiting node out of the queue. Returns false if it has been granted meanwhile.
    #[cold]
    fn leave(&self) -> bool {
        let mut inner = self.semaphore.inner.lock();
        if self.node.progress() == Progress::Granted {
            return false;
        }
        // SAFETY: the node waits, so it is in the queue.
        let waker = unsafe { inner.unlink(&self.node) };
        drop(inner);
        drop(waker);
        true
    }

    /// Cleans up for a future that is dropped before it has returned its permit.
    #[cold]
    fn give_up(&self, progress: Progress) {
        if progress == Progress::Waiting && self.leave() {
            return;
        }
        // The permit came too late for this task: the next waiter gets it.
        // SAFETY: the node was granted, and this is its future.
        let datum = unsafe { self.node.take() };
        queue::release(&self.semaphore.inner, datum);
    }
}

impl<S: Deref<Target = Semaphore<D>>, D: Send> Future for Wait<S, D> {
    type Output = D;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<D> {
        match self.node.progress() {
            Progress::New => self.begin(context.waker(), false),
            Progress::Yielded => self.begin_again(context.waker()),
            // A grant after this look wakes the task once more.
            Progress::Waiting if self.node.waits_for(context.waker()) => Poll::Pending,
            Progress::Waiting => self.renew(context.waker()),
            // SAFETY: the node was granted, and this is its future.
            Progress::Granted => self.taken(unsafe { self.node.take() }),
            Progress::Done => {
                panic!(
                    "a future of `Semaphore::acquire` or `take` is polled again after it has \
                     returned its permit: keep the permit, and poll the future no more"
                )
            }
        }
    }
}

impl<S: Deref<Target = Semaphore<D>>, D: Send> Drop for Wait<S, D> {
    #[inline]
    fn drop(&mut self) {
        let progress = self.node.progress();
        if !matches!(progress, Progress::New | Progress::Yielded | Progress::Done) {
            self.give_up(progress);
        }
    }
}

impl<'a, D: Send> Take<'a, D> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore<D>) -> Self {
        Self(Wait::new(semaphore))
    }
}

impl<D: Send> Future for Take<'_, D> {
    type Output = D;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<D> {
        // SAFETY: the field is pinned with the whole, and is not moved out of it.
        unsafe { self.map_unchecked_mut(|take| &mut take.0) }.poll(context)
    }
}

impl<D: Send> fmt::Debug for Take<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Take").finish_non_exhaustive()
    }
}

/// The future of [`Semaphore::acquire`](super::Semaphore::acquire), which has an example.
///
/// # Cancel safety
/// As [`Take`].
///
/// # Panics
/// As [`Take`].
#[must_use = "futures do nothing unless awaited"]
pub struct Acquire<'a, D: Send = ()>(Wait<&'a Semaphore<D>, D>);

impl<'a, D: Send> Acquire<'a, D> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore<D>) -> Self {
        Self(Wait::new(semaphore))
    }
}

impl<'a, D: Send> Future for Acquire<'a, D> {
    type Output = Permit<'a, D>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a, D>> {
        let semaphore = self.0.semaphore;
        // SAFETY: the field is pinned with the whole, and is not moved out of it.
        let wait = unsafe { self.map_unchecked_mut(|acquire| &mut acquire.0) };
        wait.poll(context).map(|datum| Permit::new(semaphore, datum))
    }
}

impl<D: Send> fmt::Debug for Acquire<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").finish_non_exhaustive()
    }
}

/// The future of [`Semaphore::acquire_owned`](super::Semaphore::acquire_owned), which has an
/// example. A service may keep it between its polls.
///
/// # Cancel safety
/// As [`Take`].
///
/// # Panics
/// As [`Take`].
#[must_use = "futures do nothing unless awaited"]
pub struct AcquireOwned<D: Send = ()>(Wait<Share<D>, D>);

/// A share of a semaphore. None once the permit has it.
struct Share<D>(Option<Arc<Semaphore<D>>>);

impl<D> Deref for Share<D> {
    type Target = Semaphore<D>;

    fn deref(&self) -> &Semaphore<D> {
        self.0.as_ref().expect("a wait has its semaphore until it is done")
    }
}

impl<D: Send> AcquireOwned<D> {
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore<D>>) -> Self {
        Self(Wait::new(Share(Some(semaphore))))
    }
}

impl<D: Send> Future for AcquireOwned<D> {
    type Output = OwnedPermit<D>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<OwnedPermit<D>> {
        // SAFETY: the field is pinned with the whole, and is not moved out of it.
        let mut wait = unsafe { self.map_unchecked_mut(|acquire| &mut acquire.0) };
        let datum = ready!(wait.as_mut().poll(context));
        // SAFETY: the share alone is moved, which is never pinned.
        let wait = unsafe { wait.get_unchecked_mut() };
        let semaphore = wait.semaphore.0.take().expect("a wait ends once");
        Poll::Ready(OwnedPermit::new(semaphore, datum))
    }
}

impl<D: Send> fmt::Debug for AcquireOwned<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireOwned").finish_non_exhaustive()
    }
}
