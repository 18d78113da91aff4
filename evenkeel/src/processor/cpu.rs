//! The hardware thread that a worker is on, as other workers see it.

use crate::primitives::atomic::{AtomicUsize, Ordering};

/// The hardware thread that a worker was on when it last looked around, unless it sleeps.
#[derive(Debug)]
pub(crate) struct Cpu(AtomicUsize);

const NOWHERE: usize = usize::MAX;

impl Cpu {
    pub(crate) fn nowhere() -> Self {
        Self(AtomicUsize::new(NOWHERE))
    }

    /// Records that the worker is on `cpu`.
    pub(crate) fn take(&self, cpu: usize) {
        self.0.store(cpu, Ordering::Relaxed);
    }

    /// Records that the worker falls asleep.
    pub(crate) fn leave(&self) {
        self.0.store(NOWHERE, Ordering::Relaxed);
    }

    pub(crate) fn is(&self, cpu: usize) -> bool {
        self.0.load(Ordering::Relaxed) == cpu
    }
}
