//! Where threads leave tasks for a processor: a stack that anybody pushes onto and that is taken
//! whole.
//!
//! # Roles and protocol
//! A *sender* owns a right to the task, a [`Parcel`]: its [`Runnable`](crate::task::header::Runnable), or
//! the registry's [hold](crate::task::header::Held) on a complete one. It links the task to the present head and makes it the head
//! by one compare-and-swap. A *receiver* swaps the head with null: the chain is then its own. It turns
//! the chain round, so that the tasks come out in the order in which they went in.
//!
//! # Why nothing is lost
//! Senders only ever replace the head that they have linked to, and receivers take all or nothing, so
//! there is no moment at which a task is in neither hand, and no ABA: a head that comes back has no
//! successor that could be stale, because whoever pushes it links it anew. Any thread may receive, so
//! the inbox of a processor that stands still can be emptied by others.
//!
//! # Rejected
//! A locked queue: senders from many threads would meet, and one that the operating system preempts
//! would stop the processor.

#![allow(unsafe_code, reason = "tasks are linked through their headers")]

use crate::primitives::atomic::{AtomicPtr, AtomicU64, Edge, Ordering, edge};
use crate::primitives::clock;
use crate::task::header::{Header, Parcel, TaskPtr};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A stack of rights to tasks.
#[derive(Debug)]
pub(crate) struct Inbox<P> {
    head: AtomicPtr<Header>,
    /// When the oldest of them came, or an earlier time.
    since: AtomicU64,
    parcels: PhantomData<fn(P) -> P>,
}

impl<P: Parcel> Inbox<P> {
    pub(crate) fn new() -> Self {
        let head = AtomicPtr::new(ptr::null_mut());
        Self { head, since: AtomicU64::new(0), parcels: PhantomData }
    }

    /// Whether there is anything in it: one load.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// When the oldest task came: exact or earlier while there is one.
    pub(crate) fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }

    /// Leaves a right.
    pub(crate) fn push(&self, parcel: P) {
        let task = parcel.into_ptr();
        // SAFETY: the right keeps the task from being freed, and nobody has it before the exchange below
        // succeeds.
        let header = unsafe { task.header() };
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head.is_null() {
                self.since.store(clock::now(), Ordering::Relaxed);
            }
            header.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(
                head,
                task.as_ptr(),
                edge(Edge::InboxPush, Ordering::AcqRel),
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    /// Takes all tasks, in the order in which they came.
    pub(crate) fn take(&self) -> Chain<P> {
        if self.is_empty() {
            return Chain { head: ptr::null_mut(), parcels: PhantomData };
        }
        let mut rest = self.head.swap(ptr::null_mut(), edge(Edge::InboxTake, Ordering::AcqRel));
        let mut turned = ptr::null_mut();
        while let Some(task) = NonNull::new(rest).map(TaskPtr::new) {
            // SAFETY: the chain is this thread's, and with it the rights of its senders.
            let header = unsafe { task.header() };
            rest = header.next.load(Ordering::Relaxed);
            header.next.store(turned, Ordering::Relaxed);
            turned = task.as_ptr();
        }
        Chain { head: turned, parcels: PhantomData }
    }
}

/// Rights that have been taken out; they pass to whoever iterates.
#[derive(Debug)]
#[must_use]
pub(crate) struct Chain<P> {
    head: *mut Header,
    parcels: PhantomData<P>,
}

impl<P: Parcel> Iterator for Chain<P> {
    type Item = P;

    fn next(&mut self) -> Option<P> {
        let task = TaskPtr::new(NonNull::new(self.head)?);
        // SAFETY: the task is still in the chain, so its right has not been passed on.
        let header = unsafe { task.header() };
        self.head = header.next.load(Ordering::Relaxed);
        // SAFETY: the chain consists of addresses of this inbox's rights, and is gone through once.
        Some(unsafe { P::from_ptr(task) })
    }
}
