//! Scripts: what starts an actor when another node asks for it.

use super::calls::{Asker, Outcome};
use super::error::RemoteError;
use super::inner::Inner;
use super::place::Remote;
use super::route::{Peer, Standing};
use super::scope;
use super::table::Found;
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::builder::Builder;
use crate::mailbox::overflow::Wait;
use crate::node::multiplexer::PutError;
use crate::node::payload;
use crate::node::wire::{Envelope, Failure, Message};
use crate::node::{NodeId, Slot};
use crate::oneshot;
use crate::trace;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::type_name;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a script has not started an actor.
type Refusal = (Failure, String);

/// Starts an actor for a node that has asked for it, which takes its messages to be of the type with that name.
type Script = dyn Fn(&'static Peer, &str, &[u8]) -> Result<Slot, Refusal> + Send + Sync;

/// Names an actor of the registry that takes messages of the type with that name.
type Public = dyn Fn(&'static Inner) -> Option<Slot> + Send + Sync;

/// The name of the type of an actor's messages, and what names the actor.
type Published = (&'static str, Arc<Public>);

/// The scripts of a node, and the actors that it lets others find.
#[derive(Default)]
pub(crate) struct Scripts {
    scripts: Mutex<HashMap<Box<str>, Arc<Script>>>,
    public: Mutex<HashMap<Box<str>, Published>>,
}

impl Scripts {
    /// Registers a script; false if there is one of that name.
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
        let start = move |peer: &'static Peer, messages: &str, arguments: &[u8]| {
            let own = type_name::<A::Message>();
            if messages != own {
                let why = format!("they are {own}, not {messages}");
                return Err((Failure::OtherMessages, why));
            }
            let arguments = scope::read(peer, || payload::get(arguments));
            let arguments =
                arguments.map_err(|error| (Failure::BadArguments, error.to_string()))?;
            let actor = catch_unwind(AssertUnwindSafe(|| script(arguments)));
            let actor = actor.map_err(|_| (Failure::Panicked, String::new()))?;
            let node = peer.node;
            let actor = Builder::new().system(node.system).spawn(actor);
            let actor = actor.map_err(|error| (Failure::Panicked, error.to_string()))?;
            Ok(actor.slot_in(&node.table))
        };
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if scripts.contains_key(name) {
            return false;
        }
        scripts.insert(name.into(), Arc::new(start));
        true
    }

    /// Starts the script of a name. `bytes` begin with the name of the type of the actor's messages.
    pub(crate) fn start(
        &self,
        peer: &'static Peer,
        name: &str,
        bytes: &[u8],
    ) -> Result<Slot, Refusal> {
        let script = {
            let scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
            scripts.get(name).cloned()
        };
        let script = script.ok_or((Failure::NoSuchScript, String::new()))?;
        let (messages, arguments) = split(bytes)?;
        script(peer, messages, arguments)
    }

    /// Lets other nodes find an actor; false if there is another one of that name.
    pub(crate) fn publish<M>(&self, name: &str, actor: ActorRef<M>) -> bool
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        let mut public = self.public.lock().unwrap_or_else(PoisonError::into_inner);
        if public.contains_key(name) {
            return false;
        }
        let slot =
            move |node: &'static Inner| (!actor.is_stopped()).then(|| actor.slot_in(&node.table));
        public.insert(name.into(), (type_name::<M>(), Arc::new(slot)));
        true
    }

    /// Where the actor is that others find under a name, with the name of its messages' type behind it.
    pub(crate) fn locate(&self, node: &'static Inner, name: &str) -> Result<Slot, Refusal> {
        let none = || (Failure::NoSuchName, String::new());
        let (name, messages) = name.split_once('\0').ok_or_else(none)?;
        let found = {
            let public = self.public.lock().unwrap_or_else(PoisonError::into_inner);
            public.get(name).cloned()
        };
        let (own, slot) = found.ok_or_else(none)?;
        if own != messages {
            return Err((Failure::OtherMessages, format!("they are {own}, not {messages}")));
        }
        slot(node).ok_or_else(none)
    }

    /// Forgets all, at the end of the node.
    pub(crate) fn clear(&self) {
        let scripts =
            std::mem::take(&mut *self.scripts.lock().unwrap_or_else(PoisonError::into_inner));
        let public =
            std::mem::take(&mut *self.public.lock().unwrap_or_else(PoisonError::into_inner));
        drop((scripts, public));
    }
}

/// The name of a type, and what follows it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), Refusal> {
    let bad = || (Failure::BadArguments, "no type of messages is named".to_owned());
    let end = bytes.iter().position(|&byte| byte == 0).ok_or_else(bad)?;
    let name = std::str::from_utf8(&bytes[..end]).map_err(|_| bad())?;
    Ok((name, &bytes[end + 1..]))
}

/// What a node says to a request for an actor.
fn outcome(node: NodeId, failure: Failure, detail: &str) -> RemoteError {
    let why = detail.to_owned();
    match failure {
        Failure::NoSuchScript => RemoteError::NoSuchScript,
        Failure::BadArguments => RemoteError::Arguments { why },
        Failure::OtherMessages => RemoteError::OtherMessages { why },
        Failure::NoSuchName => RemoteError::NoSuchName,
        Failure::Panicked => RemoteError::Panicked,
        Failure::Leaving => RemoteError::NodeDown { node },
        Failure::TooManyActors => RemoteError::TooManyActors { node },
        _ => RemoteError::Answer,
    }
}

/// Asks a node for an actor with messages of type `M`, by what `request` writes for a call.
async fn request<M>(
    peer: &'static Peer,
    mut request: impl FnMut(u64, &mut Vec<u8>) -> Result<(), String>,
) -> Result<ActorRef<M>, RemoteError>
where
    M: Serialize + DeserializeOwned + Send + 'static,
{
    let node = peer.id;
    let down = RemoteError::NodeDown { node };
    let Some(link) = &peer.link else { return Err(RemoteError::Answer) };
    let (sender, receiver) = oneshot::channel();
    let asker = Asker::new(sender, move |outcome: Outcome<'_>| match outcome {
        Outcome::At(slot) => Ok(slot),
        Outcome::Failed(failure, detail) => Err(self::outcome(node, failure, detail)),
        Outcome::Answer(_) => Err(RemoteError::Answer),
        Outcome::NodeDown => Err(RemoteError::NodeDown { node }),
    });
    link.room().await;
    if peer.standing() == Standing::Down {
        return Err(down);
    }
    let call = peer.node.calls.open(node, 0, Box::new(asker));
    let call = call.ok_or(RemoteError::TooManyCalls { node })?;
    // What is put in after a node is down is refused, and what was put in before is told of the loss.
    let put = scope::write(peer, |_| {
        peer.node.senders.under(|| link.put_anyway(|out| request(call.into(), out)))
    });
    if let Err(error) = put {
        peer.node.calls.forget(call);
        return Err(match error {
            PutError::Unwritable(why) => RemoteError::Unwritable { why },
            PutError::TooLong { .. } => RemoteError::Unwritable { why: error.to_string() },
            _ => down,
        });
    }
    let slot = receiver.await.unwrap_or(Err(down))?;
    Ok(ActorRef::from(Remote::new::<M>(peer, slot)))
}

/// A local actor by its slot.
fn local<M: Send + 'static>(node: &Inner, slot: Slot) -> Result<ActorRef<M>, RemoteError> {
    match node.table.find::<M, Wait>(slot) {
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
    let peer = node.peer(on).ok_or(RemoteError::NoSuchNode { node: on })?;
    let mut bytes = type_name::<M>().as_bytes().to_vec();
    bytes.push(0);
    if peer.link.is_none() {
        let put = scope::cast(peer, || payload::put(arguments, &mut bytes));
        put.map_err(|error| RemoteError::Unwritable { why: error.to_string() })?;
        let slot = node.scripts.start(peer, script, &bytes);
        let slot = slot.map_err(|(failure, why)| outcome(on, failure, &why))?;
        return local(node, slot);
    }
    let named = bytes.len();
    request(peer, |call, out| {
        bytes.truncate(named);
        payload::put(arguments, &mut bytes).map_err(|error| error.to_string())?;
        let message = Message::Spawn { call, script, parent: None, arguments: &bytes };
        Envelope { cause: trace::current(), message }.write(out).map_err(|error| error.to_string())
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
    let peer = node.peer(on).ok_or(RemoteError::NoSuchNode { node: on })?;
    let name = format!("{name}\0{}", type_name::<M>());
    if peer.link.is_none() {
        let slot = node.scripts.locate(node, &name);
        return local(node, slot.map_err(|(failure, why)| outcome(on, failure, &why))?);
    }
    request(peer, |call, out| {
        let message = Message::Locate { call, name: &name };
        Envelope { cause: trace::current(), message }.write(out).map_err(|error| error.to_string())
    })
    .await
}
