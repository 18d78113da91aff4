//! Slots that nodes have [leases](super::super::lease) of: what the owner counts.

use super::{Cell, Freed, Lists, Table};
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

    /// Frees the slot, or takes its target if links name it, unless a node still refers to its
    /// actor. That is seen in the same hold of the lock: a message whose writer has found the slot
    /// [by its place](Table::at) has it kept, or finds it gone.
    fn let_go(&mut self, lists: &mut Lists, index: u32) -> Option<Freed> {
        if self.is_kept || !self.leases.is_empty() {
            return None;
        }
        Some(if self.ties == 0 { self.free(lists, index) } else { self.forget_target() })
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
        let freed = {
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
            cell.let_go(&mut lists, slot.index)
        };
        let dropped = freed.and_then(|(key, target, told)| {
            lists.forget(key, told);
            target
        });
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
            let freed = {
                let mut cell = self.cells[index as usize].lock();
                let before = cell.leases.len();
                cell.leases.retain(|lease| lease.0 != holder);
                let has_released = cell.leases.len() < before;
                if has_released { cell.let_go(&mut lists, index) } else { None }
            };
            if let Some((key, target, told)) = freed {
                lists.forget(key, told);
                dropped.extend(target);
            }
        }
        drop(lists);
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::node::NodeId;
    use crate::{Actor, Builder, Context, Handled};
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Nothing;

    impl Actor for Nothing {
        type Message = u64;

        async fn handle(&mut self, _message: u64, _context: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    /// Another thread has remembered the slot from an actor that was at the same address.
    #[test]
    fn a_slot_that_is_written_into_a_message_while_its_last_lease_is_given_back_is_kept() {
        const ROUNDS: usize = 20_000;
        const KEY: usize = 4_096;
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let actor = runtime.block_on(async { Builder::new().spawn(Nothing).unwrap() });
        let holder = NodeId::new(1);
        let leased = || {
            let table = Table::new();
            let slot = table.lease(&actor, KEY, holder);
            (table, slot)
        };
        let rounds: Vec<_> = (0..ROUNDS).map(|_| leased()).collect();
        let arrived = AtomicUsize::new(0);
        let meet = |round: usize| {
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 * (round + 1) {
                std::hint::spin_loop();
            }
        };
        let mut lost = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (round, (table, slot)) in rounds.iter().enumerate() {
                    meet(round);
                    assert!(table.release(holder, *slot));
                }
            });
            for (round, (table, slot)) in rounds.iter().enumerate() {
                meet(round);
                let written = table.at(slot.index, KEY);
                // The release is over once its lock can be had.
                drop(table.lists());
                lost += usize::from(written.is_some_and(|slot| table.get(slot).is_none()));
            }
        });
        assert_eq!(lost, 0, "of {ROUNDS} slots so many were freed though their names are sent");
    }
}
