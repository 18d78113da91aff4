//! What two nodes have to say to each other of leases. [`lease`](super::lease) has the protocol.

use crate::node::{NodeId, Slot};
use crate::policy::references::Loans;
use crate::refs::away::Lease;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What this node and one owner have to say to each other of leases.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// By slot and holder.
    pub(super) loans: Loans<(Slot, NodeId), Arc<Lease>>,
    /// Leases that are to be given back, by lender.
    pub(super) released: BTreeMap<(Slot, NodeId), u64>,
    /// Whether a task is about to say all that.
    pub(super) is_due: bool,
}

impl Ledger {
    /// Nothing but maps is touched under the lock, and nothing is dropped that has leases.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
