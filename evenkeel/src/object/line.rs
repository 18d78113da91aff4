//! Where those wait who cannot get in for long: behind an operation that awaits.
//!
//! Most operations are a piece of one poll, and a task that finds one inside looks again after a
//! turn. One that is [held](super::held) across awaits may last; so held operations come in one
//! after the other, first come first served, by a permit, and an operation that finds one of them
//! inside waits for the permit too, which it gives on as soon as it is inside itself.

use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::Semaphore;
use std::fmt;

/// The line before one object.
pub(super) struct Line {
    semaphore: Semaphore,
    /// Whether a held operation is inside, or about to be.
    held: AtomicBool,
    /// The task or the thread that holds the object: its number, or zero.
    holder: AtomicU64,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

/// The turn of whoever is first in line; dropping it gives it on.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Line);

impl Line {
    pub(super) fn new() -> Self {
        Self {
            semaphore: Semaphore::new(1).returned_by_takers(),
            held: AtomicBool::new(false),
            holder: AtomicU64::new(0),
        }
    }

    /// Waits for one's turn.
    pub(super) async fn turn(&self) -> Turn<'_> {
        self.semaphore.acquire().await;
        Turn(self)
    }

    /// Whether to wait in line.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether this task or thread holds the object.
    pub(super) fn is_holder(&self, holder: u64) -> bool {
        self.holder.load(Ordering::Relaxed) == holder
    }
}

impl Turn<'_> {
    /// Says that the object is held from now on, until [`end`](Self::end), by this task or thread.
    pub(super) fn hold(&self, holder: u64) {
        self.0.holder.store(holder, Ordering::Relaxed);
        self.0.held.store(true, Ordering::Relaxed);
    }

    /// Says that it is held no more.
    pub(super) fn end(&self) {
        self.0.held.store(false, Ordering::Relaxed);
        self.0.holder.store(0, Ordering::Relaxed);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.semaphore.release();
    }
}
