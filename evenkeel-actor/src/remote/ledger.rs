//! Messages about leases that wait to be sent. [`lease`](super::lease) has the protocol.

use crate::node::{NodeId, Slot};
use crate::policy::references::Loans;
use crate::refs::away::Lease;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The messages about leases that this node has for one owner.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// By slot and holder.
    pub(super) loans: Loans<(Slot, NodeId), Arc<Lease>>,
    /// Leases by the owner that are to be given back.
    pub(super) released: BTreeMap<Slot, u64>,
    /// Leases that are to be given back, by other lenders.
    pub(super) released_of_others: BTreeMap<(Slot, NodeId), u64>,
    /// Whether a task is about to send all that.
    pub(super) is_due: bool,
}

impl State {
    /// Whether there is nothing to send.
    pub(super) fn is_empty(&self) -> bool {
        let is_given_back = self.released.is_empty() && self.released_of_others.is_empty();
        is_given_back && self.loans.waiting() == 0
    }
}

impl Ledger {
    /// Only maps are changed under the lock, and nothing is dropped that has leases.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
