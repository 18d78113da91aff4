//! The actors that traces name.

use crate::words::id::HasId;
#[cfg(feature = "tracing")]
use std::sync::Arc;

/// An actor, as traces name it. These functions take a lock, so they are called only for a
/// subscriber that takes the trace.
pub(crate) trait Subject: HasId {
    /// Its name as a supervised child, or else the last one under which it was registered.
    #[cfg(feature = "tracing")]
    fn name(&self) -> Option<Arc<str>>;
    /// The number of its node, if its system belongs to one.
    #[cfg(feature = "tracing")]
    fn node(&self) -> Option<u32>;
}
