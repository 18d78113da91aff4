//! The slots of this node: its actors that other nodes know.
//!
//! An actor gets a slot when another node first learns of it, one for each policy of such
//! references. The table keeps the actor while a node has a [lease](super::lease) of the slot. When
//! the actor has ended, its slot is freed at the next message for it. It is also freed when the
//! table has grown to twice of what was alive in it, and is swept. A freed slot is given to another
//! actor with the next generation.
//!
//! A watch or a link names an actor too, and does not keep it. Such a slot may have no target, is
//! found by the actor's number, and is free again when the last of its ties is gone. A reference
//! that is written meanwhile takes the same slot, so that other nodes know the actor by one name.
//!
//! # Protocol
//! `lists` is locked to give slots and to free them. The lock of a slot's cell is taken under it,
//! or alone, for a few instructions, in which no caller's code runs: a reader that delivers takes
//! out a counted reference to the target. The lock of an actor's mailbox is taken under `lists`
//! too, to see whether the actor has ended. A reference that is written under the lock of a lane
//! locks `lists`. The address of an actor is the number of one actor as long as a reference to it
//! exists. The table has one, and the caller that asks for its slot has one.

mod leases;

use crate::kin::control::AnyActor;
use crate::mailbox::overflow::Overflow;
use crate::node::payload::PayloadError;
use crate::node::{NodeId, Slot};
use crate::policy::references::Accounts;
use crate::primitives::hash::Numbers;
use crate::primitives::sweeper::Sweeper;
use crate::primitives::{Mutex, MutexGuard};
use crate::refs::actor_ref::ActorRef;
use crate::words::id::ActorId;
use evenkeel::internal::SpinLock;
use std::any::Any;
use std::cell::Cell as Single;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

/// Slots that a thread remembers. An estimate: some hundred actors take turns on a worker; no
/// benchmark sets it.
const REMEMBERED: usize = 256;

type Remembered = Single<Option<(u32, usize, u32)>>;

thread_local! {
    /// By address: where an actor with that address was. Whether it is still there is looked up.
    static CACHE: [Remembered; REMEMBERED] = const { [const { Single::new(None) }; REMEMBERED] };
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A message that waits for room in a mailbox. Yields whether it came in.
pub(crate) type Wait = Pin<Box<dyn Future<Output = bool> + Send>>;

/// The outcome of a message for an actor.
pub(crate) enum Told {
    Done,
    /// The mailbox is full, and the message waits for room in this future.
    Waits(Wait),
    /// The mailbox is full, and the policy is not to wait. The message, to be dropped once its
    /// asker has been told: a place for an answer that drops with it gives a less exact reason.
    Full(Box<dyn Any + Send>),
    /// The actor has stopped; with the message.
    Stopped(Box<dyn Any + Send>),
    Unreadable(PayloadError),
}

/// An actor that other nodes know. `From` is the type by which this node knows the sender of a
/// value.
pub(crate) trait Target<From: 'static>: Any + Send + Sync {
    /// Delivers a value that has come from a node.
    fn tell(&self, from: &'static From, payload: &[u8]) -> Told;
    fn any(&self) -> AnyActor;
    fn is_stopped(&self) -> bool;
}

struct Cell<F: 'static> {
    generation: u32,
    /// The key of the target, or zero.
    key: usize,
    target: Option<Arc<dyn Target<F>>>,
    /// The actor of the slot, if `by_id` leads here.
    id: Option<ActorId>,
    /// Watches and links that name the actor by this slot.
    ties: u32,
    /// The nodes that have [leases](super::lease) of the slot.
    leases: Accounts,
    /// The node to which the target was made known first, and for which it is counted. None without
    /// a target.
    told: Option<NodeId>,
}

/// What a slot had: its key, its target, and the node that it was counted for.
type Freed<F> = (usize, Option<Arc<dyn Target<F>>>, Option<NodeId>);

impl<F: 'static> Cell<F> {
    /// Empties the slot, which may then be given again.
    fn free(&mut self, lists: &mut Lists, index: u32) -> Freed<F> {
        let generation = self.generation.checked_add(1);
        let is_used = self.target.is_some() || self.id.is_some();
        self.ties = 0;
        self.leases = Accounts::default();
        if let Some(id) = self.id.take() {
            lists.by_id.remove(&id);
        }
        // A slot that has used up its generations is not given again.
        if let Some(generation) = generation
            && is_used
        {
            self.generation = generation;
            lists.free.push(index);
        }
        self.forget_target()
    }

    /// Takes the slot's target.
    fn forget_target(&mut self) -> Freed<F> {
        (std::mem::take(&mut self.key), self.target.take(), self.told.take())
    }
}

struct Lists {
    by_key: HashMap<usize, u32, Numbers>,
    /// The slot by which an actor is named first, and in links.
    by_id: HashMap<ActorId, u32>,
    free: Vec<u32>,
    /// The number of targets that were made known to each node first.
    told: HashMap<NodeId, usize>,
    sweeper: Sweeper,
}

impl Lists {
    /// Removes a slot without a target from the maps.
    fn forget(&mut self, key: usize, told: Option<NodeId>) {
        if let Some(known) = told.and_then(|told| self.told.get_mut(&told)) {
            *known -= 1;
        }
        self.by_key.remove(&key);
    }
}

/// The slots of a node, to which values come `F`rom nodes.
pub(crate) struct Table<F: 'static> {
    /// Tells nodes of one process apart.
    number: u32,
    /// The node of the table.
    owner: NodeId,
    cells: boxcar::Vec<SpinLock<Cell<F>>>,
    lists: Mutex<Lists>,
}

/// What a name leads to.
pub(crate) enum Found<T> {
    Here(T),
    /// The actor has ended.
    Gone,
    /// The actor has another type of messages or another policy.
    OtherType,
}

impl<F: 'static> Table<F> {
    pub(crate) fn new(owner: NodeId) -> Self {
        let lists = Lists {
            by_key: HashMap::default(),
            by_id: HashMap::new(),
            free: Vec::new(),
            told: HashMap::new(),
            sweeper: Sweeper::new(),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, owner, cells: boxcar::Vec::new(), lists: Mutex::new(lists) }
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot of a local actor, a new one if it has none, with one more lease of it for a node.
    /// `address` is the actor's.
    #[inline]
    pub(crate) fn slot<M, P>(&self, actor: &ActorRef<M, P>, address: usize, holder: NodeId) -> Slot
    where
        M: Send + 'static,
        P: Overflow,
        ActorRef<M, P>: Target<F>,
    {
        // Addresses are even, so each policy has a key of its own.
        let key = address + P::FULL as usize;
        let at = (key >> 6) % REMEMBERED;
        CACHE.with(|cache| {
            if let Some((number, known, index)) = cache[at].get()
                && number == self.number
                && known == key
                && let Some(slot) = self.at(index, key, holder)
            {
                return slot;
            }
            let slot = self.find_slot(key, actor.id(), holder, || Arc::new(actor.clone()));
            cache[at].set(Some((self.number, key, slot.index)));
            slot
        })
    }

    /// The slot at a place, if it has this key, with one more lease.
    fn at(&self, index: u32, key: usize, holder: NodeId) -> Option<Slot> {
        let mut cell = self.cells.get(index as usize)?.lock();
        if cell.key != key {
            return None;
        }
        cell.lease_to(self.owner, holder);
        Some(Slot { index, generation: cell.generation })
    }

    #[cold]
    fn find_slot(
        &self,
        key: usize,
        id: ActorId,
        holder: NodeId,
        target: impl FnOnce() -> Arc<dyn Target<F>>,
    ) -> Slot {
        let mut dropped = Vec::new();
        let mut lists = self.lists();
        if let Some(&index) = lists.by_key.get(&key) {
            let mut cell = self.cells[index as usize].lock();
            cell.lease_to(self.owner, holder);
            return Slot { index, generation: cell.generation };
        }
        if lists.free.is_empty() {
            self.sweep(&mut lists, false, usize::MAX, &mut dropped);
        }
        let target = Some(target());
        let tied = lists.by_id.get(&id).copied();
        let tied = tied.filter(|&index| self.cells[index as usize].lock().target.is_none());
        let slot = match tied {
            Some(index) => {
                let mut cell = self.cells[index as usize].lock();
                (cell.key, cell.target) = (key, target);
                Slot { index, generation: cell.generation }
            }
            None => self.take(&mut lists, id, key, target),
        };
        lists.by_key.insert(key, slot.index);
        {
            let mut cell = self.cells[slot.index as usize].lock();
            cell.told = Some(holder);
            cell.lease_to(self.owner, holder);
        }
        *lists.told.entry(holder).or_default() += 1;
        drop(lists);
        drop(dropped);
        slot
    }

    /// Takes a free slot, or makes one.
    fn take(
        &self,
        lists: &mut Lists,
        id: ActorId,
        key: usize,
        target: Option<Arc<dyn Target<F>>>,
    ) -> Slot {
        let named = lists.by_id.contains_key(&id);
        let named = (!named).then_some(id);
        let slot = match lists.free.pop() {
            Some(index) => {
                let mut cell = self.cells[index as usize].lock();
                (cell.key, cell.target, cell.id) = (key, target, named);
                Slot { index, generation: cell.generation }
            }
            None => {
                let cell = Cell {
                    generation: 0,
                    key,
                    target,
                    id: named,
                    ties: 0,
                    told: None,
                    leases: Accounts::default(),
                };
                let index = self.cells.push(SpinLock::new(cell));
                let index = u32::try_from(index).expect("there are fewer actors at once");
                Slot { index, generation: 0 }
            }
        };
        if named.is_some() {
            lists.by_id.insert(id, slot.index);
        }
        slot
    }

    /// Names an actor in a watch or a link, by the slot that it has or by a new one, which does not
    /// keep the actor.
    pub(crate) fn tie(&self, id: ActorId) -> Slot {
        let mut lists = self.lists();
        let slot = match lists.by_id.get(&id) {
            Some(&index) => {
                let generation = self.cells[index as usize].lock().generation;
                Slot { index, generation }
            }
            None => self.take(&mut lists, id, 0, None),
        };
        self.cells[slot.index as usize].lock().ties += 1;
        slot
    }

    /// Ends a watch or a link that named its actor by this slot.
    pub(crate) fn untie(&self, slot: Slot) {
        let mut lists = self.lists();
        let is_free = {
            let mut cell = self.cells[slot.index as usize].lock();
            if cell.generation != slot.generation || cell.ties == 0 {
                // The actor has ended, and its slot was freed.
                return;
            }
            cell.ties -= 1;
            cell.ties == 0 && cell.target.is_none()
        };
        if is_free {
            let none = self.free(&mut lists, slot.index);
            debug_assert!(none.is_none());
        }
    }

    /// Whether one more actor may be made known to a node, of at most `most`.
    pub(crate) fn has_room(&self, told: NodeId, most: usize) -> bool {
        let mut dropped = Vec::new();
        let mut lists = self.lists();
        let is_full = |lists: &Lists| lists.told.get(&told).is_some_and(|&known| known >= most);
        let was_full = is_full(&lists);
        self.sweep(&mut lists, was_full, most, &mut dropped);
        let has_room = !is_full(&lists);
        drop(lists);
        drop(dropped);
        has_room
    }

    /// Frees the slots of actors that have ended, if a sweep is due.
    fn sweep(
        &self,
        lists: &mut Lists,
        is_full: bool,
        most: usize,
        dropped: &mut Vec<Arc<dyn Target<F>>>,
    ) {
        let len = lists.by_key.len();
        if !lists.sweeper.is_due(len, is_full, most) {
            return;
        }
        let known: Vec<u32> = lists.by_key.values().copied().collect();
        for index in known {
            let target = self.cells[index as usize].lock().target.clone();
            if target.is_some_and(|target| target.is_stopped()) {
                dropped.extend(self.free(lists, index));
            }
        }
        let left = lists.by_key.len();
        lists.sweeper.swept(left);
    }

    /// Frees a slot. The caller drops the result without the lock: it may be the last reference.
    fn free(&self, lists: &mut Lists, index: u32) -> Option<Arc<dyn Target<F>>> {
        let (key, target, told) = {
            let mut cell = self.cells[index as usize].lock();
            cell.free(lists, index)
        };
        lists.forget(key, told);
        target
    }

    /// The actor at a slot, if the generation matches.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<Arc<dyn Target<F>>> {
        let cell = self.cells.get(slot.index as usize)?.lock();
        if cell.generation == slot.generation { cell.target.clone() } else { None }
    }

    /// The reference to the actor at a slot.
    pub(crate) fn find<M: Send + 'static, P: Overflow>(&self, slot: Slot) -> Found<ActorRef<M, P>> {
        let Some(target) = self.get(slot) else { return Found::Gone };
        let target: &dyn Any = &*target;
        match target.downcast_ref::<ActorRef<M, P>>() {
            Some(actor) => Found::Here(actor.clone()),
            None => Found::OtherType,
        }
    }

    /// Frees the slot of an actor that was found stopped, if that is its end: a supervised one
    /// takes no messages while it is down, and may rise.
    #[cold]
    pub(crate) fn note_stopped(&self, slot: Slot) {
        let mut lists = self.lists();
        // The slot keeps the target meanwhile, since slots are freed under this lock.
        let is_over = self.get(slot).is_some_and(|target| target.is_stopped());
        let dropped = if is_over { self.free(&mut lists, slot.index) } else { None };
        drop(lists);
        drop(dropped);
    }

    /// The number of actors that the table keeps.
    pub(crate) fn len(&self) -> usize {
        self.lists().by_key.len()
    }

    /// Forgets all, at the end of the node.
    pub(crate) fn clear(&self) {
        let mut dropped = Vec::new();
        let mut lists = self.lists();
        let known: Vec<u32> = lists.by_key.values().copied().collect();
        for index in known {
            dropped.extend(self.free(&mut lists, index));
        }
        drop(lists);
        drop(dropped);
    }
}
