//! The slot in which a processor, the *giver*, leaves the answer to a thief's request for work.
//!
//! A thief has at most one request out, so at most one giver writes here at a time. The giver fills
//! the entries and sets `ready` under one lock. The thief, once it sees `ready`, takes the lock,
//! and so sees the entries. A thief need not wait for its answer: it goes on, and looks here at the
//! end of each batch and before it sleeps. If it sleeps, the giver wakes it by the protocol of
//! [`idle`](crate::idle).
//!
//! A thief inside a poll that does not end never takes its answer. So other processors see a gift
//! with tasks in it as they see an inbox, and may [take the tasks out](Gift::rob). The gift stays
//! ready, empty, because it ends the thief's request.

use super::ring::Entry;
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::{Mutex, lock};

/// A hand-over on its way to one processor.
#[derive(Debug)]
pub(crate) struct Gift {
    entries: Mutex<Vec<Entry>>,
    ready: AtomicBool,
    /// Whether the gift has tasks in it.
    filled: AtomicBool,
}

impl Gift {
    pub(crate) fn new() -> Self {
        let (ready, filled) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { entries: Mutex::new(Vec::new()), ready, filled }
    }

    /// Returns whether the answer is here: one load.
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Returns whether the gift has tasks in it: one load.
    #[inline(always)]
    pub(crate) fn has_tasks(&self) -> bool {
        self.filled.load(Ordering::Relaxed)
    }

    /// Leaves the answer, possibly empty. The giver has taken the request.
    pub(crate) fn give(&self, fill: impl FnOnce(&mut Vec<Entry>)) {
        let mut entries = lock(&self.entries);
        fill(&mut entries);
        self.filled.store(!entries.is_empty(), Ordering::Relaxed);
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Moves the answer to `entries`, if it is here, and returns whether it was.
    pub(crate) fn take(&self, entries: &mut Vec<Entry>) -> bool {
        if !self.is_ready() {
            return false;
        }
        let mut given = lock(&self.entries);
        entries.append(&mut given);
        self.filled.store(false, Ordering::Relaxed);
        self.ready.store(false, Ordering::Relaxed);
        true
    }

    /// Moves the tasks of another processor's answer to `entries`.
    pub(crate) fn rob(&self, entries: &mut Vec<Entry>) {
        if self.has_tasks() {
            let mut given = lock(&self.entries);
            entries.append(&mut given);
            self.filled.store(false, Ordering::Relaxed);
        }
    }
}
