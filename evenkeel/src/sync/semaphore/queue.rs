//! What the semaphore's lock guards: its permits, or the queue of its waiters; never both.

#![allow(unsafe_code, reason = "waiters are linked through their futures")]

use crate::detect::{self, Waiting};
use crate::primitives::atomic::{AtomicPtr, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::spin_lock::SpinLock;
use crate::task::word_waker::WordWaker;
use std::collections::VecDeque;
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

/// What the lock guards.
pub(super) struct Inner<D> {
    /// The available permits, oldest first. For `D = ()` it is a count.
    made: VecDeque<D>,
    /// The queue of waiters, linked through their nodes.
    front: *mut Node<D>,
    back: *mut Node<D>,
    /// The number of waiters if there are any. If there are none, the number of permits of a new
    /// [`Semaphore<()>`](super::Semaphore) whose data are made when they are taken, since a
    /// constant has no way to fill a `VecDeque`. One word for both, so that all of this, with the
    /// lock, has no more bytes than a cache line.
    count: usize,
}

// SAFETY: the pointers are to nodes of waiters. Their futures stay where they are until they have
// left the queue under the lock. `D` moves between threads, which `D: Send` permits.
unsafe impl<D: Send> Send for Inner<D> {}

/// A waiter's place in the queue. A new node has one written word; the other fields are written
/// when it joins the queue or is granted. A future is moved into place before its first poll, and
/// most futures never wait.
#[repr(C)]
pub(super) struct Node<D> {
    /// Its progress: [`NEW`], [`GRANTED`] or [`DONE`]; or, while it waits, its waker.
    word: AtomicPtr<()>,
    /// Initialized while the node waits.
    links: UnsafeCell<MaybeUninit<Links<D>>>,
    /// Initialized once the node is granted, until its future takes it.
    datum: UnsafeCell<MaybeUninit<D>>,
}

/// A node's neighbours in the queue.
struct Links<D> {
    next: *mut Node<D>,
    /// In the front node this is stale or null: a releaser that takes out the front node does not
    /// touch the next node, since another core has its cache line.
    prev: *mut Node<D>,
}

/// A waiter's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    New,
    Waiting,
    Granted,
    Done,
}

const NEW: usize = 0;
const GRANTED: usize = 2;
const DONE: usize = 4;

impl<D> Node<D> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            word: AtomicPtr::new(word_of(NEW)),
            links: UnsafeCell::new(MaybeUninit::uninit()),
            datum: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns its progress. *Granted* synchronizes with what the releaser did before.
    #[inline(always)]
    pub(super) fn progress(&self) -> Progress {
        match self.word.load(edge(Edge::SemaphoreGranted, Ordering::Acquire)).addr() {
            NEW => Progress::New,
            GRANTED => Progress::Granted,
            DONE => Progress::Done,
            _ => Progress::Waiting,
        }
    }

    /// Ends the wait of a node that is in no queue and has no datum.
    #[inline(always)]
    pub(super) fn set_done(&self) {
        self.word.store(word_of(DONE), Ordering::Relaxed);
    }

    /// Takes the datum, which ends the wait.
    ///
    /// # Safety
    /// The node was granted, and the caller is its future.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> D {
        self.set_done();
        self.datum.with_mut(|datum| {
            // SAFETY: the datum of a granted node belongs to its future.
            let datum = unsafe { &*datum };
            // SAFETY: it is there, and is taken once: the node is done.
            unsafe { datum.assume_init_read() }
        })
    }

    /// Changes the links.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock.
    #[inline(always)]
    unsafe fn with_links<R>(&self, f: impl FnOnce(&mut Links<D>) -> R) -> R {
        self.links.with_mut(|links| {
            // SAFETY: the lock guards the links while the node waits.
            let links = unsafe { &mut *links };
            // SAFETY: they are there while the node waits.
            f(unsafe { links.assume_init_mut() })
        })
    }

    /// Returns whether the stored waker wakes the same task as `waker`.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock.
    pub(super) unsafe fn has_left(&self, waker: &std::task::Waker) -> bool {
        // SAFETY: while the node waits, its word is a waker.
        unsafe { WordWaker::wakes_as(self.word.load(Ordering::Relaxed), waker) }
    }

    /// The task that waits.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock.
    pub(super) unsafe fn waiting(&self) -> Option<Waiting> {
        // SAFETY: while the node waits, its word is a waker.
        unsafe { WordWaker::waiting(self.word.load(Ordering::Relaxed)) }
    }

    /// Stores another waker and returns the previous one.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock.
    pub(super) unsafe fn renew(&self, waker: WordWaker) -> WordWaker {
        let before = self.word.load(Ordering::Relaxed);
        self.word.store(waker.into_raw(), Ordering::Relaxed);
        // SAFETY: the node waits, and this thread has the lock.
        detect::renewed(ptr::from_ref(self).cast(), || unsafe { self.waiting() });
        // SAFETY: while the node waits, its word is a waker; this one has been replaced.
        unsafe { WordWaker::from_raw(before) }
    }
}

/// A word that is not an address.
const fn word_of(progress: usize) -> *mut () {
    ptr::without_provenance_mut(progress)
}

/// `V`.
#[inline]
pub(super) fn release<D: Send>(inner: &SpinLock<Inner<D>>, datum: D) {
    let waker = {
        let mut inner = inner.lock();
        match NonNull::new(inner.front) {
            None => return inner.put(datum),
            // SAFETY: it is the front node, so it is in the queue.
            Some(node) => unsafe { inner.grant(node, datum) },
        }
    };
    waker.wake();
}

/// `V` of several permits: to the waiters, and the rest to the store.
pub(super) fn add(inner: &SpinLock<Inner<()>>, mut permits: usize) {
    while permits > 0 {
        let waker = {
            let mut inner = inner.lock();
            let Some(node) = NonNull::new(inner.front) else { return inner.put_units(permits) };
            // SAFETY: it is the front node, so it is in the queue.
            unsafe { inner.grant(node, ()) }
        };
        permits -= 1;
        waker.wake();
    }
}

impl Inner<()> {
    /// Puts `permits` permits into the store. There are no waiters.
    fn put_units(&mut self, permits: usize) {
        let count = self.count.checked_add(permits);
        let all = count.and_then(|count| count.checked_add(self.made.len()));
        assert!(all.is_some(), "a semaphore has at most `usize::MAX` permits");
        self.count += permits;
    }

    /// Makes `permits` permits.
    pub(super) const fn of_units(permits: usize) -> Self {
        let (front, back) = (ptr::null_mut(), ptr::null_mut());
        Self { made: VecDeque::new(), front, back, count: permits }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<SpinLock<Inner<()>>>() == 64);

impl<D> Inner<D> {
    pub(super) const fn new(data: VecDeque<D>) -> Self {
        Self { made: data, front: ptr::null_mut(), back: ptr::null_mut(), count: 0 }
    }

    /// Returns the number of waiters.
    pub(super) fn waiting(&self) -> usize {
        if self.front.is_null() { 0 } else { self.count }
    }

    /// Returns the number of available permits.
    pub(super) fn available(&self) -> usize {
        if self.front.is_null() { self.made.len() + self.count } else { 0 }
    }

    /// Takes the oldest permit.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<D> {
        match self.made.pop_front() {
            None if self.front.is_null() && self.count > 0 => Some(self.make()),
            datum => datum,
        }
    }

    /// Makes the datum of a permit that has none yet.
    #[cold]
    fn make(&mut self) -> D {
        assert!(size_of::<D>() == 0, "only a `Semaphore<()>` has permits that are not made");
        self.count -= 1;
        let unit: NonNull<D> = NonNull::dangling();
        // SAFETY: only the constructor of a `Semaphore<()>` makes such permits, so `D` is `()`: it
        // has no bytes to read, and any aligned address will do.
        unsafe { unit.read() }
    }

    /// Puts a permit into the store. There are no waiters.
    #[inline(always)]
    fn put(&mut self, datum: D) {
        if self.count > 0 {
            let is_full = self.made.len() == usize::MAX - self.count;
            assert!(!is_full, "a semaphore has at most `usize::MAX` permits");
        }
        self.made.push_back(datum);
    }

    /// Gives `datum` to the front node, takes that node out of the queue, and returns its waker.
    ///
    /// # Safety
    /// `node` is the front node.
    #[inline(always)]
    unsafe fn grant(&mut self, node: NonNull<Node<D>>, datum: D) -> WordWaker {
        // SAFETY: it is in the queue, so its future is there until this lock is released.
        let node = unsafe { node.as_ref() };
        detect::granted(ptr::from_ref(node).cast());
        let waker = node.word.load(Ordering::Relaxed);
        // SAFETY: the node waits, and this thread has the lock.
        self.front = unsafe { node.with_links(|links| links.next) };
        if self.front.is_null() {
            self.back = ptr::null_mut();
        }
        self.count -= 1;
        node.datum.with_mut(|place| {
            // SAFETY: until the node is granted, the lock guards the place.
            unsafe { place.write(MaybeUninit::new(datum)) };
        });
        node.word.store(word_of(GRANTED), edge(Edge::SemaphoreGrant, Ordering::Release));
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(waker) }
    }

    /// Puts a new node at the back of the queue.
    ///
    /// # Safety
    /// The node is in no queue, and it stays where it is until it has been taken out.
    #[inline(always)]
    pub(super) unsafe fn link(&mut self, node: NonNull<Node<D>>, waker: WordWaker) {
        let prev = mem::replace(&mut self.back, node.as_ptr());
        // SAFETY: the caller's promise.
        let new = unsafe { node.as_ref() };
        new.links.with_mut(|place| {
            // SAFETY: the links of a node that is in no queue belong to its future.
            unsafe { place.write(MaybeUninit::new(Links { next: ptr::null_mut(), prev })) };
        });
        new.word.store(waker.into_raw(), Ordering::Relaxed);
        match NonNull::new(prev) {
            None => self.front = node.as_ptr(),
            Some(prev) => {
                // SAFETY: it is in the queue, so its future is there.
                let prev = unsafe { prev.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { prev.with_links(|links| links.next = node.as_ptr()) };
            }
        }
        self.count += 1;
    }

    /// Takes out a node that gives up its wait, and returns its waker.
    ///
    /// # Safety
    /// The node is in this queue.
    pub(super) unsafe fn unlink(&mut self, node: NonNull<Node<D>>) -> WordWaker {
        // SAFETY: it is in the queue, so its future is there.
        let node = unsafe { node.as_ref() };
        // SAFETY: it waits, and this thread has the lock.
        let (next, prev) = unsafe { node.with_links(|links| (links.next, links.prev)) };
        let prev = if ptr::eq(self.front, node) { ptr::null_mut() } else { prev };
        match NonNull::new(prev) {
            None => self.front = next,
            Some(prev) => {
                // SAFETY: it is in the queue, so its future is there.
                let prev = unsafe { prev.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { prev.with_links(|links| links.next = next) };
            }
        }
        match NonNull::new(next) {
            None => self.back = prev,
            Some(next) => {
                // SAFETY: it is in the queue, so its future is there.
                let next = unsafe { next.as_ref() };
                // SAFETY: it waits, and this thread has the lock.
                unsafe { next.with_links(|links| links.prev = prev) };
            }
        }
        self.count -= 1;
        detect::gone(ptr::from_ref(node).cast());
        let waker = node.word.load(Ordering::Relaxed);
        node.set_done();
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(waker) }
    }
}
