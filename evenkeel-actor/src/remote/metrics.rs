//! The counters of a node.

use super::inner::Inner;
use std::sync::atomic::Ordering;

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
    /// full, the values were of another type, or their node was lost while they waited for room.
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
    /// Returns what a node has counted so far.
    pub(super) fn of(inner: &Inner) -> Self {
        let counts = &inner.counts;
        let mut metrics = Self {
            messages_in: counts.messages.load(Ordering::Relaxed)
                + counts.control.load(Ordering::Relaxed),
            undelivered: counts.undelivered.load(Ordering::Relaxed),
            unreadable: counts.unreadable.load(Ordering::Relaxed),
            late_answers: counts.late.load(Ordering::Relaxed),
            open_calls: inner.calls.len(),
            known_actors: inner.table.len(),
            missed_events: inner.listeners.missed(),
            unread_frames: inner.unread.load(Ordering::Relaxed),
            waiting_messages: inner.others().map(|peer| peer.parking.len()).sum(),
            ..Self::default()
        };
        for peer in inner.others() {
            let [watching, watched, links] = peer.ties.count();
            metrics.open_watches += watching;
            metrics.watched += watched;
            metrics.links += links;
            let traffic = inner.multiplexer.traffic(peer.id);
            metrics.frames_in += traffic.frames_in;
            metrics.bytes_in += traffic.bytes_in;
            metrics.frames_out += traffic.frames_out;
            metrics.bytes_out += traffic.bytes_out;
            metrics.messages_out += traffic.messages_out;
            metrics.messages_lost += traffic.messages_lost;
        }
        metrics
    }

    /// Returns the number of messages per frame sent.
    #[must_use]
    pub fn packing(&self) -> f64 {
        self.messages_out as f64 / self.frames_out.max(1) as f64
    }
}
