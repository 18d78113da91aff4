//! The tasks that are at a processor for an object's sake, oldest first.
//!
//! Those that have travelled there lie in the caches of another core. The first ones are fetched
//! when they come, each other one [so many](AHEAD) tasks before its turn: fetching takes longer
//! than a poll of a short operation, and the polls of those before it go on meanwhile.
//!
//! # Rejected
//! Fetching all when they come: a core has room for a dozen lines on their way, and stands still
//! for the others. A journey there and back takes a fifth longer (`evenkeel-bench run --bench
//! travel --tasks-per-core 64`).

use crate::primitives::prefetch;
use crate::queue::ring::Entry;
use crate::queue::ring::{Ends, Ring};

/// How many tasks from its turn a task is fetched. Measured as above: 8 takes two per cent longer,
/// and 12 five with 16 tasks.
const AHEAD: usize = 6;

/// The queue. Its methods are for whoever has the lock of the processor's queues, and want its own
/// ends.
#[derive(Debug, Default)]
pub(crate) struct Visitors {
    ring: Ring,
    /// Cache lines of the largest of those that have travelled here last: where tasks of several
    /// sizes come, some are fetched in part, and of others what lies behind them.
    lines: usize,
}

impl Visitors {
    /// Takes the oldest.
    #[inline(always)]
    pub(crate) fn pop(&mut self, ends: &Ends) -> Option<Entry> {
        let entry = self.ring.pop(ends);
        if let Some(next) = self.ring.behind(ends, AHEAD - 1) {
            prefetch::lines(next.task.ptr().as_ptr().cast(), self.lines);
        }
        entry
    }

    /// Puts one to the back that has been here before.
    #[inline(always)]
    pub(crate) fn push(&mut self, ends: &Ends, entry: Entry) {
        self.ring.push(ends, entry);
    }

    /// Puts one to the back that comes from another processor, and so many of whose cache lines are
    /// worth fetching.
    #[inline(always)]
    pub(crate) fn receive(&mut self, ends: &Ends, entry: Entry, lines: usize) {
        self.lines = lines;
        if ends.len() < AHEAD {
            prefetch::lines(entry.task.ptr().as_ptr().cast(), lines);
        }
        self.ring.push(ends, entry);
    }

    /// Moves all to `entries`.
    pub(crate) fn drain(&mut self, ends: &Ends, entries: &mut Vec<Entry>) {
        self.ring.drain(ends, usize::MAX, entries);
    }
}
