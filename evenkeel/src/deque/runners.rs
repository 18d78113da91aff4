//! The workers that last ran the parts of a recursion, so that the next phase offers a part to the
//! same worker first.
//!
//! A hash of its position in the recursion identifies a part. An entry is a hint: two parts can
//! share one.

use crate::primitives::atomic::{AtomicU16, Ordering};
use std::sync::OnceLock;

/// Entries: 8 KiB. A recursion of eight levels over each of sixteen arrays. An estimate; no
/// benchmark sets it.
#[cfg(not(any(loom, shuttle)))]
const ENTRIES: usize = 4_096;
#[cfg(any(loom, shuttle))]
const ENTRIES: usize = 1;

/// The table, allocated when a fork first states its footprint: few programs do, and a pool may
/// live for a moment.
#[derive(Debug)]
pub(crate) struct Runners(OnceLock<Box<[AtomicU16]>>);

impl Runners {
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    fn entry(entries: &[AtomicU16], part: u64) -> &AtomicU16 {
        &entries[(part >> 32) as usize % ENTRIES]
    }

    /// Returns the worker that ran the part last, if it is known.
    pub(crate) fn last(&self, part: u64) -> Option<usize> {
        let worker = Self::entry(self.0.get()?, part).load(Ordering::Relaxed);
        worker.checked_sub(1).map(usize::from)
    }

    /// Records that `worker` runs the part.
    pub(crate) fn remember(&self, part: u64, worker: usize) {
        let entries = self.0.get_or_init(|| (0..ENTRIES).map(|_| AtomicU16::new(0)).collect());
        let entry = Self::entry(entries, part);
        // At most 1,024 workers.
        let value = worker as u16 + 1;
        // Mostly the entry has the value already: without a store the line stays shared.
        if entry.load(Ordering::Relaxed) != value {
            entry.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_is_remembered() {
        let runners = Runners::new();
        assert_eq!(runners.last(1 << 40), None);
        runners.remember(1 << 40, 0);
        runners.remember(2 << 40, 1_023);
        assert_eq!(runners.last(1 << 40), Some(0));
        assert_eq!(runners.last(2 << 40), Some(1_023));
    }
}
