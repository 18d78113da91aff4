//! Who ran which part of a recursion the last time, so that the next phase offers it to the same
//! worker first.
//!
//! Parts are known by a hash of where they lie in the recursion. What is here is a hint: two parts
//! can share an entry.

use crate::primitives::atomic::{AtomicU16, Ordering};
use std::sync::OnceLock;

/// Entries: 8 KiB. A recursion of eight levels over each of sixteen arrays. An estimate; no
/// benchmark sets it.
#[cfg(not(any(loom, shuttle)))]
const ENTRIES: usize = 4_096;
#[cfg(any(loom, shuttle))]
const ENTRIES: usize = 1;

/// There once a fork states its footprint: few programs do, and a pool may live for a moment.
#[derive(Debug)]
pub(crate) struct Runners(OnceLock<Box<[AtomicU16]>>);

impl Runners {
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    fn entry(entries: &[AtomicU16], part: u64) -> &AtomicU16 {
        &entries[(part >> 32) as usize % ENTRIES]
    }

    /// Who ran the part last, if that is known.
    pub(crate) fn last(&self, part: u64) -> Option<usize> {
        let worker = Self::entry(self.0.get()?, part).load(Ordering::Relaxed);
        worker.checked_sub(1).map(usize::from)
    }

    /// Says that `worker` runs the part now.
    pub(crate) fn remember(&self, part: u64, worker: usize) {
        let entries = self.0.get_or_init(|| (0..ENTRIES).map(|_| AtomicU16::new(0)).collect());
        let entry = Self::entry(entries, part);
        // At most 1,024 workers.
        let value = worker as u16 + 1;
        // Mostly it is so already: the line stays shared.
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
