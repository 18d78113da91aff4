//! References in messages: an actor's name is its node, its slot and the slot's generation; that of
//! a place for an answer is its node and the call's number. Whoever hands a place on to another
//! node tells the node that waits for the answer ([`calls`](super::calls)).
//!
//! A reference that comes back to the node of its actor is a local one again.

use super::arrived::{self, Kept};
use super::calls::Outcome;
use super::inner::Counts;
use super::place::Remote;
use super::route::{Peer, RouteId};
use super::scope;
use super::table::Found;
use crate::actor_ref::ActorRef;
use crate::ask::ReplyTo;
use crate::error::AskError;
use crate::mailbox::overflow::Overflow;
use crate::node::multiplexer::PutError;
use crate::node::wire::Failure;
use crate::node::{NodeId, Slot};
use crate::trace::seal;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// In a message to another node a reference is a name; anywhere else it cannot be written.
///
/// What the other node reads counts as a reference on the actor's node, until it is dropped there;
/// so it does if it is not read.
impl<M, P> Serialize for ActorRef<M, P>
where
    M: Serialize + DeserializeOwned + Send + 'static,
    P: Overflow,
{
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let peer = scope::writing().map_err(S::Error::custom)?;
        let (node, slot) = match (self.slot_in(&peer.node.table, peer.id), self.remote()) {
            (Some(slot), _) => {
                scope::note_own(slot);
                (peer.node.number, slot)
            }
            (None, Some(remote)) if std::ptr::eq(remote.peer().node, peer.node) => {
                if let Some(lease) = self.lease() {
                    scope::note_leased(Arc::clone(lease));
                }
                (remote.peer().id, remote.slot())
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

/// In a message from another node; the name of an actor of this node becomes a local reference.
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
        match arrived::find(owner, slot) {
            Some(Kept::Leased(lease)) => return Ok(Self::leased(RouteId::of::<M>(owner), lease)),
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
        Ok(Self::from(Remote::new::<M>(owner, slot)))
    }
}

/// What is wrong with a reference to an actor of another type.
const OTHER_MESSAGES: &str = "the actor takes messages of another type";

/// The node that is named in a message that has come from another.
fn peer<E: serde::de::Error>(from: &'static Peer, node: u32) -> Result<&'static Peer, E> {
    let peer = from.node.peer(NodeId::new(node));
    peer.ok_or_else(|| E::custom(format_args!("there is no node {node}")))
}

/// Where the answer to a question of another node goes. Dropped, it says that there is none.
///
/// A place that has come from a third node says nothing once [too much](Peer::has_room_for_others)
/// waits for the node that asked: what is named there may be made up.
pub(crate) struct RemoteReply<R> {
    route: RouteId,
    /// Whether it has come from another node than the one that asked.
    is_handed_on: bool,
    /// The halves of the call's number. The lower one is zero if somebody else has it.
    low: AtomicU32,
    high: u32,
    answer: PhantomData<fn(R)>,
}

impl<R> RemoteReply<R> {
    /// Takes the call's number out; zero if it was taken before.
    fn take(&self) -> u64 {
        match self.low.swap(0, Ordering::Relaxed) {
            0 => 0,
            low => u64::from(self.high) << 32 | u64::from(low),
        }
    }

    /// Whether the node that asked is told what becomes of the question. If not, that is counted.
    fn may_say(&self, peer: &Peer) -> bool {
        let may = !self.is_handed_on || peer.has_room_for_others();
        if !may {
            Counts::add(&peer.node.counts.undelivered);
        }
        may
    }
}

impl<R: 'static> RemoteReply<R> {
    /// Answers. The answer comes back if nobody waits for it, or if it cannot be sent.
    pub(crate) fn send(self, reply: R) -> Result<(), R> {
        let (route, call) = (self.route.get(), self.take());
        if !self.may_say(route.peer) {
            return Err(reply);
        }
        match route.answer(call, &reply) {
            Ok(()) => Ok(()),
            Err(error) => {
                if let PutError::Unwritable(_) | PutError::TooLong { .. } = error {
                    route.peer.fail(call, Failure::Unwritable, &error.to_string());
                }
                Err(reply)
            }
        }
    }
}

impl<R> Drop for RemoteReply<R> {
    fn drop(&mut self) {
        let call = self.take();
        let peer = self.route.peer();
        if call != 0 && self.may_say(peer) {
            // While a value is read, its reader alone drops this: what follows it there cannot be
            // read.
            let is_read = scope::reading().is_ok();
            peer.fail(call, if is_read { Failure::Unreadable } else { Failure::Ended }, "");
        }
    }
}

/// What is wrong with a place for an answer that is empty.
const SENT_TWICE: &str = "a place for an answer is sent once";

/// In a message to another node, which then answers over it. It is empty afterwards: there is one
/// answer.
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
                        Outcome::Answer(bytes) => scope::read(peer, bytes).map_err(|_| {
                            Counts::add(&peer.node.counts.unreadable);
                            AskError::Unreadable
                        }),
                        Outcome::Failed(failure, _) => Err(failed(failure)),
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
                let owner = remote.route.peer();
                if !std::ptr::eq(owner.node, peer.node) {
                    return Err(S::Error::custom(
                        "the place for an answer belongs to another node that is in this process",
                    ));
                }
                // Before it is taken out: its drop says so of a place that is not written.
                if remote.may_say(owner) && !scope::may_pass_on() {
                    return Err(S::Error::custom(scope::too_many_places()));
                }
                let call = remote.take();
                if call == 0 {
                    return Err(S::Error::custom(SENT_TWICE));
                }
                if remote.may_say(owner) {
                    scope::note_passed_on(owner, call);
                }
                (owner.id, call)
            }
            Err(None) => return Err(S::Error::custom(SENT_TWICE)),
        };
        (node.number(), call).serialize(serializer)
    }
}

/// In a message from another node.
impl<'de, R> Deserialize<'de> for ReplyTo<R>
where
    R: Serialize + DeserializeOwned + Send + 'static,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (node, call): (u32, u64) = Deserialize::deserialize(deserializer)?;
        let from = scope::reading().map_err(D::Error::custom)?;
        let owner = peer(from, node)?;
        let (route, is_handed_on) = (RouteId::of::<R>(owner), !std::ptr::eq(owner, from));
        let (low, high) = (AtomicU32::new(call as u32), (call >> 32) as u32);
        Ok(Self::remote(RemoteReply { route, is_handed_on, low, high, answer: PhantomData }))
    }
}

/// What an asker is told of a failure.
fn failed(failure: Failure) -> AskError {
    match failure {
        Failure::NoSuchActor => AskError::Stopped,
        Failure::MailboxFull => AskError::Full,
        Failure::Unreadable | Failure::Unwritable => AskError::Unreadable,
        Failure::Leaving => AskError::NodeDown,
        _ => AskError::NoReply,
    }
}
