//! How often a kind of signal has come.

use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};

/// How often a kind of signal has come.
#[derive(Debug)]
pub(super) struct Count(AtomicUsize);

impl Count {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(super) fn load(&self) -> usize {
        self.0.load(edge(Edge::SignalSeen, Ordering::Acquire))
    }

    /// Adds one. It may interrupt any code: it takes no lock.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, edge(Edge::SignalCome, Ordering::Release));
    }
}
