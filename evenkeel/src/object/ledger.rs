//! What a worker knows of the objects that are entered at it: from [samples](super::sampling), by
//! their addresses.
//!
//! The worker alone writes to its ledger; others read it, for reports.

use super::giving::Giving;
use crate::primitives::{Mutex, lock};
use crossbeam_utils::CachePadded;
use std::sync::Arc;

/// The ledgers of the workers of a runtime: one each, which its worker alone writes to.
#[derive(Clone, Debug)]
pub(super) struct Ledgers(Arc<[Ledger]>);

type Ledger = CachePadded<Mutex<Giving>>;

impl Ledgers {
    /// Those of a runtime with so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// The ledger of this worker, if it is one of the runtime.
    pub(super) fn of(&self, worker: usize) -> Option<&Mutex<Giving>> {
        self.0.get(worker).map(|ledger| &**ledger)
    }

    /// What `look` finds in each of them, one after the other.
    pub(super) fn each<R>(&self, look: impl Fn(&Giving) -> R) -> Vec<R> {
        self.0.iter().map(|ledger| look(&lock(ledger))).collect()
    }
}
