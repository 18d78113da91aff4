//! What a worker knows of the objects that are entered at it: from [samples](super::sampling), by
//! their addresses.
//!
//! Only the worker writes to its ledger; others read it, for reports.

use super::giving::Giving;
use crate::primitives::{Mutex, lock};
use crossbeam_utils::CachePadded;
use std::sync::Arc;

/// The ledgers of the workers of a runtime: one each, to which only its worker writes.
#[derive(Clone, Debug)]
pub(super) struct Ledgers(Arc<[Ledger]>);

type Ledger = CachePadded<Mutex<Giving>>;

impl Ledgers {
    /// Makes the ledgers of a runtime with `workers` workers.
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// Returns the ledger of this worker, if it belongs to the runtime.
    pub(super) fn of(&self, worker: usize) -> Option<&Mutex<Giving>> {
        self.0.get(worker).map(|ledger| &**ledger)
    }

    /// Calls `look` on each ledger, one after the other, and returns the results.
    pub(super) fn each<R>(&self, look: impl Fn(&Giving) -> R) -> Vec<R> {
        self.0.iter().map(|ledger| look(&lock(ledger))).collect()
    }
}
