//! What the scheduler decides of a new task.

use super::blocks::Room;
use super::id::Id;

/// Where a new task begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    /// The address that its header keeps.
    pub(crate) home: *const (),
    pub(crate) id: Id,
    pub(crate) room: Room,
}
