//! What a node has counted.

/// What a node has counted, of all other nodes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// Frames that have left.
    pub frames_out: u64,
    /// The messages in them.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Frames that have come.
    pub frames_in: u64,
    /// Messages of them that were read.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Messages that were lost with their nodes on this side.
    pub messages_lost: u64,
    /// Messages that have not got to their actors: these had stopped, or were full, or the values
    /// were not of their types.
    pub undelivered: u64,
    /// Those of them that were not of their actors' types, and answers that were not of their
    /// askers'.
    pub unreadable: u64,
    /// Answers that nobody waited for any more.
    pub late_answers: u64,
    /// Questions that are not answered.
    pub open_calls: usize,
    /// Watches of actors of other nodes, by actors and by futures of
    /// [`stopped`](crate::ActorRef::stopped).
    pub open_watches: usize,
    /// Watches of actors of this node, by other nodes.
    pub watched: usize,
    /// Events that [subscribed](super::Node::send_events_to) actors were not sent, as their
    /// mailboxes were full.
    pub missed_events: u64,
    /// Pairs of an actor of this node and one of another that are linked.
    pub links: usize,
    /// Actors that other nodes have been told of.
    pub known_actors: usize,
    /// Frames that have come and are not read yet.
    pub unread_frames: usize,
    /// Messages that have come and wait for room in mailboxes.
    pub waiting_messages: usize,
}

impl NodeMetrics {
    /// Messages per frame that has left.
    #[must_use]
    pub fn packing(&self) -> f64 {
        self.messages_out as f64 / self.frames_out.max(1) as f64
    }
}
