//! References to actors of other nodes, and how an owner knows whether there are any.
//!
//! # Roles
//! The *owner* is the node of an actor. A *lender* is a node that sends a reference to the actor to
//! another node. The first lender is the owner, which answers a script or a name (`Located`) or
//! writes the reference into a message. Then each node that has a reference can lend. The *holder*
//! is the node that receives the reference. It gets a *lease* of the actor's slot, by this lender;
//! the reference that it reads and its clones share the lease. When the last of them is dropped,
//! the holder gives the lease back (`Release`, which names the lender).
//!
//! # States
//! For each slot, lender and holder the owner has a balance: references lent, less those given back
//! ([`Accounts`](crate::policy::references::Accounts)). The owner counts what it lends itself
//! before the record is put in. Other lenders tell it of their loans (`Lent`); it counts each, and
//! says so (`Counted`). Until then the lender keeps the lease of the reference that it has sent
//! ([`Loans`](crate::policy::references::Loans)), even without references of its own. Of loans that
//! it tells the owner of together, it keeps the oldest lease by each lender. The table keeps an
//! actor while one balance of its slot is above zero. Afterwards the table drops its own reference,
//! and the actor ends as one without references does on its own node.
//!
//! # What is counted
//! Each record names the references in its value, beside the value. So the record is what counts
//! them, whether the value is read or not: it may be unreadable, too late, for a full mailbox, or
//! for an actor that has ended. The receiver has the leases [from when it reads the
//! record](super::arrived), and parks them with the value. It gives back the references that it
//! does not take out of the value. The sender takes back its counts if the record is not put in.
//! The nodes that pass a collective send on have leases of the references in it, and lend them.
//!
//! A reference that returns to its owner is local again. Its record names it too, so that what is
//! parked has the actor itself. References within a node are no loans.
//!
//! # Why nothing ends too early
//! *A lease by the owner* is in a balance above zero from before its record is put in until it is
//! given back. Nothing but this holder's `Release` of leases by the owner lowers that balance, and
//! the holder never gives back more than it got.
//!
//! *A lease by another lender* may be given back before the owner hears of the loan; then the
//! balance is below zero for a while. Let a holder have leases of a lender. Either the balance of
//! the two is above zero, or the owner has not counted one of the loans. In the second case that
//! lender has a lease of its own that is older than the loan. For this lease the same is true. By
//! induction over the age of leases one balance is above zero, since the oldest leases are by the
//! owner. An older lease by the same lender does as well: the owner hears of it first, or of
//! neither. So the owner looks for one balance above zero, not at the sum of all, and no order
//! between messages of different nodes matters.
//!
//! *What a reference has sent* is delivered before its lease is given back. It was put into a lane
//! before the reference was dropped. Before the holder sends `Release`, it flushes and fences the
//! owner's buffers in [all lanes](crate::node::multiplexer), so the `Release` is read afterwards. A
//! message that then waits for room has a reference of its own. The same holds for watches, links,
//! and references that return to their owner.
//!
//! # Why nothing is kept for ever
//! Each lease is given back once, with its last reference, and each loan is counted. When all
//! messages have come, each balance is what the holder has, and a lender keeps nothing. A lost node
//! has nothing: the balances of what it held go, and what is lent to it later is not counted. What
//! it has lent stays, as far as the owner has heard of it, until its holders give it back. If they
//! give back more than that, the balance stays below zero, and keeps nothing. A lender that has
//! lost the owner keeps nothing either, and neither does one that leaves.
//!
//! # What is not covered
//! - A lender that is lost before the owner hears of a loan: if the holder has the only reference
//!   that is left, it names an actor that has ended.
//! - A reference that is the receiver of a collective send by way of third nodes is *pinned*: its
//!   lease is not given back, since the `Release` may overtake the value. Its actor is kept until
//!   it is stopped or this node is gone.
//! - A reference that a peer writes into a value and does not name beside it keeps nothing.
//! - Messages to an owner that third nodes have caused wait while [too
//!   much](Peer::has_room_for_others) waits for that owner. They wait for at most [as many
//!   actors](super::Limits::actors) as it may have known. Beyond that a lease is not given back,
//!   and a loan is not counted: its lender's lease is pinned.
//! - A lender and a holder that lose each other, and not the owner: what was lent and has not been
//!   read stays counted until the owner loses the holder.
//!
//! # What a peer can do
//! A peer can name [65,536](crate::node::wire::MOST_REFERENCES) actors in a message, and no more.
//! What is given back for them is sent in parts, between which the worker does something else. Of
//! what goes back to the peer itself a part is an eighth of what waits at least: with parts of one
//! size what a peer makes wait would grow, because between two of them it may name actors in many
//! messages.
//!
//! A peer can give back what the owner gave it, and no more. The owner shuts it out for giving back
//! more, and for loans beyond any number. What a peer says of others' loans changes the balances of
//! itself and the lender that it names, or of itself and a holder that it has made up. It can keep
//! an actor that way, as it could by a reference, until that holder is lost. It can neither make
//! another node's actor end nor have another node shut out.
//!
//! # Rejected
//! A `Release` for each clone: messages for what is counted here. Leases that run out unless they
//! are renewed: messages for as long as a reference is there, and an end by a pause of the network.
//! One count for all holders: a node that is lost takes its share with it. A `Release` that does
//! not name the lender: when the lender is lost, no node knows what a balance below zero is. A
//! message that is still to come may make up for it, or it is a debt for ever, by which a later
//! reference ends too early. Weights that a lender splits: nothing is kept until it is counted, but
//! a weight of one cannot be split, and then there are two protocols. A holder that asks the owner
//! to count it (`Import`): one more message for each reference, and a holder that has to be kept
//! waiting. Counts that are raised as references are read: an unread value has references too, and
//! a value that is read twice has them once.

use super::inner::Peer;
use super::ledger::State;
use crate::node::wire::Message;
use crate::node::{NodeId, Slot};
use crate::refs::away::{Lease, Owner};
use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;
use std::{iter, mem};

/// How long messages to an owner are collected, since its buffers in all lanes are flushed for
/// them. A choice; no benchmark sets it.
const COLLECTS: Duration = Duration::from_millis(1);

/// Messages to an owner, of each kind, that are sent before the worker does something else; of what
/// is given back to the owner itself an eighth, if that is more. An estimate: some 50 µs; no
/// benchmark sets it.
const AT_ONCE: usize = 512;

impl Owner for Peer {
    /// May be called where a lane is locked, or outside of a runtime.
    fn give_back(&'static self, slot: Slot, lender: NodeId, times: u64) {
        let mut state = self.ledger.lock();
        if self.is_down() {
            return;
        }
        if lender == self.id {
            *state.released.entry(slot).or_default() += times;
        } else {
            let (of, released) = ((slot, lender), &mut state.released_of_others);
            if released.len() >= self.node.limits.actors && !released.contains_key(&of) {
                return;
            }
            *released.entry(of).or_default() += times;
        }
        self.say_soon(state);
    }
}

impl Peer {
    /// Notes that a reference to an actor of this peer was sent to another node.
    pub(super) fn lend(&'static self, lease: Arc<Lease>, holder: NodeId) {
        let loan = (lease.name().slot, holder);
        let mut state = self.ledger.lock();
        if self.is_down() {
            drop(state);
            // Without the lock: this may be the last clone.
            drop(lease);
            return;
        }
        if state.loans.kept() >= self.node.limits.actors && !state.loans.waits(&loan) {
            drop(state);
            // The holder's reference is not counted: this node's lease keeps the actor.
            lease.pin();
            return;
        }
        let spare = state.loans.lend(loan, lease, |kept, lease| kept.lender() == lease.lender());
        self.say_soon(state);
        // Without the lock, as above.
        drop(spare);
    }

    fn say_soon(&'static self, mut state: MutexGuard<'_, State>) {
        if mem::replace(&mut state.is_due, true) {
            return;
        }
        drop(state);
        self.node.spawn(async move {
            loop {
                evenkeel::time::sleep(COLLECTS).await;
                while self.say_some() {
                    evenkeel::yield_now().await;
                }
                if self.has_said_all() {
                    return;
                }
            }
        });
    }

    /// Sends the first of what there is to send, except what other nodes have caused while too much
    /// waits. Returns whether there may be more that can be sent.
    fn say_some(&self) -> bool {
        let mut lent = 0;
        while lent < AT_ONCE && self.has_room_for_others() {
            // Locks lanes without the ledger's lock: the ledger is locked under a lane's lock.
            let told = self.ledger.lock().loans.tell();
            let Some(((to, holder), times, loan)) = told else { break };
            self.control(Message::Lent { to, holder, times, loan });
            lent += 1;
        }
        let others = if self.has_room_for_others() { AT_ONCE } else { 0 };
        let (released, of_others, own) = {
            let state = &mut *self.ledger.lock();
            let own = AT_ONCE.max(state.released.len() / 8);
            let released = take_first(&mut state.released, own);
            (released, take_first(&mut state.released_of_others, others), own)
        };
        // The owner reads what references have sent before they are given back.
        if let Some(link) = &self.link
            && !(released.is_empty() && of_others.is_empty())
        {
            link.fence();
        }
        let is_full = released.len() == own || lent == AT_ONCE;
        for (to, times) in released {
            self.control(Message::Release { to, from: self.id, times });
        }
        let (mut of_others, mut sent) = (of_others.into_iter(), 0);
        while self.has_room_for_others()
            && let Some(((to, from), times)) = of_others.next()
        {
            self.control(Message::Release { to, from, times });
            sent += 1;
        }
        self.wait_with(of_others);
        is_full || sent == AT_ONCE
    }

    /// Keeps what is to be given back by other lenders until there is room. What has come meanwhile
    /// may make it more than the [limit](super::Limits::actors), by a part.
    fn wait_with(&self, of_others: impl ExactSizeIterator<Item = ((Slot, NodeId), u64)>) {
        if of_others.len() == 0 {
            return;
        }
        let mut state = self.ledger.lock();
        if self.is_down() {
            return;
        }
        for (of, times) in of_others {
            *state.released_of_others.entry(of).or_default() += times;
        }
    }

    /// Returns whether nothing is left to send, or whether the peer is down. Then the next that
    /// there is to send has a task started.
    fn has_said_all(&self) -> bool {
        let mut state = self.ledger.lock();
        // For a peer that is down there will be no room: the step that notes the end forgets what
        // is left.
        state.is_due = !self.is_down() && !state.is_empty();
        !state.is_due
    }

    /// Notes that the peer has counted a loan. False if the peer was told of no loan of this
    /// number.
    pub(super) fn has_counted(&self, loan: u64) -> bool {
        let counted = self.ledger.lock().loans.counted(loan);
        // Drops the leases without the lock.
        counted.is_some()
    }

    /// Forgets the leases of a peer that is down, or that this node leaves: nothing is sent to it,
    /// and nothing is kept for it.
    pub(super) fn forget_leases(&self) {
        let kept = {
            let mut state = self.ledger.lock();
            state.released.clear();
            state.released_of_others.clear();
            state.loans.clear()
        };
        drop(kept);
    }
}

/// Takes at most `most` entries out of a map, the first ones.
fn take_first<K: Ord, V>(map: &mut BTreeMap<K, V>, most: usize) -> Vec<(K, V)> {
    iter::from_fn(|| map.pop_first()).take(most).collect()
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::super::{Limits, Node};
    use super::AT_ONCE;
    use crate::System;
    use crate::node::in_process::{Faults, network};
    use crate::node::policy::Packing;
    use crate::node::{Name, NodeId, Slot};
    use crate::refs::away::{Lease, Owner as _};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[test]
    fn much_that_is_given_back_is_sent_in_parts() {
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let (_control, mut ends) = network(2, Faults::default());
        let builder = Node::builder().system(System::new());
        let (node, _host) = builder.build(ends.remove(0), runtime.handle().clone(), 1, true);
        let owner = node.inner().peer(NodeId::new(1)).unwrap();
        // No task sends it beside the test.
        owner.ledger.lock().is_due = true;
        let many = 20 * AT_ONCE as u32;
        for index in 0..many {
            owner.give_back(Slot { index, generation: 0 }, owner.id, 1);
        }
        let before = owner.control.load(Ordering::SeqCst);
        let sent = || owner.control.load(Ordering::SeqCst) - before;
        assert!(owner.say_some());
        assert_eq!(sent(), u64::from(many) / 8);
        while owner.say_some() {}
        assert!(sent() == many.into() && owner.has_said_all());
    }

    #[test]
    fn what_others_have_lent_goes_back_as_far_as_half_of_the_backlog() {
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let (_control, mut ends) = network(3, Faults::default());
        // The host makes no turn, so frames that are full stay in the backlog.
        let packing = Packing { frame: 64, ..Packing::default() };
        let limits = Limits { backlog: 2_000, ..Limits::default() };
        let builder = Node::builder().system(System::new()).packing(packing).limits(limits);
        let (node, _host) = builder.build(ends.remove(0), runtime.handle().clone(), 1, true);
        let owner = node.inner().peer(NodeId::new(1)).unwrap();
        // No task sends it beside the test.
        owner.ledger.lock().is_due = true;
        for index in 0..400 {
            owner.give_back(Slot { index, generation: 0 }, NodeId::new(2), 1);
        }
        let before = owner.control.load(Ordering::SeqCst);
        let seen = || {
            let sent = owner.control.load(Ordering::SeqCst) - before;
            (sent as usize, owner.ledger.lock().released_of_others.len())
        };
        assert!(!owner.say_some());
        let (sent, left) = seen();
        assert!(sent > 0 && left > 0 && sent + left == 400, "{sent} sent, {left} left");
        assert!(!owner.has_room_for_others() && !owner.say_some() && !owner.has_said_all());
        assert_eq!(seen(), (sent, left), "without room");
    }

    #[test]
    fn a_node_that_leaves_forgets_the_loans_for_which_there_was_no_room() {
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let (_control, mut ends) = network(3, Faults::default());
        // The host makes no turn, so the introduction to each node waits.
        let limits = Limits { backlog: 0, ..Limits::default() };
        let builder = Node::builder().system(System::new()).limits(limits);
        let (node, _host) = builder.build(ends.remove(0), runtime.handle().clone(), 1, true);
        let owner = node.inner().peer(NodeId::new(1)).unwrap();
        let name = Name { node: owner.id, slot: Slot::default() };
        let lease = Arc::new(Lease::new(owner, name, owner.id, 1));
        owner.lend(Arc::clone(&lease), NodeId::new(2));
        assert!(!owner.say_some() && !owner.has_said_all());
        node.inner().leave();
        assert!(!owner.say_some() && owner.has_said_all(), "it is tried for ever");
        assert_eq!(Arc::strong_count(&lease), 1);
    }
}
