//! The parts of a processor's queues: the owner-biased lock, the ring of ready tasks that it
//! guards, the keep, the inbox, the slot for the answer to a request for work, and the registry of
//! tasks.
//!
//! Invariant: this room knows the rights to a task, and no processor or worker.

pub(crate) mod biased;
pub(crate) mod gift;
pub(crate) mod inbox;
pub(crate) mod keep;
pub(crate) mod registry;
pub(crate) mod ring;
