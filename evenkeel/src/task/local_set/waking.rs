//! What the waker of a local task is. The [set](super) has the protocol.

use super::ready::{Member, Ready};
use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
use crate::raw_task::id::Id;
use crate::task::abort_handle::Abort;
use std::sync::Arc;
use std::task::Wake;

/// The part of a local task that other threads reach.
#[derive(Debug)]
pub(super) struct Waking {
    ready: Arc<Ready>,
    member: Member,
    is_queued: AtomicBool,
    is_aborted: AtomicBool,
    is_finished: AtomicBool,
}

impl Waking {
    /// That of a new task, which is not queued.
    pub(super) fn new(ready: Arc<Ready>, member: Member) -> Self {
        Self {
            ready,
            member,
            is_queued: AtomicBool::new(false),
            is_aborted: AtomicBool::new(false),
            is_finished: AtomicBool::new(false),
        }
    }

    /// Begins a poll: wakes that come from now on queue the task again. What was done before the
    /// earlier ones is visible to the poll. Returns false if the task is aborted instead.
    #[must_use]
    pub(super) fn begin(&self) -> bool {
        self.is_queued.swap(false, edge(Edge::LocalBegin, Ordering::Acquire));
        // An abort sets it before its wake.
        !self.is_aborted.load(Ordering::Relaxed)
    }

    /// Queues the task, whose mark is set, once more: a driver has dropped its number.
    pub(super) fn requeue(&self) {
        self.ready.push(self.member);
    }

    /// Ends the task, before its joiner learns of it. Wakes queue it no more, but for one that
    /// comes at the same time.
    pub(super) fn finish(&self) {
        self.is_queued.store(true, Ordering::Relaxed);
        self.is_finished.store(true, Ordering::Release);
    }
}

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, edge(Edge::LocalWake, Ordering::Release)) {
            self.ready.push(self.member);
        }
    }
}

impl Abort for Waking {
    fn abort(self: Arc<Self>) {
        self.is_aborted.store(true, Ordering::Relaxed);
        self.wake();
    }

    fn is_finished(&self) -> bool {
        self.is_finished.load(Ordering::Acquire)
    }

    fn id(&self) -> Id {
        self.member.id
    }
}
