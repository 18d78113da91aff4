//! Where operations wait that cannot get in for long: behind an operation that awaits.
//!
//! Most operations are a piece of one poll, and a task that finds one inside looks again after a
//! turn. An operation that is [held](super::held) across awaits may last. So held operations come
//! in one after the other, first come first served, by a permit. An operation that finds a held one
//! inside waits for the permit too, and passes it on as soon as it is inside itself.

use crate::policy::random::scatter;
use crate::primitives::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use crate::raw_task::{id, party};
use crate::sync::Semaphore;
use crossbeam_utils::CachePadded;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The line before one object.
pub(super) struct Line {
    semaphore: Semaphore,
    /// The task, the party outside of tasks, or the thread that holds the object: its number, or
    /// zero.
    holder: AtomicU64,
    /// The number of the thread on which a holder that is no task has come in. Such a holder stays
    /// on its thread, and leaves a [note](party) there by the line's address; but its guard may be
    /// sent elsewhere.
    thread: AtomicU64,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

/// Parts of the lines of a class, so that operations on different objects seldom meet at one. An
/// estimate. One in the models.
const PARTS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };

/// The lines before the objects of a class, by the objects' addresses. Few objects ever have one,
/// and all others need no room for it.
#[derive(Debug)]
pub(super) struct Lines(Box<[CachePadded<Part>]>);

/// Some of the lines.
#[derive(Debug, Default)]
struct Part {
    lines: Mutex<BTreeMap<usize, Arc<Line>>>,
    count: AtomicUsize,
}

impl Default for Lines {
    fn default() -> Self {
        Self((0..PARTS).map(|_| CachePadded::default()).collect())
    }
}

impl Lines {
    fn part(&self, address: usize) -> &Part {
        &self.0[scatter(address as u64) % PARTS]
    }

    /// Returns the line before the object at `address`; makes it if there is none.
    pub(super) fn of(&self, address: usize) -> Arc<Line> {
        let part = self.part(address);
        let mut lines = lock(&part.lines);
        let line = lines.entry(address).or_insert_with(|| Arc::new(Line::new())).clone();
        part.count.store(lines.len(), Ordering::Relaxed);
        line
    }

    /// Forgets the line before the object at `address`, which is gone or changes its class.
    pub(super) fn forget(&self, address: usize) {
        let part = self.part(address);
        if part.count.load(Ordering::Relaxed) > 0 {
            let mut lines = lock(&part.lines);
            lines.remove(&address);
            part.count.store(lines.len(), Ordering::Relaxed);
        }
    }
}

/// The turn of the first in line; its drop passes it on.
#[derive(Debug)]
pub(super) struct Turn(Arc<Line>);

impl Line {
    fn new() -> Self {
        // No promise that takers give the permit back: a guard may go to any task.
        let semaphore = Semaphore::new(1);
        Self { semaphore, holder: AtomicU64::new(0), thread: AtomicU64::new(0) }
    }

    /// Waits for the caller's turn.
    pub(super) async fn turn(self: Arc<Self>) -> Turn {
        self.semaphore.take().await;
        Turn(self)
    }

    /// Whether the object is held by the caller with this number, or by a party of its thread that
    /// the caller must not wait for.
    pub(super) fn is_own(&self, caller: u64) -> bool {
        self.holder.load(Ordering::Relaxed) == caller
            || self.is_on_this_thread() && !party::may_wait(self.address(), caller)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether the caller's thread, or a party of it, holds the object.
    pub(super) fn is_on_this_thread(&self) -> bool {
        self.thread.load(Ordering::Relaxed) == id::among_threads()
    }
}

impl Turn {
    /// Says that the object is held from now on, until [`end`](Self::end), by this holder.
    pub(super) fn hold(&self, holder: u64, is_task: bool) {
        self.0.holder.store(holder, Ordering::Relaxed);
        let thread = if is_task { 0 } else { id::among_threads() };
        self.0.thread.store(thread, Ordering::Relaxed);
        if !is_task && !party::note(self.0.address(), false) {
            // Of an earlier holder, whose guard has ended elsewhere.
            party::forget(self.0.address());
        }
    }

    /// Says that the object is not held any more.
    pub(super) fn end(&self) {
        self.0.holder.store(0, Ordering::Relaxed);
        if self.0.thread.swap(0, Ordering::Relaxed) == id::among_threads() {
            party::forget(self.0.address());
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.semaphore.add_permits(1);
    }
}
