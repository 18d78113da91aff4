//! The state of a [`Node`](super::Node), and what it knows of each peer, with the steps that need
//! nothing else. A *peer* is another node as seen from this one.

use super::barriers::Collective;
use super::calls::Calls;
use super::events::Listeners;
use super::frames::Frames;
use super::holds::Holds;
use super::ledger::Ledger;
use super::limits::Limits;
use super::lines::Parking;
use super::scripts::Scripts;
use super::senders::Senders;
use super::table::Table;
use super::tied::Ties;
use crate::node::multiplexer::{Link, Multiplexer};
use crate::node::wire::{self, Envelope, Message};
use crate::node::{NodeId, Slot};
use crate::refs::away::RouteId;
use crate::system::System;
use evenkeel::Handle;
use std::any::TypeId;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// A node, which is never freed: remote references point to it by number and count nothing.
pub(crate) struct Inner {
    /// Tells the nodes of this process apart, 65,536 of them.
    pub(crate) here: u16,
    pub(crate) number: NodeId,
    pub(crate) nodes: u32,
    pub(crate) limits: Limits,
    pub(crate) job: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) system: System,
    /// Where tasks of the node run. None once its host has ended, since a node is never freed and
    /// its runtime is.
    pub(crate) handle: RwLock<Option<Handle>>,
    pub(crate) workers: usize,
    pub(crate) multiplexer: Arc<Multiplexer>,
    /// The longest frame that is read.
    pub(crate) longest_frame: usize,
    /// Whether the host is a task of the only worker, and reads what arrives itself.
    pub(crate) reads_inline: bool,
    pub(crate) senders: Senders,
    pub(crate) table: Table<Peer>,
    pub(crate) calls: Calls,
    pub(crate) scripts: Scripts<Peer>,
    pub(crate) listeners: Listeners,
    pub(crate) collective: Collective,
    /// Whether the node has left the job.
    pub(crate) has_left: AtomicBool,
    pub(crate) counts: Counts,
    /// Frames that have come and are not read yet.
    pub(crate) unread: AtomicUsize,
    /// One for each node.
    pub(crate) frames: Box<[Mutex<Frames>]>,
    /// The names of the nodes that have introduced themselves.
    pub(crate) names: Mutex<Vec<Option<Arc<str>>>>,
    pub(crate) peers: OnceLock<Box<[Peer]>>,
}

/// What a node counts beside its traffic.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Messages of the work that have come and were read.
    pub(crate) messages: AtomicU64,
    /// Messages of protocols, which are no work.
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

    /// Notes that the host has ended: the node starts no task any more, and sends nothing. It gives
    /// memory back, since it is never freed itself.
    pub(crate) fn part(&self) {
        self.senders.clear();
        self.calls.shrink();
        let handle = self.handle.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(handle);
    }

    pub(crate) fn peers(&self) -> &'static [Peer] {
        // Set before the first reference to the node exists; all references to it are `'static`.
        let peers: &[Peer] = self.peers.get().map_or(&[], |peers| peers);
        // A node is leaked, so its peers live for ever; the compiler cannot see that from `&self`.
        peers.first().map_or(&[], |first| first.node.peers_for_ever())
    }

    fn peers_for_ever(&'static self) -> &'static [Peer] {
        self.peers.get().map_or(&[], |peers| peers)
    }

    pub(crate) fn peer(&self, node: NodeId) -> Option<&'static Peer> {
        self.peers().get(node.number() as usize)
    }

    /// All nodes but this one.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'static Peer> {
        self.peers().iter().filter(|peer| peer.link.is_some())
    }
}

/// Bytes of a message with an error text, without the text: its kind, a number, three codes, a
/// node, a length.
const BESIDE_DETAIL: usize = 1 + 10 + 3 + 5 + 3;

/// Another node, as seen from this one; or this node, in the names of its actors that have ended.
pub(crate) struct Peer {
    pub(crate) node: &'static Inner,
    pub(crate) id: NodeId,
    /// None for this node itself.
    pub(crate) link: Option<Link>,
    standing: AtomicU8,
    /// Protocol messages that were put in for the peer, which are no work. Each is counted after it
    /// is put in: [`collective`](super::collective) says why.
    pub(crate) control: AtomicU64,
    pub(super) routes: Mutex<Vec<(TypeId, RouteId)>>,
    pub(crate) ties: Ties,
    /// Messages about leases of the peer's actors that are to be sent.
    pub(super) ledger: Ledger,
    /// What the peer has asked this node to hold.
    pub(crate) holds: Holds,
    /// What has come from the peer and waits for room in mailboxes.
    pub(crate) parking: Parking,
}

/// The state of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Standing {
    /// It has not introduced itself.
    New = 0,
    /// It has introduced itself, and belongs to the job.
    Greeted = 1,
    /// It is down, or shut out.
    Down = 2,
}

impl Peer {
    pub(crate) fn new(node: &'static Inner, id: NodeId, link: Option<Link>) -> Self {
        Self {
            node,
            id,
            link,
            standing: AtomicU8::new(Standing::New as u8),
            control: AtomicU64::new(0),
            routes: Mutex::default(),
            ties: Ties::new(),
            ledger: Ledger::default(),
            holds: Holds::default(),
            parking: Parking::default(),
        }
    }

    #[inline]
    pub(crate) fn standing(&self) -> Standing {
        match self.standing.load(Ordering::Acquire) {
            0 => Standing::New,
            1 => Standing::Greeted,
            _ => Standing::Down,
        }
    }

    /// Notes that the peer has introduced itself. False if it had before, or is down, which it
    /// stays. So readers never accept, even for a moment, what a node sends that is shut out.
    pub(crate) fn greets(&self) -> bool {
        let (new, greeted) = (Standing::New as u8, Standing::Greeted as u8);
        self.standing.compare_exchange(new, greeted, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Notes that the peer is down or shut out. False if it was before.
    pub(crate) fn falls(&self) -> bool {
        let down = Standing::Down as u8;
        self.standing.swap(down, Ordering::AcqRel) != down
    }

    /// Whether the peer is down or shut out, as far as actors or senders know.
    pub(crate) fn is_down(&self) -> bool {
        self.standing() == Standing::Down || self.link.as_ref().is_some_and(Link::is_shut)
    }

    /// Puts in a protocol message. It is no work: it is not counted for the end of all work. No
    /// value's `Serialize` comes here, which has the lock of a lane.
    pub(crate) fn control(&self, message: Message<'_>) {
        if let Some(link) = &self.link {
            let envelope = Envelope::from(message);
            if link.put_anyway(|out| envelope.write(out)).is_ok() {
                // Afterwards: a message that an evaluation finds counted is in a lane or has left.
                self.control.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// Whether the peer may be sent more that a third node has caused: while at most half of the
    /// limit of its backlog waits for it. The other half is for what it causes itself, so it is not
    /// shut out because of others.
    pub(crate) fn has_room_for_others(&self) -> bool {
        let backlog = self.link.as_ref().map_or(0, Link::backlog);
        backlog <= self.node.limits.backlog / 2
    }

    /// Waits until there is room on the way, and an actor of the peer takes messages.
    pub(crate) async fn room(&self, to: Slot) {
        self.holds.go_on(to).await;
        if let Some(link) = &self.link {
            link.room().await;
        }
    }

    /// The beginning of an error text, short enough that the message with it is not too long.
    pub(crate) fn detail<'a>(&self, detail: &'a str) -> &'a str {
        let longest = self.node.multiplexer.packing().longest_message;
        short(detail, wire::LONGEST_DETAIL.min(longest.saturating_sub(BESIDE_DETAIL)))
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer({})", self.id)
    }
}

/// The beginning of a text, of at most `most` bytes.
pub(super) fn short(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
