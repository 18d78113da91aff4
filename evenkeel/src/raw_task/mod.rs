//! A task as the scheduler sees it: its header, its state word, the rights to it, its memory; and
//! the [parties](party) that take turns on a thread outside of tasks.
//!
//! Invariant: this room knows nothing of futures, processors or workers. [`task`](crate::task) is
//! the upper half.

pub(crate) mod berth;
pub(crate) mod blocks;
pub(crate) mod header;
pub(crate) mod id;
pub(crate) mod kept;
pub(crate) mod party;
pub(crate) mod report;
pub(crate) mod rights;
pub(crate) mod state;
