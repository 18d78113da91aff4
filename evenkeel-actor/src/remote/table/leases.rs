//! Slots that nodes have [leases](super::super::lease) of: what the owner counts.

use super::{Cell, Freed, Lists, Table};
use crate::node::{NodeId, Slot};
use crate::policy::references::Accounts;

impl<F: 'static> Cell<F> {
    /// Counts one more lease of the slot by this node, its owner.
    pub(super) fn lease_to(&mut self, owner: NodeId, holder: NodeId) {
        let is_counted = self.leases.lent(owner.number(), holder.number(), 1);
        debug_assert!(is_counted, "there are fewer references");
    }

    /// Frees the slot, or takes its target if links name it, unless a node still refers to its
    /// actor. That is checked in the same hold of the lock. So a writer that has found the slot [by
    /// its place](Table::at) has its lease counted, or finds the slot gone.
    fn let_go(&mut self, lists: &mut Lists, index: u32) -> Option<Freed<F>> {
        if self.target.is_none() || self.leases.is_needed() {
            return None;
        }
        self.leases = Accounts::default();
        Some(if self.ties == 0 { self.free(lists, index) } else { self.forget_target() })
    }
}

impl<F: 'static> Table<F> {
    /// Gives a node one more lease of a slot. False if its actor has ended.
    pub(crate) fn give(&self, slot: Slot, holder: NodeId) -> bool {
        let Some(cell) = self.cells.get(slot.index as usize) else { return false };
        let mut cell = cell.lock();
        let is_there = cell.generation == slot.generation && cell.target.is_some();
        if is_there {
            cell.lease_to(self.owner, holder);
        }
        is_there
    }

    /// Takes back `times` leases of a slot by this node from a holder. False if the holder has
    /// fewer. Nothing is counted for an actor that has ended.
    pub(crate) fn release(&self, holder: NodeId, slot: Slot, times: u64) -> bool {
        let (owner, holder) = (self.owner.number(), holder.number());
        let mut is_right = false;
        let is_known = self.change(slot, |cell| {
            is_right = cell.leases.given_back_to_owner(owner, holder, times);
        });
        match is_known {
            Known::Here => is_right,
            Known::Ended => true,
            Known::Never => false,
        }
    }

    /// Takes back `times` leases that the first node has lent to the second.
    pub(crate) fn release_lent(&self, between: (NodeId, NodeId), slot: Slot, times: u64) {
        let (lender, holder) = between;
        self.change(slot, |cell| {
            cell.leases.given_back(lender.number(), holder.number(), times);
        });
    }

    /// Counts that a node has lent a slot to another `times` times. `is_lost` says whether that
    /// other node is down. It is called under the lock, so a loss that comes later searches the
    /// leases after this. False if the count exceeds all bounds.
    pub(crate) fn lent(
        &self,
        (lender, holder): (NodeId, NodeId),
        slot: Slot,
        times: u64,
        is_lost: impl FnOnce() -> bool,
    ) -> bool {
        let mut is_right = true;
        self.change(slot, |cell| {
            let (lender, holder) = (lender.number(), holder.number());
            is_right = is_lost() || cell.leases.lent(lender, holder, times);
        });
        is_right
    }

    /// Changes the leases of a slot, and lets its actor go if nothing needs it.
    fn change(&self, slot: Slot, change: impl FnOnce(&mut Cell<F>)) -> Known {
        let Some(cell) = self.cells.get(slot.index as usize) else { return Known::Never };
        let mut lists = self.lists();
        let freed = {
            let mut cell = cell.lock();
            if cell.generation < slot.generation {
                return Known::Never;
            }
            if cell.generation > slot.generation || cell.target.is_none() {
                return Known::Ended;
            }
            change(&mut cell);
            cell.let_go(&mut lists, slot.index)
        };
        let dropped = freed.and_then(|(key, target, told)| {
            lists.forget(key, told);
            target
        });
        drop(lists);
        drop(dropped);
        Known::Here
    }

    /// Removes the leases of a node that is down.
    pub(crate) fn release_all(&self, lost: NodeId) {
        let mut dropped = Vec::new();
        let mut lists = self.lists();
        let known: Vec<u32> = lists.by_key.values().copied().collect();
        for index in known {
            let freed = {
                let mut cell = self.cells[index as usize].lock();
                cell.leases.lose(lost.number());
                cell.let_go(&mut lists, index)
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

/// What is known of the actor of a slot.
enum Known {
    Here,
    Ended,
    /// No node was told of such a slot.
    Never,
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::node::NodeId;
    use crate::remote::inner::Peer;
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
    fn a_slot_that_is_written_into_a_message_while_its_last_lease_is_given_back_stays() {
        const ROUNDS: usize = 20_000;
        const KEY: usize = 4_096;
        let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
        let actor = runtime.block_on(async { Builder::new().spawn(Nothing).unwrap() });
        let holder = NodeId::new(1);
        let leased = || {
            let table = Table::<Peer>::new(NodeId::new(0));
            let slot = table.slot(&actor, KEY, holder);
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
                    assert!(table.release(holder, *slot, 1));
                }
            });
            for (round, (table, slot)) in rounds.iter().enumerate() {
                meet(round);
                let written = table.at(slot.index, KEY, NodeId::new(2));
                // The release is over once its lock can be had.
                drop(table.lists());
                lost += usize::from(written.is_some_and(|slot| table.get(slot).is_none()));
            }
        });
        assert_eq!(lost, 0, "slots of {ROUNDS} that were freed though their names are sent");
    }
}
