//! The ties of a node with one other. Knows nothing of messages.

use super::limits::Limits;
use crate::kin::peer::Peer as KinPeer;
use crate::kin::witness::Witness;
use crate::node::Slot;
use crate::node::multiplexer::Trail;
use crate::primitives::sweeper::Sweeper;
use crate::words::id::ActorId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The node, of two, that has opened a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opened {
    Here,
    There,
}

/// The number of a tie, and the side that has given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(pub(super) Opened, pub(super) u64);

/// An actor of this node, and one of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) own: ActorId,
    pub(super) other: Slot,
}

/// The two ends of a tie.
pub(super) enum Tie {
    /// A witness here watches the actor there.
    Watching { slot: Slot, witness: Witness },
    /// The actor here is watched from there.
    Watched(Watched),
    /// The two are linked.
    Linked(Pair),
}

/// An actor here that is watched from there.
pub(super) struct Watched {
    /// The slot by which the watch names it. The slot stays the actor's, so a watch is found by it.
    pub(super) named: Slot,
    /// The number by which its mailbox knows the watcher.
    pub(super) by: ActorId,
    /// Whether the watch is over: the mailbox is told, or sees this when other watchers come.
    pub(super) is_over: Arc<AtomicBool>,
}

/// The links of a pair.
pub(super) struct Link {
    /// At least one. A set: a peer may open as many as it may have ties, and close each of them.
    pub(super) ties: BTreeSet<Number>,
    pub(super) own: KinPeer,
    /// The slot by which the link names its own actor. The slot stays the actor's, so the link is
    /// found by it.
    pub(super) named: Slot,
}

/// The ties that were open with a node that is down.
pub(super) struct Left {
    /// The watched slots there, and the witnesses here.
    pub(super) watches: Vec<(Slot, Witness)>,
    /// The slots of actors here that were watched from there.
    pub(super) watched: Vec<Slot>,
    pub(super) links: BTreeMap<Pair, Link>,
}

pub(super) struct Lists {
    open: BTreeMap<Number, Tie>,
    /// How many of them were opened here.
    own: usize,
    links: BTreeMap<Pair, Link>,
    /// Watches that actors here have opened, by watched slot and watcher.
    watches: HashMap<(Slot, ActorId), Number>,
    last: u64,
    sweeper: Sweeper,
    /// The most that the other node takes.
    most: usize,
    line: Trail,
    is_shut: bool,
}

/// The ties of this node with one other.
pub(crate) struct Ties {
    lists: Mutex<Lists>,
    /// The number of ends of links from there that actors here have not handled yet. Grows under
    /// the lock.
    pub(super) unheard: AtomicUsize,
}

impl Ties {
    pub(crate) fn new() -> Self {
        let lists = Mutex::new(Lists::new(Limits::LEAST_TIES));
        Self { lists, unheard: AtomicUsize::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers of watches of actors there, of watches of actors here, and of linked pairs.
    pub(crate) fn count(&self) -> [usize; 3] {
        let lists = self.lock();
        let watching = |tie: &&Tie| matches!(tie, Tie::Watching { .. });
        let watched = |tie: &&Tie| matches!(tie, Tie::Watched(_));
        [
            lists.open.values().filter(watching).count(),
            lists.open.values().filter(watched).count(),
            lists.links.len(),
        ]
    }
}

impl Lists {
    pub(super) fn new(most: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            own: 0,
            links: BTreeMap::new(),
            watches: HashMap::new(),
            last: 0,
            sweeper: Sweeper::new(),
            most,
            line: Trail::new(),
            is_shut: false,
        }
    }

    /// Sets the most that the other node takes.
    pub(super) fn bound(&mut self, most: usize) {
        self.most = most;
    }

    /// The trail of the messages about ties.
    pub(super) fn line(&self) -> &Trail {
        &self.line
    }

    pub(super) fn is_shut(&self) -> bool {
        self.is_shut
    }

    /// The number of open ties that a side has opened.
    pub(super) fn open(&self, by: Opened) -> usize {
        match by {
            Opened::Here => self.own,
            Opened::There => self.open.len() - self.own,
        }
    }

    pub(super) fn is_open(&self, number: Number) -> bool {
        self.open.contains_key(&number)
    }

    pub(super) fn is_watched(&self, slot: Slot, by: ActorId) -> bool {
        self.watches.contains_key(&(slot, by))
    }

    pub(super) fn is_linked(&self, pair: Pair) -> bool {
        self.links.contains_key(&pair)
    }

    /// The number of the next tie that is opened here, if there may be one.
    pub(super) fn number(&mut self) -> Option<Number> {
        (self.own < self.most).then(|| {
            self.last += 1;
            Number(Opened::Here, self.last)
        })
    }

    pub(super) fn note(&mut self, number: Number, tie: Tie) {
        self.own += usize::from(number.0 == Opened::Here);
        self.open.insert(number, tie);
    }

    /// Returns the witness if the limit is reached.
    pub(super) fn open_watch(&mut self, slot: Slot, witness: Witness) -> Result<Number, Witness> {
        let Some(number) = self.number() else { return Err(witness) };
        if let Witness::Actor(by, _) = witness {
            self.watches.insert((slot, by), number);
        }
        self.note(number, Tie::Watching { slot, witness });
        Ok(number)
    }

    /// Adds a link to a pair, which may have one already.
    pub(super) fn open_link(
        &mut self,
        number: Number,
        pair: Pair,
        own: KinPeer,
        named: impl FnOnce() -> Slot,
    ) {
        self.note(number, Tie::Linked(pair));
        let link = self.links.entry(pair);
        let link = link.or_insert_with(|| Link { ties: BTreeSet::new(), own, named: named() });
        link.ties.insert(number);
    }

    /// Takes a tie out, but not the link of its pair.
    pub(super) fn take(&mut self, number: Number) -> Option<Tie> {
        let tie = self.open.remove(&number)?;
        self.own -= usize::from(number.0 == Opened::Here);
        if let Tie::Watching { slot, witness: Witness::Actor(by, _) } = tie {
            self.watches.remove(&(slot, by));
        }
        Some(tie)
    }

    pub(super) fn take_watch(&mut self, slot: Slot, by: ActorId) -> Option<(Number, Tie)> {
        let number = *self.watches.get(&(slot, by))?;
        Some((number, self.take(number)?))
    }

    /// Takes out all links of a pair.
    pub(super) fn take_link(&mut self, pair: Pair) -> Option<Link> {
        let link = self.links.remove(&pair)?;
        for &number in &link.ties {
            self.take(number);
        }
        Some(link)
    }

    /// Removes one tie of a pair. Returns the pair's link if that was the last tie.
    pub(super) fn loosen(&mut self, pair: Pair, number: Number) -> Option<Link> {
        let link = self.links.get_mut(&pair)?;
        link.ties.remove(&number);
        if link.ties.is_empty() { self.links.remove(&pair) } else { None }
    }

    /// Takes out watches with witnesses that are gone, if a sweep is due.
    pub(super) fn sweep(&mut self) -> Vec<(Number, Tie)> {
        if !self.sweeper.is_due(self.own, self.own >= self.most, self.most) {
            return Vec::new();
        }
        let gone = self.open.iter().filter(|(_, tie)| match tie {
            Tie::Watching { witness, .. } => witness.is_gone(),
            Tie::Watched(_) | Tie::Linked(_) => false,
        });
        let gone: Vec<Number> = gone.map(|(&number, _)| number).collect();
        let gone = gone.into_iter().filter_map(|number| Some((number, self.take(number)?)));
        let gone = gone.collect();
        self.sweeper.swept(self.own);
        gone
    }

    /// Takes everything out, for good.
    pub(super) fn shut(&mut self) -> Left {
        self.is_shut = true;
        self.own = 0;
        self.watches.clear();
        let links = std::mem::take(&mut self.links);
        let mut left = Left { watches: Vec::new(), watched: Vec::new(), links };
        for tie in std::mem::take(&mut self.open).into_values() {
            match tie {
                Tie::Watching { slot, witness } => left.watches.push((slot, witness)),
                // The witness is gone with its node, and leaves the actor when other watchers come.
                Tie::Watched(watched) => left.watched.push(watched.named),
                Tie::Linked(_) => {}
            }
        }
        left
    }
}
