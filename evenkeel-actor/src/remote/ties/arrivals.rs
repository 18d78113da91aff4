//! Messages about ties that come from another node.

use super::super::ends::{Words, reason};
use super::super::error::Mismatch;
use super::super::inner::Peer;
use super::super::tied::{self, Lists, Number, Opened, Pair, Tie};
use super::{Linked, Watched};
use crate::kin::order::Counted;
use crate::kin::peer::Reach;
use crate::kin::witness::Witness;
use crate::node::Slot;
use crate::node::wire::End;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why another node may not open a tie.
enum Breach {
    /// It has opened one with that number.
    Again,
    /// It has opened the most that it may.
    TooMany,
}

impl Breach {
    /// Looks in the hold of the lock in which the tie is opened: messages of several lanes come at
    /// the same time.
    fn of(peer: &'static Peer, lists: &Lists, number: Number) -> Option<Self> {
        if lists.is_open(number) {
            Some(Self::Again)
        } else if lists.open(Opened::There) >= peer.node.limits.ties {
            Some(Self::TooMany)
        } else {
            None
        }
    }

    /// Shuts the node out, without the lock. Returns false.
    fn shut_out(self, peer: &'static Peer) -> bool {
        match self {
            Self::Again => _ = peer.node.out_of_turn(peer),
            Self::TooMany => {
                let most = peer.node.limits.ties;
                peer.node.refuse(peer, Mismatch::TooManyTies { most });
            }
        }
        false
    }
}

/// Handles a watch by another node of an actor of this one. False if the node is shut out for it.
pub(in super::super) fn monitored(peer: &'static Peer, tie: u64, to: Slot) -> bool {
    let number = Number(Opened::There, tie);
    let target = peer.node.table.get(to);
    let by = ActorId::fresh();
    let mut lists = peer.ties.lock();
    if lists.is_shut() {
        return false;
    }
    if let Some(breach) = Breach::of(peer, &lists, number) {
        drop(lists);
        return breach.shut_out(peer);
    }
    let Some(target) = target else {
        peer.say_ended(&lists, number, &Words::of(&ExitReason::Forgotten));
        return true;
    };
    let (named, is_over) = (peer.node.table.tie(target.any().id()), Arc::<AtomicBool>::default());
    let watched = tied::Watched { named, by, is_over: Arc::clone(&is_over) };
    lists.note(number, Tie::Watched(watched));
    drop(lists);
    let far: Arc<dyn Reach> = Arc::new(Watched { peer, number, is_over });
    if let Err(reason) = target.any().control().watch(Witness::Actor(by, far.clone())) {
        far.down(by, &reason);
    }
    true
}

/// Handles a link by an actor of another node to one of this node. False if the node is shut out
/// for it.
pub(in super::super) fn linked(peer: &'static Peer, tie: u64, from: Slot, to: Slot) -> bool {
    let number = Number(Opened::There, tie);
    // Outlives the hold of the lock: this may be the last reference to an actor that has ended.
    let target = peer.node.table.get(to).map(|target| target.any());
    let mut lists = peer.ties.lock();
    if lists.is_shut() {
        return false;
    }
    if let Some(breach) = Breach::of(peer, &lists, number) {
        drop(lists);
        return breach.shut_out(peer);
    }
    let unheard = peer.ties.unheard.load(Ordering::Relaxed);
    let ended = match &target {
        None => ExitReason::Forgotten,
        Some(_) if lists.open(Opened::There) + unheard >= peer.node.limits.ties => {
            ExitReason::TooManyTies(peer.node.number)
        }
        Some(target) => {
            let pair = Pair { own: target.id(), other: from };
            let far = Arc::new(Linked { peer, pair });
            match (target.control().peer(), target.control().link(peer.actor(from), far)) {
                (Some(own), Ok(())) => {
                    lists.open_link(number, pair, own, || peer.node.table.tie(target.id()));
                    return true;
                }
                (_, Err(reason)) => reason,
                // The actor has ended in between, and has told all that it found.
                (None, Ok(())) => ExitReason::Forgotten,
            }
        }
    };
    drop(lists);
    let words = Words::of(&ended);
    peer.say_ended(&peer.ties.lock(), number, &words);
    true
}

fn number(tie: u64, opener: bool) -> Number {
    Number(if opener { Opened::There } else { Opened::Here }, tie)
}

/// Handles an `Untie`.
pub(in super::super) fn untied(peer: &'static Peer, tie: u64, opener: bool) {
    let number = number(tie, opener);
    let mut lists = peer.ties.lock();
    match lists.take(number) {
        None => {}
        Some(Tie::Linked(pair)) => {
            let link = lists.loosen(pair, number);
            if let Some(link) = &link {
                peer.forget(link);
                link.own.unlink(peer.actor(pair.other));
            }
            drop(lists);
            drop(link);
        }
        Some(tie) => {
            drop(lists);
            give_up(peer, tie, &ExitReason::Forgotten);
        }
    }
}

/// Handles an `Exit`: the actor at the other side of a tie has ended.
pub(in super::super) fn exited(peer: &'static Peer, tie: u64, opener: bool, end: &End<'_>) {
    let number = number(tie, opener);
    let reason = reason(end);
    let mut lists = peer.ties.lock();
    match lists.take(number) {
        None => {}
        Some(Tie::Linked(pair)) => {
            // All links of the pair: what is still to come of the others is old then.
            let link = lists.take_link(pair);
            if let Some(link) = &link {
                peer.forget(link);
            }
            // Under the lock, so that a link that is opened next finds it.
            let counted = (number.0 == Opened::There).then(|| Counted::by(&peer.ties.unheard));
            drop(lists);
            if let Some(link) = link {
                link.own.exit(peer.actor(pair.other), &reason, counted);
            }
        }
        Some(tie) => {
            drop(lists);
            give_up(peer, tie, &reason);
        }
    }
}

/// Ends a watch.
fn give_up(peer: &'static Peer, tie: Tie, reason: &ExitReason) {
    match tie {
        Tie::Watching { slot, witness } => witness.tell(peer.actor(slot), reason),
        Tie::Watched(tied::Watched { named, by, is_over }) => {
            is_over.store(true, Ordering::Relaxed);
            if let Some(target) = peer.node.table.get(named) {
                target.any().control().unwatch(by);
            }
            peer.node.table.untie(named);
        }
        Tie::Linked(_) => {}
    }
}
