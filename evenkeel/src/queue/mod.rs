//! What a processor's queues are made of: the owner-biased lock, the ring of ready tasks that it
//! guards, the inbox, the slot in which a helper answers, and the registry of tasks.
//!
//! Invariant: it knows the rights to a task, and no processor or worker.

pub(crate) mod biased;
pub(crate) mod gift;
pub(crate) mod inbox;
pub(crate) mod registry;
pub(crate) mod ring;
