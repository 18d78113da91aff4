//! What happens to nodes.

use super::error::Mismatch;
use crate::node::{DownReason, FrameError, NodeId};
use std::sync::Arc;

/// Events that wait for a listener; later ones are counted. An estimate: a few for each of some
/// hundred nodes.
pub(super) const MOST: usize = 1_024;

/// Something that has happened to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeEvent {
    /// It has said who it is, and belongs to the job.
    Up {
        /// Which.
        node: NodeId,
        /// What it calls itself.
        name: Arc<str>,
    },
    /// It is down: nothing more comes from it, nothing more gets to it. Its actors are gone for
    /// this node.
    Down {
        /// Which.
        node: NodeId,
        /// Why.
        reason: DownReason,
        /// Messages that were on their way to it, as far as this node knows.
        lost: u64,
    },
    /// It does not belong to the job, and is shut out, or it has [shut this node
    /// out](Mismatch::Refuses): as if it were down.
    Refused {
        /// Which.
        node: NodeId,
        /// Why.
        why: Mismatch,
    },
    /// It has sent what is no frame, and is shut out: as if it were down.
    Malformed {
        /// Which.
        node: NodeId,
        /// What is wrong.
        error: FrameError,
    },
    /// So many events were not kept for this listener.
    Missed(u64),
}

impl NodeEvent {
    /// Which node it is about.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Up { node, .. }
            | Self::Down { node, .. }
            | Self::Refused { node, .. }
            | Self::Malformed { node, .. } => Some(*node),
            Self::Missed(_) => None,
        }
    }

    /// Whether the node is gone by it.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Down { .. } | Self::Refused { .. } | Self::Malformed { .. })
    }
}
