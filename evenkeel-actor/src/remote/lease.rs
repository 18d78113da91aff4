//! References to actors of other nodes, and how their owners know whether there are any.
//!
//! # Roles
//! The *owner* is the node of an actor. A *lender* is a node that sends a reference to it to
//! another: the owner at first, which answers a script or a name (`Located`) or writes the
//! reference into a message, and then each node that has one. The *holder* is the node that gets
//! it. What it gets is a *lease* of the actor's slot, by this lender; a reference that it reads
//! shares the lease, as do its clones. With the last of them the holder gives the lease back
//! (`Release`, which names the lender).
//!
//! # States
//! For each slot, lender and holder the owner has a balance: references lent, less those given back
//! ([`Accounts`](crate::policy::references::Accounts)). What it lends itself it counts before the
//! record is put in. Of what others lend it hears (`Lent`), counts it, and says so (`Counted`).
//! Until then the lender keeps the lease of the reference that it has sent
//! ([`Loans`](crate::policy::references::Loans)), whether it has references or not. Of loans that
//! the owner hears of together it keeps the oldest lease by each lender. The table keeps an actor
//! while one balance of its slot is above zero. Then it drops its own reference, and the actor ends
//! as one on its own node does that has no reference any more.
//!
//! # What is counted
//! Each record names the references in its value, beside the value, so they are counted by the
//! record: read or not, unreadable, for a full mailbox, too late, for an actor that has ended. The
//! receiver has the leases [from when it reads the record](super::arrived), and parks them with the
//! value. What it does not take out of the value it gives back. The sender takes back what it has
//! counted if the record is not put in. A collective send is passed on by nodes that have leases of
//! what is in it, and lend them.
//!
//! A reference that comes home is local again. Its record names it too: what is parked has the
//! actor itself. References within a node are no loans.
//!
//! # Why nothing ends too early
//! *A lease by the owner* is in a balance above zero from before its record is put in until it is
//! given back: nothing but this holder's `Release` of leases by the owner lowers that, and it never
//! gives back more than has come.
//! *A lease by another lender* may be given back before the owner hears of the loan; then the
//! balance is below zero for a while. Let a holder have leases of a lender. Either the balance of
//! the two is above zero, or the owner has not counted one of the loans. Then that lender has a
//! lease of its own that is older than the loan. For this the same is true; by induction over the
//! age of leases one balance is above zero, since the oldest are by the owner. An older lease by
//! the same lender does as well: the owner hears of it first, or of neither. So one balance is
//! looked for, not the sum of all, and no order between words of any nodes matters.
//! *What a reference has sent* is delivered before its lease is given back: it was put into a lane
//! before the reference was dropped, and before the holder says `Release` it flushes and fences the
//! owner's buffers in [all lanes](crate::node::multiplexer), so that is read after it. What waits
//! for room then has a reference of its own. The same holds for watches, links, and references that
//! are sent home.
//!
//! # Why nothing is kept for ever
//! Each lease is given back once, with its last reference, and each loan is counted: when all words
//! have come each balance is what the holder has, and a lender keeps nothing. A node that is lost
//! has nothing: balances of what it held go, and what is lent to it later is not counted. What it
//! has lent stays, as far as the owner has heard of it, until its holders give it back. If they
//! give back more than that, the balance stays below zero, and keeps nothing. A lender that has
//! lost the owner keeps nothing either.
//!
//! # What is not covered
//! - A lender that is lost before the owner hears of a loan: if the holder's is the only reference
//!   that is left, it names an actor that has ended.
//! - A reference that is the receiver of a collective send by way of third nodes is *pinned*: its
//!   lease is not given back, as the value may be overtaken. Its actor is kept until it is stopped
//!   or this node is gone.
//! - A reference that a peer writes into a value and does not name beside it keeps nothing.
//! - What third nodes have this one say to a node waits while [too much](Peer::has_room_for_others)
//!   waits for that one, for [as many actors](super::Limits::actors) as it may have known. Beyond
//!   that a lease is not given back, and a loan is not counted: its lender's lease is pinned.
//! - A lender and a holder that lose each other, and not the owner: what was lent and has not been
//!   read stays counted until the owner loses the holder.
//!
//! # What a peer can do
//! Give back what it was given by the owner, and no more of it; it is shut out for that, and for
//! loans beyond any number. What it says of others' loans changes the balances of itself and the
//! lender that it names, or of itself and a holder that it has made up: it keeps an actor that way
//! as it could by a reference, until that holder is lost. It cannot have another end, nor another
//! node shut out.
//!
//! # Rejected
//! A `Release` for each clone: messages for what is counted here. Leases that run out unless they
//! are renewed: messages for as long as a reference is there, and an end by a pause of the network.
//! One count for all holders: then a node that is lost takes its share with it. A `Release` that
//! does not name the lender: when that is lost no node knows whether a balance below zero is made
//! up for by a word that comes yet, or is a debt for ever, by which a later reference ends too
//! early. Weights that a lender splits: nothing is kept until it is counted, but a weight of one
//! cannot be split, and then there are two protocols. A holder that asks the owner to count it
//! (`Import`): one more message for each reference, and a holder that has to be kept waiting.
//! Counts that are raised as references are read: what is not read has references too, and what is
//! read twice has them once.

use super::inner::Peer;
use super::ledger::State;
use crate::node::wire::Message;
use crate::node::{NodeId, Slot};
use crate::refs::away::{Lease, Owner};
use std::mem;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// How long what is said to an owner is collected, as its buffers in all lanes are flushed for it.
/// A choice; no benchmark sets it.
const COLLECTS: Duration = Duration::from_millis(1);

impl Owner for Peer {
    /// It may be called where a lane is locked, or where no runtime is.
    fn give_back(&'static self, slot: Slot, lender: NodeId, times: u64) {
        let mut state = self.ledger.lock();
        if self.is_down() {
            return;
        }
        let is_full = state.released.len() >= self.node.limits.actors;
        if is_full && lender != self.id && !state.released.contains_key(&(slot, lender)) {
            return;
        }
        *state.released.entry((slot, lender)).or_default() += times;
        self.say_soon(state);
    }
}

impl Peer {
    /// A reference to an actor of this peer was sent to another one.
    pub(super) fn lend(&'static self, lease: Arc<Lease>, holder: NodeId) {
        let loan = (lease.name().slot, holder);
        let mut state = self.ledger.lock();
        if self.is_down() {
            drop(state);
            // Without the lock: it may be the last.
            drop(lease);
            return;
        }
        if state.loans.waiting() >= self.node.limits.actors && !state.loans.waits(&loan) {
            drop(state);
            // The holder's reference is not counted: this node's keeps the actor.
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
                if self.say_all() {
                    return;
                }
            }
        });
    }

    /// Says what there is to say, but for what others have caused where too much waits. Whether
    /// that was all.
    fn say_all(&self) -> bool {
        while self.has_room_for_others() {
            // Lanes are locked without the ledger: it is locked where a lane is.
            let told = self.ledger.lock().loans.tell();
            let Some(((to, holder), times, loan)) = told else { break };
            self.control(Message::Lent { to, holder, times, loan });
        }
        let released = mem::take(&mut self.ledger.lock().released);
        // What references have sent is read before they are given back.
        if let Some(link) = &self.link
            && !released.is_empty()
        {
            link.fence();
        }
        let mut waits = Vec::new();
        for ((to, from), times) in released {
            if from == self.id || self.has_room_for_others() {
                self.control(Message::Release { to, from, times });
            } else {
                waits.push(((to, from), times));
            }
        }
        let mut state = self.ledger.lock();
        if !self.is_down() {
            for (of, times) in waits {
                *state.released.entry(of).or_default() += times;
            }
        }
        state.is_due = !state.released.is_empty() || state.loans.waiting() > 0;
        !state.is_due
    }

    /// The peer has counted a loan. False if it was told of none of this number.
    pub(super) fn has_counted(&self, loan: u64) -> bool {
        let counted = self.ledger.lock().loans.counted(loan);
        // The leases are dropped here, without the lock.
        counted.is_some()
    }

    /// The peer is down: there is nothing to be said to it, and nothing to be kept for it.
    pub(super) fn forget_leases(&self) {
        let kept = {
            let mut state = self.ledger.lock();
            state.released.clear();
            state.loans.clear()
        };
        drop(kept);
    }
}
