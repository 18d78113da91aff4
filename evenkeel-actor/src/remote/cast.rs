//! Collective sends: a value for actors on many nodes, along a binomial tree.
//!
//! A list of members names each node once, in order, the receiving node first, and [`MOST_ACTORS`]
//! actors at most; a list that breaks this is refused. So one message causes no more than a value
//! for each actor that it names and a message for each other node, and does not keep a reader long.
//! A member that cannot be reached is left out, and the next passes the value on. Where a list
//! makes the message too long, its halves go in messages of their own.
//!
//! The node where a collective send begins waits for room on the way. Those in between do not,
//! since two that pass much to each other would wait for each other: what they pass on waits for
//! the transport. A value that finds a mailbox full is [parked](super::parking), in order with the
//! other messages from the node that has passed it on. A node for which [too
//! much](Peer::has_room_for_others) waits already is left out. Otherwise a node that sends casts
//! through this one could have that queue grow without a bound, and have the slow node shut out for
//! it.

use super::arrived::{self, Given};
use super::askers::Askers;
use super::deliver::deliver_to_all;
use super::given::{self, Bundle};
use super::inner::{Inner, Peer};
use super::{route, scope};
use crate::mailbox::overflow::Overflow;
use crate::node::multiplexer::PutError;
use crate::node::payload::{self, PayloadError};
use crate::node::wire::{Envelope, Failure, Member, Members, MembersBuf, Message, References};
use crate::node::{FrameError, NodeId, Slot, tree};
use crate::refs::actor_ref::ActorRef;
use crate::trace;
use evenkeel::budget;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ptr;

/// The most actors in one message; a longer list becomes several messages. An estimate: as many as
/// can be delivered to in the time of a few turns; no benchmark sets it.
const MOST_ACTORS: usize = 1_024;

/// The most bytes that a reference takes beside a value: the numbers of its node, place and
/// generation.
const LONGEST_REFERENCE: usize = 3 * 5;

/// The most bytes beside a value and its references in a message for one actor: its kind and cause,
/// its length and three counts, and the actor's name.
const MOST_BESIDE: usize = 1 + 10 + 4 * 10 + 3 * 5;

/// How far a collective send has got when the call that makes it returns.
///
/// # Examples
/// See [`Node::cast`](super::Node::cast).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CastReport {
    /// Actors of this node that have the message.
    pub delivered: usize,
    /// Actors of other nodes for which it was handed on. This node does not learn of messages that
    /// are lost with a node or find their actor stopped. Nor does it of those that come where very
    /// much waits for full mailboxes or for a slow node.
    pub handed_on: usize,
    /// Actors for which it was not handed on: they have stopped, their mailboxes are full and do
    /// not wait, or their nodes are down.
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
    // There may be no wait: most often there is room on the way.
    budget::consume().await;
    let mut report = CastReport::default();
    let mut away: BTreeMap<NodeId, Vec<Slot>> = BTreeMap::new();
    let (mut leases, mut singly) = (Vec::new(), Vec::new());
    for actor in to {
        match actor.remote() {
            Some(remote) if remote.is_down() => report.refused += 1,
            Some(remote) if ptr::eq(route::peer(remote.route).node, node) => {
                away.entry(remote.name().node).or_default().push(remote.slot);
                leases.extend(actor.lease());
            }
            // Another node of this process has its own link to the actor's node. That one may
            // belong to another job, and this node's peer of the same number is not it then.
            _ => singly.push(actor),
        }
    }
    if !away.is_empty()
        && let Some(own) = node.peer(node.number)
    {
        let mut bytes = Vec::new();
        let (written, bundle) = scope::cast(own, || payload::put(message, &mut bytes));
        written?;
        let most = node.multiplexer.packing().longest_message;
        if bytes.len() > most {
            return Err(unwritable::<M>(TooLong { length: bytes.len(), most }));
        }
        // Before the first message leaves: none is handed on for a part of the actors.
        if bytes.len() + bundle.iter().count() * LONGEST_REFERENCE + MOST_BESIDE > most {
            fit(own, &away, &bytes, &bundle, most).map_err(unwritable::<M>)?;
        }
        if away.len() > 1 {
            // The value may go by way of other nodes, and a `Release` may overtake it.
            leases.into_iter().for_each(|lease| lease.pin());
        }
        let actors: usize = away.values().map(Vec::len).sum();
        for members in rounds(away) {
            // This node is the tree's root, and is not a member.
            for part in tree::parts(members.len() + 1) {
                let part = &members[part.start - 1..part.end - 1];
                let handed_on = match hand_on(node, part, &bytes, &bundle).await {
                    Err(too_long) => hand_on_halved(node, part, too_long, &bytes, &bundle).await,
                    handed_on => handed_on,
                };
                report.handed_on += handed_on.map_err(unwritable::<M>)?;
            }
        }
        report.refused += actors - report.handed_on;
    }
    for actor in singly {
        match actor.send(message.clone()).await {
            Ok(()) if actor.remote().is_some() => report.handed_on += 1,
            Ok(()) => report.delivered += 1,
            Err(_) => report.refused += 1,
        }
    }
    Ok(report)
}

/// Splits the members into lists of [`MOST_ACTORS`] actors at most. In each list the nodes are in
/// order, and each occurs once.
fn rounds(away: BTreeMap<NodeId, Vec<Slot>>) -> Vec<Vec<Place>> {
    let mut rounds = vec![Vec::new()];
    let mut actors = 0;
    for (node, slots) in away {
        let mut slots = &slots[..];
        while !slots.is_empty() {
            if actors == MOST_ACTORS {
                rounds.push(Vec::new());
                actors = 0;
            }
            let (now, later) = slots.split_at(slots.len().min(MOST_ACTORS - actors));
            actors += now.len();
            slots = later;
            if let Some(round) = rounds.last_mut() {
                round.push((node, now.to_vec()));
            }
        }
    }
    rounds
}

/// A value with its list of members has this length, and may have `most` bytes.
struct TooLong {
    length: usize,
    most: usize,
}

/// Checks that a value is not too long beside the longest of these names.
#[cold]
fn fit(
    own: &'static Peer,
    away: &BTreeMap<NodeId, Vec<Slot>>,
    payload: &[u8],
    bundle: &Bundle,
    most: usize,
) -> Result<(), TooLong> {
    let actors = away.iter().flat_map(|(&node, slots)| slots.iter().map(move |&slot| (node, slot)));
    let longest = actors.max_by_key(|&actor| length(actor, &[], References::default()));
    let Some(longest) = longest else { return Ok(()) };
    // It is not put in for a node, and counts no reference.
    let written = given::put(own, bundle.iter(), |references| {
        Err(TooLong { length: length(longest, payload, references), most })
    });
    match written {
        Err(too_long) if too_long.length > most => Err(too_long),
        _ => Ok(()),
    }
}

/// The length of a message for one actor; zero if it cannot be written, and so not handed on.
fn length((node, slot): (NodeId, Slot), payload: &[u8], references: References<'_>) -> usize {
    let mut list = MembersBuf::new();
    list.push(node, &[slot]);
    let message = Message::Cast { members: list.as_members(), payload };
    let mut out = Vec::new();
    let written = Envelope { cause: trace::current(), references, message }.append(&mut out);
    written.map_or(0, |()| out.len())
}

/// The error of a value of type `M` that does not even fit beside the name of one actor.
fn unwritable<M>(TooLong { length, most }: TooLong) -> PayloadError {
    let why = PutError::<PayloadError>::TooLong { length, most }.to_string();
    PayloadError::Unwritable { of: std::any::type_name::<M>(), why }
}

/// A node and actors there.
type Place = (NodeId, Vec<Slot>);

/// Hands a value for these members to the first of them that can be reached, and leaves those
/// before it out. Returns the number of actors that it was handed on for.
async fn hand_on(
    node: &'static Inner,
    part: &[Place],
    payload: &[u8],
    bundle: &Bundle,
) -> Result<usize, TooLong> {
    for (at, (head, _)) in part.iter().enumerate() {
        let Some(peer) = node.peer(*head) else { continue };
        let mut list = MembersBuf::new();
        for (member, slots) in &part[at..] {
            list.push(*member, slots);
        }
        // A sender of many casts waits for room as other senders do.
        if let Some(link) = &peer.link {
            link.room().await;
        }
        match say(peer, &list, payload, bundle.iter()) {
            Ok(()) => return Ok(part[at..].iter().map(|(_, slots)| slots.len()).sum()),
            Err(PutError::TooLong { length, most }) => return Err(TooLong { length, most }),
            // It cannot be reached.
            Err(_) => {}
        }
    }
    Ok(0)
}

/// Hands a value on for the halves of a list that makes it too long, and for halves of these as
/// needed. Fails if it is too long with one actor.
#[cold]
async fn hand_on_halved(
    node: &'static Inner,
    part: &[Place],
    too_long: TooLong,
    payload: &[u8],
    bundle: &Bundle,
) -> Result<usize, TooLong> {
    let (mut handed_on, mut left) = (0, vec![(part.to_vec(), too_long)]);
    while let Some((part, too_long)) = left.pop() {
        let Some(halves) = halves(part) else { return Err(too_long) };
        for half in halves {
            match hand_on(node, &half, payload, bundle).await {
                Ok(actors) => handed_on += actors,
                Err(too_long) => left.push((half, too_long)),
            }
        }
    }
    Ok(handed_on)
}

/// Splits a list, between nodes if it has several. None if it has one actor.
fn halves(mut part: Vec<Place>) -> Option<[Vec<Place>; 2]> {
    if let [(node, slots)] = &mut part[..] {
        let half = slots.split_off(slots.len() / 2);
        let half = vec![(*node, half)];
        return (!slots.is_empty()).then_some([part, half]);
    }
    let half = part.split_off(part.len() / 2);
    Some([part, half])
}

/// Hands a value on to a node, with these references in it.
fn say(
    peer: &'static Peer,
    members: &MembersBuf,
    payload: &[u8],
    references: impl Iterator<Item = Given>,
) -> Result<(), PutError<FrameError>> {
    given::put(peer, references, |references| {
        let message = Message::Cast { members: members.as_members(), payload };
        peer.try_say_with(message, references)
    })
}

/// Handles a collective send: passes it on, and delivers it to the actors of this node. False if it
/// is malformed.
pub(crate) fn pass_on(from: &'static Peer, members: Members<'_>, payload: &[u8]) -> bool {
    let node = from.node;
    // A list of members names each node once.
    if members.len() > node.nodes as usize {
        return false;
    }
    let members: Vec<_> = members.iter().collect();
    let actors: usize = members.iter().map(Member::len).sum();
    let is_ordered = members.windows(2).all(|pair| pair[0].node < pair[1].node);
    let Some(own) = members.first() else { return false };
    if own.node != node.number || !is_ordered || actors > MOST_ACTORS {
        return false;
    }
    let arrived = arrived::current();
    for part in tree::parts(members.len()) {
        let part = &members[part];
        // The first member that can be reached passes it on.
        for (at, head) in part.iter().enumerate() {
            let Some(peer) = node.peer(head.node) else { continue };
            if !peer.has_room_for_others() {
                (0..head.len()).for_each(|_| {
                    node.undelivered(peer, Askers::default(), Failure::MailboxFull, "")
                });
                continue;
            }
            let mut list = MembersBuf::new();
            for &member in &part[at..] {
                list.push_member(member);
            }
            let references = arrived.iter().flat_map(|arrived| arrived.iter());
            match say(peer, &list, payload, references) {
                Ok(()) => break,
                // Here messages have to be shorter than where it begins.
                Err(PutError::TooLong { .. }) => (0..head.len()).for_each(|_| {
                    node.undelivered(peer, Askers::default(), Failure::Unwritable, "")
                }),
                Err(_) => {}
            }
        }
    }
    deliver_to_all(from, own.slots(), payload);
    true
}
