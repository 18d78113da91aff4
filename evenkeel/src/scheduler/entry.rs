//! A place in a ready queue.

use crate::task::rights::Runnable;

/// A task that is ready, and since when by the coarse clock of the processor that queued it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) task: Runnable,
    pub(crate) since: u64,
}
