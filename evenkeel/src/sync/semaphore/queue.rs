//! What the semaphore's lock guards: its permits, or the queue of its waiters; never both.

#![allow(unsafe_code, reason = "waiters are linked through their futures")]

use crate::detect::{self, Waiting};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::list::{Link, Linked, List};
use crate::primitives::spin_lock::SpinLock;
use crate::primitives::wait_word::{WaitWord, Word};
use crate::task::word_waker::WordWaker;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// What the lock guards.
pub(super) struct Inner<D> {
    /// The available permits, oldest first. For `D = ()` it is a count.
    made: VecDeque<D>,
    /// The queue of waiters.
    queue: List<Node<D>>,
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
    /// Its [`Progress`].
    word: WaitWord,
    link: Link<Self>,
    /// Initialized once the node is granted, until its future takes it.
    datum: UnsafeCell<MaybeUninit<D>>,
}

// SAFETY: it is the node's only link.
unsafe impl<D> Linked for Node<D> {
    #[inline(always)]
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

/// A waiter's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    New,
    /// New, but for a yield to other tasks, after which it goes on.
    Yielded,
    Waiting,
    Granted,
    Done,
}

const NEW: usize = 0;
const GRANTED: usize = 2;
const DONE: usize = 4;
const YIELDED: usize = 6;

impl<D> Node<D> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            word: WaitWord::new(NEW),
            link: Link::new(),
            datum: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns its progress. *Granted* synchronizes with what the releaser did before.
    #[inline(always)]
    pub(super) fn progress(&self) -> Progress {
        match self.word.mark() {
            NEW => Progress::New,
            GRANTED => Progress::Granted,
            DONE => Progress::Done,
            YIELDED => Progress::Yielded,
            _ => Progress::Waiting,
        }
    }

    /// Notes that the future of a new node has yielded.
    #[cold]
    pub(super) fn set_yielded(&self) {
        self.word.set(YIELDED);
    }

    /// Ends the wait of a node that is in no queue and has no datum.
    #[inline(always)]
    pub(super) fn set_done(&self) {
        self.word.set(DONE);
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

    /// Returns whether it waits with a waker of the same evenkeel task as `waker`.
    #[inline(always)]
    pub(super) fn waits_for(&self, waker: &Waker) -> bool {
        self.word.is_of_task::<WordWaker>(waker)
    }

    /// The task that waits.
    ///
    /// # Safety
    /// The node waits, and the caller has the lock.
    pub(super) unsafe fn waiting(&self) -> Option<Waiting> {
        // SAFETY: the caller's promise.
        unsafe { self.word.peek(WordWaker::waiting) }
    }

    /// Makes it wait with this waker. Returns true if it has been granted meanwhile.
    ///
    /// # Safety
    /// The node waits or was granted, `inner` has the queue, and the caller is its future.
    pub(super) unsafe fn renew(&self, inner: &SpinLock<Inner<D>>, waker: &Waker) -> bool {
        let with_lock = |look: &mut dyn FnMut()| {
            let _inner = inner.lock();
            look();
        };
        let tell = |fresh: &WordWaker| {
            detect::renewed(ptr::from_ref(self).cast(), || fresh.waiting());
        };
        // SAFETY: the caller's promise.
        unsafe { self.word.renew(waker, with_lock, tell) }
    }
}

/// `V`.
#[inline]
pub(super) fn release<D: Send>(inner: &SpinLock<Inner<D>>, datum: D) {
    let waker = {
        let mut inner = inner.lock();
        match inner.queue.pop() {
            None => return inner.put(datum),
            // SAFETY: it has just been taken out.
            Some(node) => unsafe { inner.grant(node, datum) },
        }
    };
    waker.wake();
}

/// `V` of several permits: to the waiters, and the rest to the store.
#[track_caller]
pub(super) fn add(inner: &SpinLock<Inner<()>>, mut permits: usize) {
    while permits > 0 {
        let waker = {
            let mut inner = inner.lock();
            let Some(node) = inner.queue.pop() else { return inner.put_units(permits) };
            // SAFETY: it has just been taken out.
            unsafe { inner.grant(node, ()) }
        };
        permits -= 1;
        waker.wake();
    }
}

impl Inner<()> {
    /// Puts `permits` permits into the store. There are no waiters.
    #[track_caller]
    fn put_units(&mut self, permits: usize) {
        let count = self.count.checked_add(permits);
        let all = count.and_then(|count| count.checked_add(self.made.len()));
        assert!(
            all.is_some(),
            "a semaphore has at most `usize::MAX` permits, and {permits} beside its {} are more: add fewer",
            self.available()
        );
        self.count += permits;
    }

    /// Makes `permits` permits.
    pub(super) const fn of_units(permits: usize) -> Self {
        Self { made: VecDeque::new(), queue: List::new(), count: permits }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<SpinLock<Inner<()>>>() == 64);

impl<D> Inner<D> {
    pub(super) const fn new(data: VecDeque<D>) -> Self {
        Self { made: data, queue: List::new(), count: 0 }
    }

    /// Returns the number of waiters.
    pub(super) fn waiting(&self) -> usize {
        if self.queue.is_empty() { 0 } else { self.count }
    }

    /// Returns the number of available permits.
    pub(super) fn available(&self) -> usize {
        if self.queue.is_empty() { self.made.len() + self.count } else { 0 }
    }

    /// Takes the oldest permit.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<D> {
        match self.made.pop_front() {
            None if self.queue.is_empty() && self.count > 0 => Some(self.make()),
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
            assert!(
                !is_full,
                "a semaphore has at most `usize::MAX` permits, and this one has them: put back only what was taken"
            );
        }
        self.made.push_back(datum);
    }

    /// Gives `datum` to a node, and returns its waker.
    ///
    /// # Safety
    /// The node has just been taken out of the queue, under this lock.
    #[inline(always)]
    unsafe fn grant(&mut self, node: NonNull<Node<D>>, datum: D) -> WordWaker {
        // SAFETY: it waits, so its future is there until this lock is released or it is granted.
        let node = unsafe { node.as_ref() };
        detect::granted(ptr::from_ref(node).cast());
        self.count -= 1;
        node.datum.with_mut(|place| {
            // SAFETY: until the node is granted, the lock guards the place.
            unsafe { place.write(MaybeUninit::new(datum)) };
        });
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(node.word.end(GRANTED)) }
    }

    /// Puts a new node at the back of the queue.
    ///
    /// # Safety
    /// The node is in no queue, and it stays where it is until it has been taken out.
    #[inline(always)]
    pub(super) unsafe fn link(&mut self, node: &Node<D>, waker: WordWaker) {
        node.word.wait(waker);
        // SAFETY: the caller's promise.
        unsafe { self.queue.push_back(NonNull::from(node)) };
        self.count += 1;
    }

    /// Takes out a node that gives up its wait, and returns its waker.
    ///
    /// # Safety
    /// The node is in this queue.
    pub(super) unsafe fn unlink(&mut self, node: &Node<D>) -> WordWaker {
        // SAFETY: the caller's promise.
        unsafe { self.queue.remove(NonNull::from(node)) };
        self.count -= 1;
        detect::gone(ptr::from_ref(node).cast());
        let waker = node.word.waker();
        node.set_done();
        // SAFETY: while the node waited its word was a waker, which only this thread takes.
        unsafe { WordWaker::from_raw(waker) }
    }
}
