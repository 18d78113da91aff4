//! Ties between actors of different nodes: watches and links.
//!
//! # Roles
//! A *tie* is between an actor, or a future, of one node and an actor of another. The *opener* is
//! the node that opens it, and gives it a number. A *watch* tells the opener's side of the end of
//! the other; a *link* tells each side of the other's end. Each of the two nodes has [`Lists`] of
//! its ties with the other. To its own actor a tie is a [`Reach`], as a local actor is. So
//! watching, linking, trapping exits and ending are the work of [`kin`](crate::kin), and are the
//! same as on one node.
//!
//! # States
//! A node has a tie in its lists, *open*, or has it no more. A pair of actors is *linked* on a node
//! while the node has an open link of the pair. There may be several, since each side may open one
//! before it hears of the other's. Exactly then the actor has the other among its links, or has
//! ended: both are changed in one hold of the lists' lock.
//!
//! # Steps
//! 1. *Open* (`Monitor`, `Link`): the opener notes the tie, then sends the message. The other node
//!    notes it, unless the actor there has ended: then it sends the end at once. To watch or link
//!    twice opens nothing.
//! 2. *Untie* (`Untie`): the watching or linked actor takes back its watch or link; a pair's links
//!    go all at once.
//! 3. *End* (`Exit`): the actor at one side has ended, and its node sends the reason.
//!
//! The first *Untie* or *End* that a side sends or reads closes the tie there, for good. Numbers do
//! not come again: a message about a tie that is not in the lists is old, and is ignored.
//!
//! # Why order is kept
//! All messages about ties from one node to another arrive in the order of sending. They are put in
//! under the lists' lock, behind what was put in before, by the
//! [`Trail`](crate::node::multiplexer::Trail) of the lists. So an `Untie` never overtakes its
//! `Link`. They are also put in by the sender's own trail. So a message that an actor sends after
//! it has linked itself finds the link made.
//!
//! So the locks of lanes are taken under that of the lists. A message's `Serialize` has the lock of
//! a lane: what it opens or takes back [waits](super::scope) until the message is written.
//!
//! # Names
//! A tie names the actor by its slot, and is found by it. So the slot stays the actor's while
//! another node has a tie with it, or it has a link of its own, whether references keep it or not.
//! A reference that is sent meanwhile has the same slot.
//!
//! # Why both sides agree
//! Once no message is on its way, both nodes have the same ties. A side that closes a tie sends
//! that, unless it has read it; the other side closes the tie then, or has done so. So if one side
//! unties while the other opens a link, both have that link; if both untie, neither has one. An
//! actor is not told of an end that crosses its own `Untie`, as on one node.
//!
//! # Why no actor waits in vain
//! A tie is closed by `Exit`, or by the loss of the node. A loss *shuts* the lists: they open
//! nothing more, and all open ties are taken out in the same step. An actor that watches or links
//! later is told at once. The thread that takes a tie out tells its actor, so each is told once.
//!
//! # What a peer can make us keep
//! Each node says in its `Hello` how many ties it takes. A slot is free for the opener only after
//! the other side has closed the tie, or is to hear of the closing before the next tie, since order
//! is kept. So the limit is exact, and a peer that has more open has broken the rules and is shut
//! out. Watchers that are gone are swept whenever the number of watches has doubled, and at the
//! limit. An actor that traps exits may be behind, and then a peer could open and end one link
//! after the other. So the end of a link counts as one of the opener's ties until the actor has
//! handled it. The peer does not know of these, so it is not shut out for them: at the limit it
//! hears at once that the link has [ended](ExitReason::TooManyTies).
//!
//! # Rejected
//! Closing both ways, with an answer for each `Untie` and `Exit`: this needs no order, but keeps
//! half-closed ties for as long as the slowest lane takes, so that no exact limit can be checked.
//! Links by the names of actors, without numbers: an `Untie` and a `Link` that meet half-way leave
//! one side linked. A link as two watches: two messages more, and a moment in which one side is
//! bound and the other is not.

mod arrivals;

pub(super) use arrivals::{exited, linked, monitored, untied};

use super::ends::Words;
use super::inner::{Peer, Standing};
use super::tied::{Link, Lists, Number, Opened, Pair, Tie};
use crate::kin::order::Counted;
use crate::kin::peer::{Peer as KinPeer, Reach};
use crate::kin::witness::Witness;
use crate::node::wire::{Envelope, Message};
use crate::node::{Name, Slot};
use crate::words::event::Event;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Peer {
    /// The local id of an actor of that node.
    pub(super) fn actor(&self, slot: Slot) -> ActorId {
        ActorId::there(self.node.here, Name { node: self.id, slot })
    }

    fn say_of_tie(&self, lists: &Lists, message: Message<'_>) {
        if let Some(link) = &self.link {
            let envelope = Envelope::from(message);
            let put = || link.put_in_line(lists.line(), |out| envelope.write(out));
            // A message for a node that is down is lost with it.
            drop(self.node.senders.under(put));
        }
    }

    fn say_untied(&self, lists: &Lists, number: Number) {
        let Number(opened, tie) = number;
        self.say_of_tie(lists, Message::Untie { tie, opener: opened == Opened::Here });
    }

    fn say_ended(&self, lists: &Lists, number: Number, words: &Words) {
        let Number(opened, tie) = number;
        let opener = opened == Opened::Here;
        self.say_of_tie(
            lists,
            Message::Exit { tie, opener, end: words.end(|detail| self.detail(detail)) },
        );
    }

    /// Sets how many ties the peer takes.
    pub(super) fn takes_ties(&self, most: u64) {
        let own = self.node.limits.ties;
        self.ties.lock().bound(usize::try_from(most).unwrap_or(own).min(own));
    }

    /// Closes all ties: the node is down, and its actors with it.
    pub(super) fn untie_all(&self) {
        let left = self.ties.lock().shut();
        let reason = ExitReason::NodeDown(self.id);
        left.watched.into_iter().for_each(|slot| self.node.table.untie(slot));
        for (slot, witness) in left.watches {
            witness.tell(self.actor(slot), &reason);
        }
        for (pair, link) in left.links {
            self.forget(&link);
            link.own.exit(self.actor(pair.other), &reason, None);
        }
    }

    /// Frees the slot that named a link's actor: the link is in no list.
    fn forget(&self, link: &Link) {
        self.node.table.untie(link.named);
    }

    /// Closes all links of a pair, from this side.
    fn close(&'static self, pair: Pair, reason: Option<&ExitReason>) {
        let words = reason.map(Words::of);
        let mut lists = self.ties.lock();
        let link = lists.take_link(pair);
        if let Some(link) = &link {
            for &number in &link.ties {
                match &words {
                    Some(words) => self.say_ended(&lists, number, words),
                    None => self.say_untied(&lists, number),
                }
            }
            self.forget(link);
            if words.is_none() {
                // A link that has come since the actor took back its own.
                link.own.unlink(self.actor(pair.other));
            }
        }
        drop(lists);
        drop(link);
    }
}

/// The reason why no tie can be opened with a node, if there is one.
fn refusal(peer: &Peer, lists: &Lists) -> Option<ExitReason> {
    if peer.link.is_none() {
        // The name of an actor of this node that has ended.
        return Some(ExitReason::Forgotten);
    }
    lists.is_shut().then_some(ExitReason::NodeDown(peer.id))
}

impl Peer {
    /// Watches an actor for a witness. Returns the witness, and the reason of the end, if it is
    /// known.
    pub(super) fn watch(&self, slot: Slot, witness: Witness) -> Result<(), (Witness, ExitReason)> {
        let peer = self;
        let mut lists = peer.ties.lock();
        if let Some(reason) = refusal(peer, &lists) {
            return Err((witness, reason));
        }
        if let Witness::Actor(by, _) = &witness
            && lists.is_watched(slot, *by)
        {
            return Ok(());
        }
        let gone = lists.sweep();
        for &(number, _) in &gone {
            peer.say_untied(&lists, number);
        }
        let opened = lists.open_watch(slot, witness);
        if let Ok(Number(_, tie)) = opened {
            peer.say_of_tie(&lists, Message::Monitor { tie, to: slot });
        }
        drop(lists);
        drop(gone);
        opened.map(drop).map_err(|witness| (witness, ExitReason::TooManyTies(peer.id)))
    }

    /// Takes a watch back.
    pub(super) fn unwatch(&self, slot: Slot, by: ActorId) {
        let peer = self;
        let mut lists = peer.ties.lock();
        let watch = lists.take_watch(slot, by);
        if let Some((number, _)) = watch {
            peer.say_untied(&lists, number);
        }
        drop(lists);
    }

    /// Links an own actor; returns the reason if the other's end is known.
    pub(super) fn link_with(
        &'static self,
        slot: Slot,
        id: ActorId,
        own: KinPeer,
    ) -> Result<(), ExitReason> {
        let peer = self;
        let pair = Pair { own: id, other: slot };
        let mut lists = peer.ties.lock();
        if let Some(reason) = refusal(peer, &lists) {
            return Err(reason);
        }
        if lists.is_linked(pair) {
            return Ok(());
        }
        let gone = lists.sweep();
        for &(number, _) in &gone {
            peer.say_untied(&lists, number);
        }
        let number = lists.number();
        // An actor that has ended meanwhile is not linked.
        if let Some(number @ Number(_, tie)) = number
            && own.link(peer.actor(slot), Arc::new(Linked { peer, pair }))
        {
            let from = peer.node.table.tie(id);
            lists.open_link(number, pair, own, || from);
            peer.say_of_tie(&lists, Message::Link { tie, from, to: pair.other });
        }
        drop(lists);
        drop(gone);
        number.map(drop).ok_or(ExitReason::TooManyTies(peer.id))
    }
}

/// A watch that another node has opened, as the watched actor knows it.
struct Watched {
    peer: &'static Peer,
    number: Number,
    is_over: Arc<AtomicBool>,
}

/// An actor of another node, as an actor that is linked to it knows it.
struct Linked {
    peer: &'static Peer,
    pair: Pair,
}

impl Reach for Watched {
    fn down(&self, _from: ActorId, reason: &ExitReason) {
        let words = Words::of(reason);
        let mut lists = self.peer.ties.lock();
        if let Some(Tie::Watched(watched)) = lists.take(self.number) {
            self.peer.say_ended(&lists, self.number, &words);
            self.peer.node.table.untie(watched.named);
        }
    }

    fn is_gone(&self) -> bool {
        // Called under the lock of a mailbox, which is taken under that of the lists.
        self.is_over.load(Ordering::Relaxed) || self.peer.standing() == Standing::Down
    }

    // A watch is told of ends alone.

    fn exit(&self, _from: ActorId, _reason: &ExitReason, _counted: Option<Counted>) {}

    fn link(&self, _to: ActorId, _peer: KinPeer) -> bool {
        false
    }

    fn unlink(&self, _from: ActorId) {}

    fn child_ended(&self, _number: u64, _child: ActorId, _reason: &ExitReason) {}

    fn event(&self, _event: Event) {}

    fn sever(&self) {}
}

impl Reach for Linked {
    fn exit(&self, _from: ActorId, reason: &ExitReason, _counted: Option<Counted>) {
        self.peer.close(self.pair, Some(reason));
    }

    fn unlink(&self, _from: ActorId) {
        self.peer.close(self.pair, None);
    }

    fn is_gone(&self) -> bool {
        // Called under the lock of a mailbox, which is taken under that of the lists.
        self.peer.standing() == Standing::Down
    }

    // A link is told of ends alone, and of its own `unlink`.

    fn down(&self, _from: ActorId, _reason: &ExitReason) {}

    fn link(&self, _to: ActorId, _peer: KinPeer) -> bool {
        false
    }

    fn child_ended(&self, _number: u64, _child: ActorId, _reason: &ExitReason) {}

    fn event(&self, _event: Event) {}

    fn sever(&self) {}
}

#[cfg(test)]
mod tests {
    use crate::kin::witness::Witness;
    use crate::node::Slot;
    use crate::primitives::oneshot;
    use crate::remote::tied::{Lists, Number, Opened, Pair, Tie, Watched};
    use crate::words::id::ActorId;
    use std::sync::Arc;

    const SLOT: Slot = Slot { index: 3, generation: 1 };

    #[test]
    fn a_tie_is_taken_once_and_its_number_does_not_come_again() {
        let mut lists = Lists::new(100);
        let (sender, _waits) = oneshot::channel();
        let first = lists.open_watch(SLOT, Witness::Future(sender)).ok().unwrap();
        assert!(matches!(lists.take(first), Some(Tie::Watching { .. })));
        assert!(lists.take(first).is_none());
        let (sender, _waits) = oneshot::channel();
        assert_ne!(lists.open_watch(SLOT, Witness::Future(sender)).ok(), Some(first));
        assert_eq!(lists.open(Opened::Here), 1);
    }

    #[test]
    fn there_are_no_more_ties_than_may_be_and_those_of_the_gone_make_room() {
        let mut lists = Lists::new(100);
        let mut waits = Vec::new();
        for _ in 0..100 {
            let (sender, receiver) = oneshot::channel();
            assert!(lists.sweep().is_empty());
            assert!(lists.open_watch(SLOT, Witness::Future(sender)).is_ok());
            waits.push(receiver);
        }
        let (sender, _waits) = oneshot::channel();
        assert!(lists.open_watch(SLOT, Witness::Future(sender)).is_err());
        waits.truncate(70);
        assert_eq!(lists.sweep().len(), 30);
        let (sender, _waits) = oneshot::channel();
        assert!(lists.open_watch(SLOT, Witness::Future(sender)).is_ok());
    }

    #[test]
    fn a_watch_of_another_node_is_no_watch_of_ours() {
        let mut lists = Lists::new(100);
        let (own, theirs) = (Number(Opened::Here, 1), Number(Opened::There, 1));
        let is_over = Arc::default();
        let watched = Watched { named: SLOT, by: ActorId::fresh(), is_over };
        lists.note(theirs, Tie::Watched(watched));
        assert_eq!((lists.open(Opened::Here), lists.open(Opened::There)), (0, 1));
        assert!(lists.take(own).is_none());
        let pair = Pair { own: ActorId::fresh(), other: SLOT };
        assert!(!lists.is_linked(pair));
        assert!(lists.take(theirs).is_some());
    }
}
