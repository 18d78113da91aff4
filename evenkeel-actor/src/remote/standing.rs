//! How a peer's standing changes: greeted, down or shut out.

use super::error::Mismatch;
use super::happened::NodeEvent;
use super::inner::{Inner, Peer, Standing};
use crate::node::wire::Message;
use crate::node::{DownReason, FrameError, NodeId};
use crate::trace;
use std::fmt;
use std::sync::{Arc, PoisonError};

impl Inner {
    /// Introduces this node: the first message to each node.
    pub(crate) fn greet(&self) {
        for peer in self.others() {
            peer.control(Message::Hello {
                node: self.number,
                nodes: self.nodes,
                incarnation: 0,
                longest_frame: self.longest_frame as u64,
                ties: self.limits.ties as u64,
                job: &self.job,
                name: &self.name,
            });
        }
        self.multiplexer.flush();
    }

    /// Handles a node's introduction.
    pub(crate) fn greeted(&self, peer: &'static Peer, hello: &Hello<'_>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mismatch = if hello.node != peer.id {
            Some(Mismatch::Number { says: hello.node })
        } else if hello.nodes != self.nodes {
            Some(Mismatch::Nodes { says: hello.nodes })
        } else if *hello.job != *self.job {
            Some(Mismatch::Job { says: hello.job.into() })
        } else {
            let known = (0..).zip(names.iter());
            let mut same = known.filter(|(_, name)| name.as_deref() == Some(hello.name));
            let other = same.next().map(|(other, _)| NodeId::new(other));
            // A second introduction is refused below.
            let other = other.filter(|&other| other != peer.id);
            other.map(|other| Mismatch::SameName { name: hello.name.into(), other })
        };
        if let Some(why) = mismatch {
            drop(names);
            return self.refuse(peer, why);
        }
        let name: Arc<str> = hello.name.into();
        names[peer.id.number() as usize] = Some(Arc::clone(&name));
        drop(names);
        peer.takes_ties(hello.ties);
        let up = NodeEvent::Up { node: peer.id, name };
        // Not under the listeners' lock, since a recorder of traces may listen too. So the loss of
        // a node that is lost meanwhile may be recorded first.
        if peer.standing() == Standing::New {
            trace::node_up(self.system.node(), peer.id, hello.name);
        }
        let mut is_first = false;
        self.listeners.tell_if(&up, || {
            is_first = peer.greets();
            is_first
        });
        // `refuse` does nothing if the node is down.
        if !is_first {
            self.refuse(peer, Mismatch::OutOfTurn);
        }
    }

    /// Sends an event of a node to the listeners and the traces.
    fn tell(&self, event: &NodeEvent) {
        let own = self.system.node();
        match event {
            NodeEvent::Up { node, name } => trace::node_up(own, *node, name),
            NodeEvent::Down { node, reason: DownReason::Left, lost } => {
                trace::node_left(own, *node, *lost);
            }
            NodeEvent::Down { node, reason, lost } => {
                trace::node_down(own, *node, reason, *lost);
            }
            NodeEvent::Refused { node, why } => trace::node_refused(own, *node, why),
            NodeEvent::Malformed { node, error } => trace::malformed(own, *node, error),
            NodeEvent::Missed(_) => {}
        }
        self.listeners.tell(event);
    }

    /// Shuts out a node that does not belong to the job.
    pub(crate) fn refuse(&self, peer: &'static Peer, why: Mismatch) {
        if self.shut_out(peer, &why) {
            self.tell(&NodeEvent::Refused { node: peer.id, why });
        }
    }

    /// Shuts out a node that has sent bytes which are no frame: nothing that it sends can be relied
    /// on.
    #[cold]
    pub(crate) fn malformed(&self, peer: &'static Peer, error: FrameError) {
        if let FrameError::WrongVersion { found } = error {
            return self.refuse(peer, Mismatch::Version { says: found });
        }
        if self.shut_out(peer, &error) {
            self.tell(&NodeEvent::Malformed { node: peer.id, error });
        }
    }

    /// Notes that a node has shut this one out.
    pub(crate) fn refused(&self, peer: &'static Peer, why: &str) {
        self.refuse(peer, Mismatch::Refuses { why: why.into() });
    }

    /// Cuts a node off, and tells it so, or it would wait for answers. False if it was cut off
    /// before.
    fn shut_out(&self, peer: &'static Peer, why: &dyn fmt::Display) -> bool {
        if !peer.falls() {
            return false;
        }
        let detail = why.to_string();
        peer.say(Message::Refuse { detail: peer.detail(&detail) });
        // Once the host has the message, it is safe from the step that discards messages.
        self.multiplexer.flush();
        self.multiplexer.node_is_down(peer.id);
        peer.parking.clear(peer);
        self.gone(peer);
        true
    }

    /// Handles the transport's report that a node is down.
    pub(crate) fn down(&self, peer: &'static Peer, reason: DownReason, lost: u64) {
        if peer.falls() {
            // What has come from a node that has left in order is delivered, however late.
            if reason != DownReason::Left {
                peer.parking.clear(peer);
            }
            self.gone(peer);
            self.tell(&NodeEvent::Down { node: peer.id, reason, lost });
        }
    }

    /// Fails all that waits for a node.
    fn gone(&self, peer: &'static Peer) {
        peer.holds.end();
        self.table.release_all(peer.id);
        peer.forget_leases();
        self.calls.node_is_down(peer.id);
        peer.untie_all();
        self.collective.lost(self, peer.id);
    }

    /// Shuts out a node that breaks the rules of a protocol.
    pub(super) fn out_of_turn(&self, peer: &'static Peer) -> bool {
        self.refuse(peer, Mismatch::OutOfTurn);
        false
    }
}

/// What a node's introduction says.
pub(crate) struct Hello<'a> {
    pub(crate) node: NodeId,
    pub(crate) nodes: u32,
    pub(crate) ties: u64,
    pub(crate) job: &'a str,
    pub(crate) name: &'a str,
}
