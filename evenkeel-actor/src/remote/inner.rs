//! What is behind a [`Node`](super::Node): its state, and what it knows of each peer, with the
//! steps that need nothing else. A *peer* is another node as seen from this one.

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
    pub(crate) table: Table<Peer>,
    pub(crate) calls: Calls,
    pub(crate) scripts: Scripts<Peer>,
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
}

/// Bytes of a message that says what went wrong, without the text: its kind, a number, three codes,
/// a node, a length.
const BESIDE_DETAIL: usize = 1 + 10 + 3 + 5 + 3;

/// Another node, as seen from this one; or this one, whose actors that have ended it names.
pub(crate) struct Peer {
    pub(crate) node: &'static Inner,
    pub(crate) id: NodeId,
    /// None to the node itself.
    pub(crate) link: Option<Link>,
    standing: AtomicU8,
    /// Messages of the protocols of nodes that were put in for it, which are no work.
    pub(crate) control: AtomicU64,
    pub(super) routes: Mutex<Vec<(TypeId, RouteId)>>,
    pub(crate) ties: Ties,
    /// What is to be said of leases of its actors.
    pub(super) ledger: Ledger,
    /// What it has asked to hold.
    pub(crate) holds: Holds,
    /// What has come from it and waits for room in mailboxes.
    pub(crate) parking: Parking,
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Standing {
    /// It has not said who it is.
    New = 0,
    /// It has, and belongs to the job.
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

    /// It has said who it is. False if it had before, or is down, which it stays: nobody takes for
    /// a moment what a node sends that is shut out.
    pub(crate) fn greets(&self) -> bool {
        let (new, greeted) = (Standing::New as u8, Standing::Greeted as u8);
        self.standing.compare_exchange(new, greeted, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// What is known now; says what was known before.
    pub(crate) fn stand(&self, standing: Standing) -> Standing {
        match self.standing.swap(standing as u8, Ordering::AcqRel) {
            0 => Standing::New,
            1 => Standing::Greeted,
            _ => Standing::Down,
        }
    }

    /// Whether it is down or shut out, as far as actors know or those who send.
    pub(crate) fn is_down(&self) -> bool {
        self.standing() == Standing::Down || self.link.as_ref().is_some_and(Link::is_shut)
    }

    /// Puts a message of nodes in, which is no work: it is not counted for the end of all work.
    pub(crate) fn control(&self, message: Message<'_>) {
        if let Some(link) = &self.link {
            // Before it can have arrived.
            self.control.fetch_add(1, Ordering::Relaxed);
            let envelope = Envelope::from(message);
            if link.put_anyway(|out| envelope.write(out)).is_err() {
                self.control.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Whether more may be said to it that a third node has caused: as long as half of what would
    /// have it shut out waits for it. The other half is for what it causes itself, so it is not
    /// shut out for others.
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

    /// The beginning of a text that says what went wrong, so that a message with it is not too
    /// long.
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
