//! What is behind a [`Node`](super::Node).

use super::calls::{Calls, Outcome};
use super::collective::Collective;
use super::error::Mismatch;
use super::events::{Listeners, NodeEvent};
use super::inbound::Frames;
use super::limits::Limits;
use super::route::{Peer, Standing};
use super::scripts::Scripts;
use super::senders::Senders;
use super::table::Table;
use crate::node::multiplexer::Multiplexer;
use crate::node::wire::Message;
use crate::node::{DownReason, FrameError, NodeId};
use crate::system::System;
use crate::trace;
use evenkeel::Handle;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// A node, for ever: remote references have numbers that lead to it and count nothing.
pub(crate) struct Inner {
    /// Tells the nodes of this process apart, 65,536 of them.
    pub(crate) here: u16,
    pub(crate) number: NodeId,
    pub(crate) nodes: u32,
    pub(crate) limits: Limits,
    pub(crate) job: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) system: System,
    /// Where tasks of the node run; none once its host has ended, as a node is for ever and its
    /// runtime is not.
    pub(crate) handle: RwLock<Option<Handle>>,
    pub(crate) workers: usize,
    pub(crate) multiplexer: Arc<Multiplexer>,
    /// The longest frame that is read.
    pub(crate) longest_frame: usize,
    /// Whether the host is a task of the only worker, and reads what arrives itself.
    pub(crate) reads_inline: bool,
    pub(crate) senders: Senders,
    pub(crate) table: Table,
    pub(crate) calls: Calls,
    pub(crate) scripts: Scripts,
    pub(crate) listeners: Listeners,
    pub(crate) collective: Collective,
    /// Whether it takes part in nothing any more.
    pub(crate) has_left: AtomicBool,
    pub(crate) counts: Counts,
    /// Frames that have come and are not read yet.
    pub(crate) unread: AtomicUsize,
    /// One for each node.
    pub(crate) frames: Box<[Mutex<Frames>]>,
    /// What the nodes call themselves, once they have said so.
    pub(crate) names: Mutex<Vec<Option<Arc<str>>>>,
    pub(crate) peers: OnceLock<Box<[Peer]>>,
}

/// What a node counts beside its traffic.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Messages of the work that have come and were read.
    pub(crate) messages: AtomicU64,
    /// Those of protocols, which are no work.
    pub(crate) control: AtomicU64,
    pub(crate) unreadable: AtomicU64,
    pub(crate) undelivered: AtomicU64,
    pub(crate) late: AtomicU64,
    /// Whether a node may have been told to hold because of frames.
    pub(crate) has_piled_up: AtomicBool,
}

impl Counts {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Inner {
    /// Starts a task of the node, unless its host has ended.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Without the lock: a runtime that ends drops the task at once.
        let handle = self.handle.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(handle) = handle {
            drop(handle.spawn(task));
        }
    }

    /// The host has ended: no task of the node is started any more.
    pub(crate) fn part(&self) {
        let handle = self.handle.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(handle);
    }

    pub(crate) fn peers(&self) -> &'static [Peer] {
        // Set before anybody gets a reference to the node, all of which are for ever.
        let peers: &[Peer] = self.peers.get().map_or(&[], |peers| peers);
        // A node is leaked, so its peers are there for ever; the compiler cannot see it from
        // `&self`.
        peers.first().map_or(&[], |first| first.node.peers_for_ever())
    }

    fn peers_for_ever(&'static self) -> &'static [Peer] {
        self.peers.get().map_or(&[], |peers| peers)
    }

    pub(crate) fn peer(&self, node: NodeId) -> Option<&'static Peer> {
        self.peers().get(node.number() as usize)
    }

    /// The nodes but this one.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'static Peer> {
        self.peers().iter().filter(|peer| peer.link.is_some())
    }

    /// Says who this node is: the first that goes to each node.
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

    /// A node says who it is.
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
            // That it says so twice is for later.
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
        // Not under the listeners' lock, as who records traces may listen too; so of a node that is
        // lost meanwhile the loss may be recorded first.
        if peer.standing() == Standing::New {
            trace::node_up(self.system.node(), peer.id, hello.name);
        }
        let mut is_first = false;
        self.listeners.tell_if(&up, || {
            is_first = peer.greets();
            is_first
        });
        // Nothing happens if it is down.
        if !is_first {
            self.refuse(peer, Mismatch::OutOfTurn);
        }
    }

    /// Tells those who listen what has happened to a node.
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

    /// A node does not belong to the job.
    pub(crate) fn refuse(&self, peer: &'static Peer, why: Mismatch) {
        if self.shut_out(peer, &why) {
            self.tell(&NodeEvent::Refused { node: peer.id, why });
        }
    }

    /// A node has sent what is no frame: nothing that it sends can be relied on.
    #[cold]
    pub(crate) fn malformed(&self, peer: &'static Peer, error: FrameError) {
        if let FrameError::WrongVersion { found } = error {
            return self.refuse(peer, Mismatch::Version { says: found });
        }
        if self.shut_out(peer, &error) {
            self.tell(&NodeEvent::Malformed { node: peer.id, error });
        }
    }

    /// A node has shut this one out.
    pub(crate) fn refused(&self, peer: &'static Peer, why: &str) {
        self.refuse(peer, Mismatch::Refuses { why: why.into() });
    }

    /// Has nothing to do with a node any more, and tells it so, or it would wait for answers. False
    /// if that was so before.
    fn shut_out(&self, peer: &'static Peer, why: &dyn fmt::Display) -> bool {
        if peer.stand(Standing::Down) == Standing::Down {
            return false;
        }
        let detail = why.to_string();
        peer.say(Message::Refuse { detail: peer.detail(&detail) });
        // With the host it is safe from what discards messages.
        self.multiplexer.flush();
        self.multiplexer.node_is_down(peer.id);
        self.gone(peer);
        true
    }

    /// The transport says that a node is down.
    pub(crate) fn down(&self, peer: &'static Peer, reason: DownReason, lost: u64) {
        if peer.stand(Standing::Down) != Standing::Down {
            self.gone(peer);
            self.tell(&NodeEvent::Down { node: peer.id, reason, lost });
        }
    }

    /// Tells those who wait for something from a node that nothing comes.
    fn gone(&self, peer: &'static Peer) {
        peer.holds.end();
        peer.parking.clear(peer);
        self.table.release_all(peer.id);
        peer.forget_leases();
        self.calls.node_is_down(peer.id);
        peer.untie_all();
        self.collective.lost(self, peer.id);
    }

    /// A node has handed the place for the answer to a question on. There may be no such node as it
    /// says.
    pub(crate) fn moved(&self, from: NodeId, call: u64, to: NodeId) {
        if let Some(peer) = self.peer(to) {
            self.calls.moved(call, from, to, || peer.standing() == Standing::Down);
        }
    }

    /// A call has its outcome.
    pub(crate) fn close_call(&self, call: u64, outcome: Outcome<'_>) {
        let is_answer = matches!(outcome, Outcome::Answer(_));
        if !self.calls.close(call, outcome) && is_answer {
            Counts::add(&self.counts.late);
            super::deliver::note_dead(self.system, crate::DeadLetterKind::LateReply);
        }
    }
}

/// What a node says of itself.
pub(crate) struct Hello<'a> {
    pub(crate) node: NodeId,
    pub(crate) nodes: u32,
    pub(crate) ties: u64,
    pub(crate) job: &'a str,
    pub(crate) name: &'a str,
}
