//! The visitors: tasks that are at a processor for the sake of an object, oldest first.
//!
//! The memory of tasks that have travelled there lies in the caches of another core. The first ones
//! are fetched when they come, each other one [`AHEAD`] tasks before its turn. Fetching takes
//! longer than a poll of a short operation, and overlaps the polls of the tasks before it.
//!
//! # Rejected
//! Fetching all when they come: a core has room for a dozen outstanding lines, and stalls for the
//! others. A journey there and back takes a fifth longer (`evenkeel-bench run --bench travel
//! --tasks-per-core 64`).

use crate::primitives::prefetch;
use crate::queue::ring::Entry;
use crate::queue::ring::{Ends, Ring};

/// The number of tasks before its turn at which a task is fetched. Measured as above: 8 takes two
/// per cent longer, and 12 takes five per cent longer with 16 tasks.
const AHEAD: usize = 6;

/// The queue of visitors. The caller of its methods holds the lock of the processor's queues, and
/// passes the visitors' own ends.
#[derive(Debug, Default)]
pub(crate) struct Visitors {
    ring: Ring,
    /// Cache lines of the largest task that arrived last: where tasks of several sizes come, some
    /// are fetched in part, and others with memory behind them.
    lines: usize,
}

impl Visitors {
    /// Takes the oldest visitor.
    #[inline(always)]
    pub(crate) fn pop(&mut self, ends: &Ends) -> Option<Entry> {
        let entry = self.ring.pop(ends);
        if let Some(next) = self.ring.behind(ends, AHEAD - 1) {
            prefetch::lines(next.task.ptr().as_ptr().cast(), self.lines);
        }
        entry
    }

    /// Puts a task at the back that has been here before.
    #[inline(always)]
    pub(crate) fn push(&mut self, ends: &Ends, entry: Entry) {
        self.ring.push(ends, entry);
    }

    /// Puts a task at the back that comes from another processor, `lines` cache lines of which are
    /// worth fetching.
    #[inline(always)]
    pub(crate) fn receive(&mut self, ends: &Ends, entry: Entry, lines: usize) {
        self.lines = lines;
        if ends.len() < AHEAD {
            prefetch::lines(entry.task.ptr().as_ptr().cast(), lines);
        }
        self.ring.push(ends, entry);
    }

    /// Moves all visitors to `entries`.
    pub(crate) fn drain(&mut self, ends: &Ends, entries: &mut Vec<Entry>) {
        self.ring.drain(ends, usize::MAX, entries);
    }
}
