//! What a worker notes about its own forks.

use super::seat::Seat;
use crate::deque::{Deque, Level};
use std::cell::Cell;

/// More than the most workers.
const WORKERS: u64 = 1 << 16;

/// The notes of one worker.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// The worker's position in a recursion of sized forks: a hash of the path from the root; zero
    /// outside of any.
    pub(crate) part: Cell<u64>,
    /// How many sized forks the worker has anchored.
    anchored: Cell<u32>,
    /// The level of the deque below its oldest job of a scope, if it has one. The owner of the
    /// scope may hold a lock, and cannot come for the job, so no task and no errand goes before it.
    scoped: Cell<Option<Level>>,
    /// The worker that yields of fork-join have asked for jobs, and since when.
    pub(crate) asked_in_yields: Cell<Option<(usize, u64)>>,
}

impl Forks {
    /// Counts a sized fork that the worker is about to anchor, and returns its number.
    pub(crate) fn count_anchored(&self) -> u32 {
        let number = self.anchored.get().wrapping_add(1);
        self.anchored.set(number);
        number
    }

    /// Notes that the worker is about to push a job of a scope into its `deque`.
    pub(crate) fn note_scoped(&self, deque: &Deque) {
        if self.scoped.get().is_none() {
            self.scoped.set(Some(deque.level()));
        }
    }

    /// Forgets the job of a scope if the deque is down to `level` and the job was above.
    pub(crate) fn forget_scoped(&self, level: Level) {
        if self.scoped.get().is_some_and(|scoped| scoped >= level) {
            self.scoped.set(None);
        }
    }

    /// Returns whether there is a job of a scope in the deque.
    pub(crate) fn has_scoped(&self) -> bool {
        self.scoped.get().is_some()
    }
}

impl Seat {
    /// Returns a number for a scope that no other scope of the runtime has had; not zero.
    pub(crate) fn next_scope(&self) -> u64 {
        let scopes = &self.processor().counters.scopes;
        scopes.add(1);
        scopes.get() * WORKERS + self.me() as u64
    }

    /// Returns whether a scope with this number from [`next_scope`](Self::next_scope) has begun
    /// here.
    pub(crate) fn owns_scope(&self, number: u64) -> bool {
        number % WORKERS == self.me() as u64
    }
}
