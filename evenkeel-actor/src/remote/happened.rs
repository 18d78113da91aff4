//! The events of nodes.

use super::error::Mismatch;
use crate::node::{DownReason, FrameError, NodeId};
use std::sync::Arc;

/// The most events that wait for a listener; later ones are counted. An estimate: a few for each of
/// some hundred nodes.
pub(super) const MOST: usize = 1_024;

/// An event of another node.
///
/// # Examples
/// See [`Events`](super::Events), and [`Node::send_events_to`](super::Node::send_events_to).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeEvent {
    /// The node has introduced itself, and belongs to the job.
    Up {
        /// The node's number.
        node: NodeId,
        /// The name that it has given itself.
        name: Arc<str>,
    },
    /// The node is down: no messages come from it or get to it. Its actors are gone for this node.
    Down {
        /// The node's number.
        node: NodeId,
        /// The reason.
        reason: DownReason,
        /// Messages that were on their way to it, as far as this node knows.
        lost: u64,
    },
    /// The node does not belong to the job, and is shut out, or it has [shut this node
    /// out](Mismatch::Refuses): as if it were down.
    Refused {
        /// The node's number.
        node: NodeId,
        /// The reason.
        why: Mismatch,
    },
    /// The node has sent bytes that are no frame, and is shut out: as if it were down.
    Malformed {
        /// The node's number.
        node: NodeId,
        /// The error in the bytes.
        error: FrameError,
    },
    /// The number of events that were not kept for this listener.
    Missed(u64),
}

impl NodeEvent {
    /// Returns the node that the event is about.
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

    /// Returns whether the node is gone by this event.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Down { .. } | Self::Refused { .. } | Self::Malformed { .. })
    }
}
