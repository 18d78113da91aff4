//! Collective sends: a value for actors on many nodes, along a binomial tree.

use super::deliver::tell_later;
use super::inner::Inner;
use super::route::Peer;
use super::scope;
use crate::actor_ref::ActorRef;
use crate::error::SendError;
use crate::mailbox::overflow::Overflow;
use crate::node::payload::{self, PayloadError};
use crate::node::wire::{Members, MembersBuf, Message};
use crate::node::{NodeId, Slot, tree};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// How far a collective send has got when the call that makes it returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CastReport {
    /// Actors of this node that have it.
    pub delivered: usize,
    /// Actors of other nodes that it was handed on for. What is lost with a node, or finds its actor stopped, is not known here.
    pub handed_on: usize,
    /// Actors that it was not handed on for: they have stopped, their mailboxes are full and do not wait, or their nodes are down.
    pub refused: usize,
}

/// Sends a value to all of them.
pub(crate) async fn cast<M, P>(
    node: &'static Inner,
    to: &[ActorRef<M, P>],
    message: &M,
) -> Result<CastReport, PayloadError>
where
    M: Serialize + DeserializeOwned + Clone + Send + Sync + 'static,
    P: Overflow,
{
    let mut report = CastReport::default();
    let mut away: BTreeMap<NodeId, Vec<Slot>> = BTreeMap::new();
    let mut here = Vec::new();
    for actor in to {
        match actor.remote() {
            None => here.push(actor),
            Some(remote) if remote.is_down() => report.refused += 1,
            Some(remote) => away.entry(remote.peer().id).or_default().push(remote.slot()),
        }
    }
    if let Some(&first) = away.keys().next()
        && let Some(peer) = node.peer(first)
    {
        let mut bytes = Vec::new();
        scope::cast(peer, || payload::put(message, &mut bytes))?;
        let members: Vec<_> = away.into_iter().collect();
        // This node is the tree's root, and is not a member.
        for part in tree::parts(members.len() + 1) {
            let part = &members[part.start - 1..part.end - 1];
            let mut list = MembersBuf::new();
            for (member, slots) in part {
                list.push(*member, slots);
            }
            let actors: usize = part.iter().map(|(_, slots)| slots.len()).sum();
            match node.peer(part[0].0) {
                Some(peer) => {
                    // Whoever casts much waits for room as other senders do.
                    if let Some(link) = &peer.link {
                        link.room().await;
                    }
                    peer.say(Message::Cast { members: list.as_members(), payload: &bytes });
                    report.handed_on += actors;
                }
                None => report.refused += actors,
            }
        }
    }
    for actor in here {
        match actor.send(message.clone()).await {
            Ok(()) => report.delivered += 1,
            Err(SendError::Full(_) | SendError::Stopped(_)) => report.refused += 1,
            Err(_) => report.refused += 1,
        }
    }
    Ok(report)
}

/// A collective send has come: passes it on, and delivers it to the actors of this node.
pub(crate) fn pass_on(from: &'static Peer, members: Members<'_>, payload: &[u8]) {
    let node = from.node;
    let members: Vec<_> = members.iter().collect();
    let Some(own) = members.first() else { return };
    for part in tree::parts(members.len()) {
        let mut list = MembersBuf::new();
        for &member in &members[part.clone()] {
            list.push_member(member);
        }
        if let Some(peer) = node.peer(members[part.start].node) {
            peer.say(Message::Cast { members: list.as_members(), payload });
        }
    }
    if own.node == node.number {
        for slot in own.slots() {
            tell_later(from, slot, payload);
        }
    }
}
