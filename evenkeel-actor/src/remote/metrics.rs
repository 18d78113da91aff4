//! The counters of a node.

/// The counters of a node, summed over all other nodes.
///
/// # Examples
/// See [`Node::metrics`](super::Node::metrics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// Frames sent.
    pub frames_out: u64,
    /// Messages sent.
    pub messages_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Frames received.
    pub frames_in: u64,
    /// Messages received and read.
    pub messages_in: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Messages that were lost on this side with the nodes that they were for.
    pub messages_lost: u64,
    /// Messages that did not get to their actors: the actors had stopped, their mailboxes were
    /// full, or the values were of another type.
    pub undelivered: u64,
    /// The undelivered messages of another type than their actors take, and the answers of another
    /// type than their askers expect.
    pub unreadable: u64,
    /// Answers without an asker that still waits.
    pub late_answers: u64,
    /// Questions that are not answered.
    pub open_calls: usize,
    /// Watches of actors of other nodes, by actors and by futures of
    /// [`stopped`](crate::ActorRef::stopped).
    pub open_watches: usize,
    /// Watches of actors of this node, by other nodes.
    pub watched: usize,
    /// Events that [subscribed](super::Node::send_events_to) actors were not sent, because their
    /// mailboxes were full.
    pub missed_events: u64,
    /// Linked pairs of an actor of this node and one of another.
    pub links: usize,
    /// Actors that are known to other nodes.
    pub known_actors: usize,
    /// Frames that have come and are not read yet.
    pub unread_frames: usize,
    /// Messages that have come and wait for room in mailboxes.
    pub waiting_messages: usize,
}

impl NodeMetrics {
    /// Returns the number of messages per frame sent.
    #[must_use]
    pub fn packing(&self) -> f64 {
        self.messages_out as f64 / self.frames_out.max(1) as f64
    }
}
