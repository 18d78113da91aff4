//! The inbox, where threads leave tasks for a processor: a stack onto which any thread pushes, and
//! which a receiver takes whole.
//!
//! # Roles and protocol
//! A *sender* owns a right to the task, a [`Parcel`]: its
//! [`Runnable`](crate::raw_task::rights::Runnable), or the registry's
//! [hold](crate::raw_task::rights::Held) on a complete one. It links the task to the present head
//! and makes it the head by one compare-and-swap. A *receiver* swaps the head with null: the chain
//! is then its own. It reverses the chain, so that the tasks come out in the order in which they
//! went in.
//!
//! # Why nothing is lost
//! Senders only ever replace the head that they have linked to, and receivers take all or nothing.
//! So at each moment a task is in the inbox or with a receiver. There is no ABA: a head that comes
//! back has no stale successor, because its sender links it anew. Any thread may receive, so others
//! can empty the inbox of a processor that stands still.
//!
//! # Since when
//! A sender that has read the clock and then sees the inbox empty knows that every task in it from
//! then on comes later than that reading. It raises `since` to the reading. So however long a
//! sender is held up between its look and the raise, `since` is never later than the arrival of a
//! task that is there. Because `since` never falls, a receiver that reads it before it takes the
//! tasks may apply it to all of them. It is close to the truth, because the sender of the oldest
//! task raises it before its task is there.
//!
//! # Rejected
//! A time that the sender stores when it finds the inbox empty: if another task overtakes a sender
//! that is held up after its look, the stored time is later than that task's arrival. A time that
//! receivers reset: a reset wipes out the time of a sender that is about to link its task.
//!
//! A locked queue, as the [list](crate::primitives::list) of waiting futures is one: senders from
//! many threads would contend, and a sender that the operating system preempts would stop the
//! processor.

#![allow(unsafe_code, reason = "tasks are linked through their headers")]

use crate::primitives::atomic::{AtomicPtr, AtomicU64, Edge, Ordering, edge};
use crate::primitives::clock;
use crate::raw_task::header::{Header, TaskPtr};
use crate::raw_task::rights::Parcel;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A stack of rights to tasks.
#[derive(Debug)]
pub(crate) struct Inbox<P> {
    head: AtomicPtr<Header>,
    /// The arrival of the oldest task, or an earlier time. It only rises.
    since: AtomicU64,
    parcels: PhantomData<fn(P) -> P>,
}

impl<P: Parcel> Inbox<P> {
    pub(crate) fn new() -> Self {
        let head = AtomicPtr::new(ptr::null_mut());
        Self { head, since: AtomicU64::new(0), parcels: PhantomData }
    }

    /// Returns whether the inbox is empty: one load.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Returns the arrival of the oldest task: exact or earlier while there is one. A receiver
    /// calls this before it takes the tasks.
    pub(crate) fn since(&self) -> u64 {
        // The acquire makes the times visible that the senders of the tasks have noted; without it,
        // `since` might be very old.
        self.head.load(edge(Edge::InboxSince, Ordering::Acquire));
        self.since.load(Ordering::Relaxed)
    }

    /// Leaves a right.
    pub(crate) fn push(&self, parcel: P) {
        let task = parcel.into_ptr();
        // SAFETY: the right keeps the task from being freed, and no other thread has the right
        // before the exchange below succeeds.
        let header = unsafe { task.header() };
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head.is_null() {
                head = self.look_again();
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

    /// Returns the head of an inbox that was empty a moment ago. If it still is, raises `since`.
    fn look_again(&self) -> *mut Header {
        let now = clock::now();
        let null = ptr::null_mut();
        // An exchange that succeeds has seen the latest head, whereas a load might see one from
        // before `now`.
        match self.head.compare_exchange(null, null, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                self.since.fetch_max(now, Ordering::Relaxed);
                null
            }
            Err(actual) => actual,
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
            // SAFETY: only this thread has the chain, and with it the rights of its senders.
            let header = unsafe { task.header() };
            rest = header.next.load(Ordering::Relaxed);
            header.next.store(turned, Ordering::Relaxed);
            turned = task.as_ptr();
        }
        Chain { head: turned, parcels: PhantomData }
    }
}

/// Rights that have been taken out; they pass to the receiver, which iterates.
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
        // SAFETY: the chain consists of addresses of this inbox's rights, and the iteration visits
        // each once.
        Some(unsafe { P::from_ptr(task) })
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::{check, explore};
    use crate::raw_task::blocks::Birth;
    use crate::raw_task::blocks::Room;
    use crate::raw_task::id;
    use crate::raw_task::rights::Runnable;
    use crate::scheduler::run;
    use crate::task;
    use std::panic::Location;
    use std::sync::Arc;

    /// Pushes a task that is in no registry.
    fn push(inbox: &Inbox<Runnable>) {
        let birth = Birth { home: ptr::null(), id: id::take_one(), room: Room::Compact };
        let (task, handle) = task::make(async {}, (), Location::caller(), birth);
        drop(handle);
        inbox.push(task);
    }

    #[test]
    fn a_receiver_that_sees_a_task_sees_since_when_it_is_there() {
        check(&[Edge::InboxPush, Edge::InboxSince], || {
            let inbox = Arc::new(Inbox::new());
            // The spawned thread is the one that only looks: loom misses a look that comes before
            // the other thread's own.
            let receiver = {
                let inbox = inbox.clone();
                loom::thread::spawn(move || inbox.is_empty() || inbox.since() > 0)
            };
            push(&inbox);
            assert!(receiver.join().unwrap(), "the task has come since the beginning");
            inbox.take().for_each(run::run_elsewhere);
        });
    }

    #[test]
    fn a_sender_that_is_overtaken_does_not_make_the_tasks_younger() {
        explore(|| {
            let inbox = Arc::new(Inbox::new());
            push(&inbox);
            inbox.take().for_each(run::run_elsewhere);
            let overtaken = {
                let inbox = inbox.clone();
                loom::thread::spawn(move || push(&inbox))
            };
            push(&inbox);
            let pushed = clock::now();
            overtaken.join().unwrap();
            assert!(inbox.since() <= pushed);
            inbox.take().for_each(run::run_elsewhere);
        });
    }
}
