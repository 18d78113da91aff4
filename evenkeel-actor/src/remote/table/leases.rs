//! Slots that nodes have [leases](super::super::lease) of: what the owner counts.

use super::{Cell, Lists, Table, Target};
use crate::actor_ref::ActorRef;
use crate::mailbox::overflow::Overflow;
use crate::node::{NodeId, Slot};
use serde::de::DeserializeOwned;
use std::sync::Arc;

impl Cell {
    /// It has a lease more, or is kept.
    pub(super) fn told_to(&mut self, holder: Option<NodeId>) {
        let Some(holder) = holder else {
            self.is_kept = true;
            return;
        };
        match self.leases.iter_mut().find(|lease| lease.0 == holder) {
            Some((_, leases)) => *leases += 1,
            None => self.leases.push((holder, 1)),
        }
    }
}

impl Table {
    /// The slot of a local actor, a new one if it has none, with one lease more for a node that
    /// gives it back.
    pub(crate) fn lease<M, P>(&self, actor: &ActorRef<M, P>, address: usize, holder: NodeId) -> Slot
    where
        M: Send + DeserializeOwned + 'static,
        P: Overflow,
    {
        let key = address + P::FULL as usize;
        self.give(key, actor.id(), holder, Some(holder), || Arc::new(actor.clone()))
    }

    /// A node gives a lease back. False if it has none. Of an actor that has ended nothing is kept
    /// that could be given back.
    pub(crate) fn release(&self, holder: NodeId, slot: Slot) -> bool {
        let Some(cell) = self.cells.get(slot.index as usize) else { return false };
        let mut lists = self.lists();
        let (is_free, is_last) = {
            let mut cell = cell.lock();
            if cell.generation != slot.generation {
                return cell.generation > slot.generation;
            }
            let Some(at) = cell.leases.iter().position(|lease| lease.0 == holder) else {
                return false;
            };
            cell.leases[at].1 -= 1;
            if cell.leases[at].1 == 0 {
                cell.leases.swap_remove(at);
            }
            (cell.ties == 0, cell.leases.is_empty() && !cell.is_kept)
        };
        let dropped = if is_last { self.let_go(&mut lists, slot.index, is_free) } else { None };
        drop(lists);
        drop(dropped);
        true
    }

    /// A node is down, and its leases with it.
    pub(crate) fn release_all(&self, holder: NodeId) {
        let mut dropped = Vec::new();
        let mut lists = self.lists();
        let known: Vec<u32> = lists.by_key.values().copied().collect();
        for index in known {
            let (is_free, is_last) = {
                let mut cell = self.cells[index as usize].lock();
                let before = cell.leases.len();
                cell.leases.retain(|lease| lease.0 != holder);
                let has_released = cell.leases.len() < before;
                let is_last = has_released && cell.leases.is_empty() && !cell.is_kept;
                (cell.ties == 0, is_last)
            };
            if is_last {
                dropped.extend(self.let_go(&mut lists, index, is_free));
            }
        }
        drop(lists);
        drop(dropped);
    }

    /// No node refers to the actor of a slot any more, which is free unless links name it. What is
    /// given is dropped without the lock.
    fn let_go(&self, lists: &mut Lists, index: u32, is_free: bool) -> Option<Arc<dyn Target>> {
        if is_free {
            return self.free(lists, index);
        }
        let (key, target, told) = {
            let mut cell = self.cells[index as usize].lock();
            (std::mem::take(&mut cell.key), cell.target.take(), cell.told.take())
        };
        lists.forget(key, told);
        target
    }
}
