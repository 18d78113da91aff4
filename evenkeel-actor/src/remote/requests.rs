//! Requests for actors of other nodes: by a script, which starts one, or by a name.

use super::arrived;
use super::calls::Outcome;
use super::error::RemoteError;
use super::given::Bundle;
use super::inner::{Inner, Peer, Standing, short};
use super::route;
use super::scope;
use super::scripts::{Public, Scripts};
use super::table::{Found, Table};
use crate::actor::Actor;
use crate::life::builder::Builder;
use crate::mailbox::overflow::Wait;
use crate::names::registry::RegisterError;
use crate::node::multiplexer::PutError;
use crate::node::payload;
use crate::node::wire::{Envelope, Failure, LONGEST_NAME, Message, PlacesBuf, References};
use crate::node::{NodeId, Slot};
use crate::primitives::oneshot;
use crate::refs::actor_ref::ActorRef;
use crate::trace;
use crate::words::id::ActorId;
use evenkeel::budget;
use evenkeel::internal::contain;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::type_name;
use std::panic::Location;
use std::sync::Arc;

impl<M: Serialize + DeserializeOwned + Send + 'static> Public<Peer> for ActorRef<M> {
    fn messages(&self) -> String {
        short_name::<M>()
    }

    fn slot(&self, table: &Table<Peer>, holder: NodeId) -> Option<Slot> {
        (!self.is_stopped()).then(|| self.slot_in(table, holder)).flatten()
    }

    fn is_stopped(&self) -> bool {
        Self::is_stopped(self)
    }

    fn id(&self) -> ActorId {
        Self::id(self)
    }
}

impl Scripts<Peer> {
    /// Registers a script; false if there is one of that name, or if no message can carry the name.
    /// Its actors are reported as spawned by the caller, since nothing else says which script it
    /// was.
    #[track_caller]
    pub(crate) fn register<A, Arguments>(
        &self,
        name: &str,
        script: impl Fn(Arguments) -> A + Send + Sync + 'static,
    ) -> bool
    where
        A: Actor,
        A::Message: Serialize + DeserializeOwned,
        Arguments: DeserializeOwned,
    {
        let site = Location::caller();
        let start = move |peer: &'static Peer, messages: &str, arguments: &[u8]| {
            let own = type_name::<A::Message>();
            if messages != own {
                let why = format!("they are {own}, not {messages}");
                return Err((Failure::OtherMessages, why));
            }
            let arguments = scope::read(peer, arguments);
            let arguments =
                arguments.map_err(|error| (Failure::BadArguments, error.to_string()))?;
            let actor = contain(|| script(arguments));
            let actor = actor.ok_or((Failure::Panicked, String::new()))?;
            let node = peer.node;
            let actor = Builder::new().system(node.system).spawn_at(actor, site);
            let actor = actor.map_err(|error| (Failure::Panicked, error.to_string()))?;
            Ok(actor.slot_in(&node.table, peer.id).expect("what is spawned here is here"))
        };
        self.add(name, Arc::new(start))
    }

    /// Lets other nodes find an actor of this one, unless it has stopped or is on another node,
    /// another actor of that name has not stopped, or no message can carry the name.
    pub(crate) fn publish<M>(&self, name: &str, actor: &ActorRef<M>) -> Result<(), RegisterError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        if actor.remote().is_some() {
            return Err(RegisterError::OtherNode { id: actor.id() });
        }
        self.show(name, Arc::new(actor.clone()))
    }
}

/// The name of a type, for requests that name actors. A name that is too long is shortened to its
/// beginning and a hash of all of it.
fn short_name<M>() -> String {
    let name = type_name::<M>();
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    // FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo): the same in all processes of a build.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let end = format!("... #{hash:016x}");
    format!("{}{end}", short(name, LONGEST_NAME - end.len()))
}

/// The error for a failed request for an actor by this name, of a script or its own.
fn outcome(node: NodeId, name: &str, failure: Failure, detail: &str) -> RemoteError {
    let why = detail.to_owned();
    match failure {
        Failure::NoSuchScript => RemoteError::NoSuchScript { node, name: name.into() },
        Failure::BadArguments => RemoteError::Arguments { why },
        Failure::OtherMessages => RemoteError::OtherMessages { why },
        Failure::NoSuchName => RemoteError::NoSuchName { node, name: name.into() },
        Failure::Panicked => RemoteError::Panicked,
        Failure::Leaving => RemoteError::NodeDown { node },
        Failure::TooManyActors => RemoteError::TooManyActors { node },
        _ => RemoteError::Answer,
    }
}

/// Fails calls of other nodes, the places for whose answers nothing has taken.
fn fail_all(node: &Inner, places: &PlacesBuf) {
    for (owner, call) in places.as_places().iter() {
        if let Some(owner) = node.peer(owner) {
            owner.fail(call, Failure::Ended, "");
        }
    }
}

/// Opens the call of a request.
type Opens<'a> = dyn FnMut() -> Result<u64, String> + 'a;

/// Asks a node for an actor with messages of type `M`, by a name and what `request` writes. Opens
/// the call once the places for answers in the request are noted: if there is no actor, these calls
/// fail. A node that refuses has not seen the places of third nodes, so this node fails their
/// calls.
async fn request<M>(
    peer: &'static Peer,
    name: &str,
    request: impl FnOnce(&mut Opens<'_>, &scope::Notes, &mut Vec<u8>) -> Result<(), String>,
) -> Result<ActorRef<M>, RemoteError>
where
    M: Serialize + DeserializeOwned + Send + 'static,
{
    let node = peer.id;
    let down = RemoteError::NodeDown { node };
    let Some(link) = &peer.link else { return Err(RemoteError::Answer) };
    let (sender, receiver) = oneshot::channel();
    let name: Box<str> = name.into();
    let read = move |outcome: Outcome<'_>, handed_on: &PlacesBuf| match outcome {
        Outcome::At(lease) => Ok(Arc::clone(lease)),
        Outcome::Failed(failure, detail) => {
            fail_all(peer.node, handed_on);
            Err(self::outcome(node, &name, failure, detail))
        }
        Outcome::Answer(_) => Err(RemoteError::Answer),
        Outcome::NodeDown => Err(RemoteError::NodeDown { node }),
    };
    link.room().await;
    if peer.standing() == Standing::Down {
        return Err(down);
    }
    let mut asker = Some((sender, read));
    let mut open = || {
        let Some((sender, read)) = asker.take() else { return Ok(scope::last_call()) };
        let handed_on = scope::passed_on();
        let read = move |outcome: Outcome<'_>| read(outcome, &handed_on);
        let Some(call) = peer.node.calls.request(node, scope::last_call(), sender, read) else {
            scope::note_too_many_calls();
            return Err(scope::TOO_MANY.to_owned());
        };
        scope::note_call(call);
        Ok(call)
    };
    // After a node is down nothing can be put in, and what was put in before fails by the loss.
    let put = scope::write(peer, |noted| {
        if noted.is_nested() {
            return Err(PutError::Unwritable(scope::NESTED.to_owned()));
        }
        peer.node.senders.under(|| link.put_anyway(|out| request(&mut open, noted, out)))
    });
    if let Err(error) = put {
        return Err(match error {
            PutError::Unwritable(_) if scope::were_too_many_calls() => {
                RemoteError::TooManyCalls { node }
            }
            PutError::Unwritable(why) => RemoteError::Unwritable { why },
            PutError::TooLong { .. } => RemoteError::Unwritable { why: error.to_string() },
            _ => down,
        });
    }
    let lease = receiver.await.unwrap_or(Err(down))?;
    Ok(ActorRef::leased(route::of::<M>(peer), lease))
}

/// Returns a local actor by its slot. The slot is leased to this node itself, and the lease is
/// given back.
fn local<M: Send + 'static>(node: &Inner, slot: Slot) -> Result<ActorRef<M>, RemoteError> {
    let found = node.table.find::<M, Wait>(slot);
    node.table.release(node.number, slot, 1);
    match found {
        Found::Here(actor) => Ok(actor),
        Found::Gone | Found::OtherType => Err(RemoteError::Answer),
    }
}

/// Starts an actor on a node.
pub(crate) async fn spawn_on<M, Arguments>(
    node: &'static Inner,
    on: NodeId,
    script: &str,
    arguments: &Arguments,
) -> Result<ActorRef<M>, RemoteError>
where
    M: Serialize + DeserializeOwned + Send + 'static,
    Arguments: Serialize + ?Sized,
{
    // A request to this node does not wait, nor does one that is refused here.
    budget::consume().await;
    let peer = node.peer(on).ok_or(RemoteError::NoSuchNode { node: on })?;
    let mut bytes = type_name::<M>().as_bytes().to_vec();
    bytes.push(0);
    if peer.link.is_none() {
        let (mut bundle, mut calls) = (None, None);
        let put = scope::write(peer, |noted| {
            payload::put(arguments, &mut bytes).map_err(PutError::Unwritable)?;
            bundle = noted.take_references();
            calls = Some((noted.last_call(), noted.passed_on()));
            Ok(())
        });
        if let Err(error) = put {
            let error: PutError<_> = error;
            return Err(RemoteError::Unwritable { why: error.to_string() });
        }
        let _arrived = arrived::within(bundle.as_ref().and_then(Bundle::arrive));
        let slot = node.scripts.start(peer, script, &bytes);
        return match slot {
            Ok(slot) => local(node, slot),
            Err((failure, why)) => {
                // It has not read all places for answers. One that has panicked has read them, and
                // may have handed them on.
                if let Some((last_call, handed_on)) = calls
                    && failure != Failure::Panicked
                {
                    node.calls.forget(last_call);
                    fail_all(node, &handed_on);
                }
                Err(outcome(on, script, failure, &why))
            }
        };
    }
    request(peer, script, |open, noted, out| {
        payload::put(arguments, &mut bytes).map_err(|error| error.to_string())?;
        let message = Message::Spawn { call: open()?, script, parent: None, arguments: &bytes };
        let references = noted.references();
        let references = references.as_references();
        let envelope = Envelope { cause: trace::current(), references, message };
        envelope.write(out).map_err(|error| error.to_string())
    })
    .await
}

/// Finds a node's actor by the name under which it is published there.
pub(crate) async fn locate<M>(
    node: &'static Inner,
    on: NodeId,
    name: &str,
) -> Result<ActorRef<M>, RemoteError>
where
    M: Serialize + DeserializeOwned + Send + 'static,
{
    // As in `spawn_on`.
    budget::consume().await;
    let peer = node.peer(on).ok_or(RemoteError::NoSuchNode { node: on })?;
    let messages = short_name::<M>();
    if peer.link.is_none() {
        let slot = node.scripts.locate(&node.table, on, name, &messages);
        return local(node, slot.map_err(|(failure, why)| outcome(on, name, failure, &why))?);
    }
    request(peer, name, |open, _, out| {
        let message = Message::Locate { call: open()?, name, messages: &messages };
        let references = References::default();
        let envelope = Envelope { cause: trace::current(), references, message };
        envelope.write(out).map_err(|error| error.to_string())
    })
    .await
}
