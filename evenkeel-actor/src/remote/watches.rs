//! Watches of actors of other nodes.
//!
//! # Roles
//! The *watching* node has a list of whom it is to tell ([`Witness`]), each with a number that it has given. The *watched* node has each such watch as a witness of its actor, whose peer
//! sends word to the other node.
//!
//! # Steps
//! A watch is noted, then `Monitor` goes out. The other node notes it with the actor, and says `Down` when that ends, at once if it has: then the watch is crossed out, and its witness told. `Demonitor` takes it
//! back on both nodes.
//!
//! # Why nobody waits in vain
//! A watch is crossed out by `Down`, or by the loss of the node: that is noted before the watches of the node are taken out, and whoever notes a watch looks afterwards whether the node is
//! down, so one of both finds the watch. Whoever crosses it out tells, so it is told once.
//!
//! # What stays
//! Witnesses that are gone are looked for whenever the number of watches has doubled, and taken back.
//!
//! # Rejected
//! Watches as calls: they are taken back, and those of witnesses that are gone have to be found.

use super::place::Remote;
use super::route::{Peer, Standing};
use crate::control::ActorId;
use crate::event::Event;
use crate::exit::{ExitReason, Failure};
use crate::kin::Witness;
use crate::kin::peer::Reach;
use crate::node::wire::{End, EndKind, Message};
use crate::node::{NodeId, Slot};
use evenkeel::internal::fresh_id;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Watches before those without a witness are looked for. A choice; no benchmark sets it.
const FIRST_SWEEP: usize = 64;

/// An actor of another node is watched from here.
struct Watch {
    whom: Remote,
    witness: Witness,
}

#[derive(Default)]
struct Lists {
    /// By their numbers.
    open: BTreeMap<u64, Watch>,
    /// Those of actors, by whom is watched and who watches.
    by: HashMap<(NodeId, Slot, ActorId), u64>,
    last: u64,
    sweep_at: usize,
    /// By which number an actor of this node knows a watch of another node's.
    theirs: HashMap<(NodeId, u64), (Slot, ActorId)>,
}

/// The watches of one node.
#[derive(Default)]
pub(crate) struct Watches(Mutex<Lists>);

fn key(whom: Remote, by: ActorId) -> (NodeId, Slot, ActorId) {
    (whom.peer().id, whom.slot(), by)
}

impl Lists {
    fn take(&mut self, number: u64) -> Option<Watch> {
        let watch = self.open.remove(&number)?;
        if let Witness::Actor(by, _) = watch.witness {
            self.by.remove(&key(watch.whom, by));
        }
        Some(watch)
    }

    /// Takes out those whose witnesses are gone.
    fn sweep(&mut self) -> Vec<(u64, Watch)> {
        let gone = self.open.iter().filter(|(_, watch)| watch.witness.is_gone());
        let gone: Vec<u64> = gone.map(|(&number, _)| number).collect();
        let gone = gone.into_iter().filter_map(|number| Some((number, self.take(number)?)));
        let gone = gone.collect();
        self.sweep_at = FIRST_SWEEP.max(2 * self.open.len());
        gone
    }
}

impl Watches {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a witness told of the end of an actor; gives the reason if its node is down.
    pub(super) fn watch(&self, whom: Remote, witness: Witness) -> Result<(), ExitReason> {
        let peer = whom.peer();
        let mut lists = self.lock();
        let gone = if lists.open.len() >= lists.sweep_at.max(FIRST_SWEEP) {
            lists.sweep()
        } else {
            Vec::new()
        };
        lists.last += 1;
        let number = lists.last;
        let before = match witness {
            Witness::Actor(by, _) => lists.by.insert(key(whom, by), number),
            Witness::Future(_) => None,
        };
        let before = before.and_then(|number| Some((number, lists.open.remove(&number)?)));
        lists.open.insert(number, Watch { whom, witness });
        drop(lists);
        for (number, watch) in gone.into_iter().chain(before) {
            watch.whom.peer().say(Message::Demonitor { watch: number, to: watch.whom.slot() });
        }
        if !whom.is_down() {
            peer.say(Message::Monitor { watch: number, to: whom.slot() });
        }
        if whom.is_down() {
            let watch = self.lock().take(number);
            // Otherwise its witness has been told.
            if watch.is_some() {
                return Err(ExitReason::NodeDown(peer.id));
            }
        }
        Ok(())
    }

    /// Takes a watch back.
    pub(super) fn unwatch(&self, whom: Remote, by: ActorId) {
        let mut lists = self.lock();
        let number = lists.by.get(&key(whom, by)).copied();
        let watch = number.and_then(|number| Some((number, lists.take(number)?)));
        drop(lists);
        if let Some((number, _)) = watch {
            whom.peer().say(Message::Demonitor { watch: number, to: whom.slot() });
        }
    }

    /// A node says that an actor has ended.
    pub(super) fn ended(&self, of: NodeId, number: u64, end: &End<'_>) {
        let mut lists = self.lock();
        let known = lists.open.get(&number).is_some_and(|watch| watch.whom.peer().id == of);
        let watch = if known { lists.take(number) } else { None };
        drop(lists);
        if let Some(watch) = watch {
            watch.witness.tell(watch.whom.id(), &reason(end));
        }
    }

    /// A node is down, and its actors with it.
    pub(super) fn node_is_down(&self, node: NodeId) {
        let mut lists = self.lock();
        let lost = lists.open.iter().filter(|(_, watch)| watch.whom.peer().id == node);
        let lost: Vec<u64> = lost.map(|(&number, _)| number).collect();
        let lost: Vec<_> = lost.into_iter().filter_map(|number| lists.take(number)).collect();
        // Their witnesses are gone, and go from the actors when others come.
        lists.theirs.retain(|&(of, _), _| of != node);
        drop(lists);
        for watch in lost {
            watch.witness.tell(watch.whom.id(), &ExitReason::NodeDown(node));
        }
    }

    /// How many there are from here, and from other nodes.
    pub(super) fn len(&self) -> (usize, usize) {
        let lists = self.lock();
        (lists.open.len(), lists.theirs.len())
    }
}

/// Another node watches an actor of this one.
pub(super) fn monitor(peer: &'static Peer, watch: u64, to: Slot) {
    let Some(target) = peer.node.table.get(to) else {
        return say_down(peer, watch, &ExitReason::Forgotten);
    };
    let by = ActorId(fresh_id());
    let mut lists = peer.node.watches.lock();
    // A number comes once; whatever comes again is no watch of a node that keeps to the rules, and changes nothing.
    if lists.theirs.contains_key(&(peer.id, watch)) {
        return;
    }
    lists.theirs.insert((peer.id, watch), (to, by));
    drop(lists);
    if peer.standing() == Standing::Down {
        // The watches of the node may have been forgotten before this one came.
        peer.node.watches.lock().theirs.remove(&(peer.id, watch));
        return;
    }
    let far: Arc<dyn Reach> = Arc::new(Far { peer, watch });
    if let Err(reason) = target.any().control().watch(Witness::Actor(by, far.clone())) {
        far.down(by, &reason);
    }
}

/// It no longer does.
pub(super) fn demonitor(peer: &'static Peer, watch: u64, to: Slot) {
    let by = {
        let mut lists = peer.node.watches.lock();
        let known = lists.theirs.get(&(peer.id, watch)).is_some_and(|&(slot, _)| slot == to);
        if known { lists.theirs.remove(&(peer.id, watch)) } else { None }
    };
    if let (Some((_, by)), Some(target)) = (by, peer.node.table.get(to)) {
        target.any().control().unwatch(by);
    }
}

/// Says of an actor of this node that it has ended.
fn say_down(peer: &'static Peer, watch: u64, reason: &ExitReason) {
    let words = match reason {
        ExitReason::Panicked(words) => words.to_string(),
        ExitReason::Failed(failure) => failure.to_string(),
        ExitReason::Linked { reason, .. } => reason.to_string(),
        _ => String::new(),
    };
    let detail = peer.detail(&words);
    peer.say(Message::Down { watch, end: End { kind: kind(reason), detail } });
}

fn kind(reason: &ExitReason) -> EndKind {
    match reason {
        ExitReason::Normal => EndKind::Normal,
        ExitReason::Unreferenced => EndKind::Stopped,
        ExitReason::Killed => EndKind::Killed,
        ExitReason::Panicked(_) => EndKind::Panicked,
        ExitReason::Failed(_) => EndKind::Error,
        ExitReason::Linked { .. } => EndKind::Linked,
        ExitReason::NodeDown(_) | ExitReason::Forgotten | ExitReason::NotLinked(_) => {
            EndKind::NoSuchActor
        }
    }
}

/// What another node says of an end.
fn reason(end: &End<'_>) -> ExitReason {
    match end.kind {
        EndKind::Normal => ExitReason::Normal,
        EndKind::Stopped => ExitReason::Unreferenced,
        EndKind::Killed => ExitReason::Killed,
        EndKind::Panicked => ExitReason::Panicked(end.detail.into()),
        EndKind::Error => ExitReason::Failed(Arc::new(Failure::message(end.detail))),
        EndKind::Linked => ExitReason::Linked {
            // One of the other node, of which nothing but its end is known here.
            actor: ActorId(fresh_id()),
            reason: Arc::new(ExitReason::Failed(Arc::new(Failure::message(end.detail)))),
        },
        EndKind::NoSuchActor => ExitReason::Forgotten,
    }
}

/// A watch of another node's, as a local actor knows it.
struct Far {
    peer: &'static Peer,
    watch: u64,
}

impl Reach for Far {
    fn down(&self, _from: ActorId, reason: &ExitReason) {
        let known = self.peer.node.watches.lock().theirs.remove(&(self.peer.id, self.watch));
        if known.is_some() {
            say_down(self.peer, self.watch, reason);
        }
    }

    fn is_gone(&self) -> bool {
        self.peer.standing() == Standing::Down
    }

    // A watch is told of ends alone.

    fn exit(&self, _from: ActorId, _reason: &ExitReason) {}

    fn unlink(&self, _from: ActorId) {}

    fn child_ended(&self, _number: u64, _child: ActorId, _reason: &ExitReason) {}

    fn event(&self, _event: Event) {}

    fn sever(&self) {}
}
