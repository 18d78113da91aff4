//! References in messages. An actor's name is its node, its slot and the slot's generation; the
//! name of a place for an answer is its node and the call's number. A node that hands a place on to
//! another node tells the node that waits for the answer ([`calls`](super::calls)).
//!
//! A reference that comes back to the node of its actor is a local one again.

use super::arrived::{self, Kept};
use super::calls::Outcome;
use super::inner::{Counts, Peer};
use super::route;
use super::scope;
use super::table::{Found, Table};
use crate::mailbox::overflow::Overflow;
use crate::node::wire::Failure;
use crate::node::{Name, NodeId, Slot};
use crate::refs::actor_ref::ActorRef;
use crate::refs::ask::ReplyTo;
use crate::refs::away::{Remote, RemoteReply};
use crate::trace::{self, seal};
use crate::words::error::AskError;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

/// Writes the reference as a name in a message to another node; elsewhere it cannot be written.
///
/// What the other node reads counts as a reference on the actor's node, until it is dropped there.
/// It counts too if the other node does not read it. A message with more than [65,536
/// references](crate::node::wire::MOST_REFERENCES) cannot be written.
impl<M, P> Serialize for ActorRef<M, P>
where
    M: Serialize + DeserializeOwned + Send + 'static,
    P: Overflow,
{
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let peer = scope::writing().map_err(S::Error::custom)?;
        // Before the slot is counted.
        if !scope::may_refer() {
            return Err(S::Error::custom(scope::too_many_references()));
        }
        let (node, slot) = match (self.slot_in(&peer.node.table, peer.id), self.remote()) {
            (Some(slot), _) => {
                scope::note_own(slot);
                (peer.node.number, slot)
            }
            (None, Some(remote)) if std::ptr::eq(route::peer(remote.route).node, peer.node) => {
                if let Some(lease) = self.lease() {
                    scope::note_leased(Arc::clone(lease));
                }
                (route::peer(remote.route).id, remote.slot)
            }
            (None, _) => {
                return Err(S::Error::custom(
                    "the reference belongs to another node that is in this process",
                ));
            }
        };
        (node.number(), slot.index, slot.generation).serialize(serializer)
    }
}

/// Reads the reference in a message from another node; an own actor's name becomes a local
/// reference.
impl<'de, M, P> Deserialize<'de> for ActorRef<M, P>
where
    M: Serialize + DeserializeOwned + Send + 'static,
    P: Overflow,
{
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (node, index, generation) = Deserialize::deserialize(deserializer)?;
        let from = scope::reading().map_err(D::Error::custom)?;
        let (owner, slot) = (peer(from, node)?, Slot { index, generation });
        match arrived::find(Name { node: owner.id, slot }) {
            Some(Kept::Leased(lease)) => return Ok(Self::leased(route::of::<M>(owner), lease)),
            Some(Kept::Home(target)) => {
                let target: &dyn Any = &*target;
                return target
                    .downcast_ref::<Self>()
                    .cloned()
                    .ok_or_else(|| D::Error::custom(OTHER_MESSAGES));
            }
            None => {}
        }
        if owner.link.is_none() {
            match owner.node.table.find(slot) {
                Found::Here(actor) => return Ok(actor),
                Found::OtherType => {
                    return Err(D::Error::custom(OTHER_MESSAGES));
                }
                // A reference to an actor that has stopped.
                Found::Gone => {}
            }
        }
        Ok(Self::from(Remote { route: route::of::<M>(owner), slot }))
    }
}

/// The error of a reference to an actor of another type.
const OTHER_MESSAGES: &str = "the actor takes messages of another type";

/// The node that a message from another node names.
fn peer<E: serde::de::Error>(from: &'static Peer, node: u32) -> Result<&'static Peer, E> {
    let peer = from.node.peer(NodeId::new(node));
    peer.ok_or_else(|| E::custom(format_args!("there is no node {node}")))
}

impl Peer {
    /// Whether the node that asked may be told the outcome of its question. If not, that is
    /// counted.
    ///
    /// A place for an answer that has come from a third node is not answered once [too
    /// much](Peer::has_room_for_others) waits for the node that asked: the third node may have made
    /// the place up.
    pub(super) fn may_be_told(&self, is_handed_on: bool) -> bool {
        let may = !is_handed_on || self.has_room_for_others();
        if !may {
            Counts::add(&self.node.counts.undelivered);
        }
        may
    }
}

impl<M, P> ActorRef<M, P>
where
    M: DeserializeOwned + Send + 'static,
    P: Overflow,
{
    /// The slot by which other nodes know the actor, with one more reference of a node to it. None
    /// for an actor on another node, which has the slot in its own table.
    #[inline]
    pub(crate) fn slot_in(&self, table: &Table<Peer>, holder: NodeId) -> Option<Slot> {
        self.own().map(|own| table.slot(self, own.address(), holder))
    }
}

/// The error of an empty place for an answer.
const SENT_TWICE: &str = "a place for an answer is sent once";

/// Writes the place in a message to another node, which then answers over it. The place is empty
/// afterwards: there is one answer.
impl<R> Serialize for ReplyTo<R>
where
    R: Serialize + DeserializeOwned + Send + 'static,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let peer = scope::asking().map_err(S::Error::custom)?;
        let (node, call) = match self.take() {
            Ok(sender) => {
                let read = move |outcome: Outcome<'_>| {
                    seal(match outcome {
                        Outcome::Answer(bytes) => scope::read(peer, bytes).map_err(|error| {
                            Counts::add(&peer.node.counts.unreadable);
                            not_read::<R>(peer, &error);
                            AskError::Unreadable
                        }),
                        Outcome::Failed(failure, detail) => {
                            if !detail.is_empty() {
                                not_read::<R>(peer, &detail);
                            }
                            Err(failed(failure))
                        }
                        Outcome::At(_) => Err(AskError::Unreadable),
                        Outcome::NodeDown => Err(AskError::NodeDown),
                    })
                };
                let call = peer.node.calls.open(peer.id, scope::last_call(), sender, read);
                let call = call.ok_or_else(|| {
                    scope::note_too_many_calls();
                    S::Error::custom(scope::TOO_MANY)
                })?;
                scope::note_call(call);
                (peer.node.number, call)
            }
            Err(Some(remote)) => {
                let owner = route::peer(remote.route);
                if !std::ptr::eq(owner.node, peer.node) {
                    return Err(S::Error::custom(
                        "the place for an answer belongs to another node that is in this process",
                    ));
                }
                // Before it is taken out: a place that is not written says so when it is dropped.
                let may_be_told = owner.may_be_told(remote.is_handed_on);
                if may_be_told && !scope::may_pass_on() {
                    return Err(S::Error::custom(scope::too_many_places()));
                }
                let call = remote.take();
                if call == 0 {
                    return Err(S::Error::custom(SENT_TWICE));
                }
                if may_be_told {
                    scope::note_passed_on(owner, call);
                }
                (owner.id, call)
            }
            Err(None) => return Err(S::Error::custom(SENT_TWICE)),
        };
        (node.number(), call).serialize(serializer)
    }
}

/// Reads the place in a message from another node.
impl<'de, R> Deserialize<'de> for ReplyTo<R>
where
    R: Serialize + DeserializeOwned + Send + 'static,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (node, call): (u32, u64) = Deserialize::deserialize(deserializer)?;
        let from = scope::reading().map_err(D::Error::custom)?;
        let owner = peer(from, node)?;
        let (route, is_handed_on) = (route::of::<R>(owner), !std::ptr::eq(owner, from));
        Ok(Self::remote(RemoteReply::new(route, is_handed_on, call)))
    }
}

/// Traces why there is no answer, which the asker's error does not say.
#[cold]
fn not_read<R>(peer: &Peer, why: &dyn fmt::Display) {
    // A `Serialize` that drops a place comes here under a lock.
    if !scope::is_writing() {
        trace::not_read(peer.node.system.node(), peer.id, type_name::<R>(), why);
    }
}

/// The error that an asker gets for a failure.
fn failed(failure: Failure) -> AskError {
    match failure {
        Failure::NoSuchActor => AskError::Stopped,
        Failure::MailboxFull => AskError::Full,
        Failure::Unreadable | Failure::Unwritable => AskError::Unreadable,
        Failure::Leaving => AskError::NodeDown,
        _ => AskError::NoReply,
    }
}
