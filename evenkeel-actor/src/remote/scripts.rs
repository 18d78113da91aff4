//! Scripts, which start actors when other nodes ask for them, and the actors that a node lets
//! others find. `F` is the type by which this node knows an asking node.
//! [`requests`](super::requests) has the asking side.

use super::table::Table;
use crate::names::registry::RegisterError;
use crate::node::wire::{Failure, LONGEST_NAME};
use crate::node::{NodeId, Slot};
use crate::words::id::ActorId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a script has not started an actor.
pub(super) type Refusal = (Failure, String);

/// Starts an actor for a node that asks for it. The string names the type that the asking node
/// expects of the actor's messages.
pub(super) type Script<F> = dyn Fn(&'static F, &str, &[u8]) -> Result<Slot, Refusal> + Send + Sync;

/// An actor that other nodes find, whatever its messages.
pub(super) trait Public<F: 'static>: Send + Sync {
    /// The name of the type of its messages, short enough to be sent.
    fn messages(&self) -> String;

    /// Its slot, leased to a node, unless the actor has stopped.
    fn slot(&self, table: &Table<F>, holder: NodeId) -> Option<Slot>;

    fn is_stopped(&self) -> bool;

    fn id(&self) -> ActorId;
}

/// The scripts of a node, and the actors that it lets others find.
pub(crate) struct Scripts<F: 'static> {
    scripts: Mutex<HashMap<Box<str>, Arc<Script<F>>>>,
    public: Mutex<HashMap<Box<str>, Arc<dyn Public<F>>>>,
}

impl<F: 'static> Default for Scripts<F> {
    fn default() -> Self {
        Self { scripts: Mutex::default(), public: Mutex::default() }
    }
}

/// The same scripts, for another node; it lets others find its own actors.
impl<F: 'static> Clone for Scripts<F> {
    fn clone(&self) -> Self {
        let scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { scripts: Mutex::new(scripts), public: Mutex::default() }
    }
}

impl<F: 'static> fmt::Debug for Scripts<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(scripts.keys()).finish()
    }
}

impl<F: 'static> Scripts<F> {
    /// Keeps a script; false if there is one of that name, or if no message can carry the name.
    pub(super) fn add(&self, name: &str, script: Arc<Script<F>>) -> bool {
        if name.len() > LONGEST_NAME {
            return false;
        }
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if scripts.contains_key(name) {
            return false;
        }
        scripts.insert(name.into(), script);
        true
    }

    /// Lets other nodes find an actor of this one, unless it has stopped, another actor of that
    /// name has not, or no message can carry the name.
    pub(super) fn show(&self, name: &str, actor: Arc<dyn Public<F>>) -> Result<(), RegisterError> {
        if name.len() > LONGEST_NAME {
            return Err(RegisterError::TooLong { most: LONGEST_NAME });
        }
        if actor.is_stopped() {
            return Err(RegisterError::Stopped { id: actor.id() });
        }
        let mut public = self.public.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = public.get(name).filter(|known| !known.is_stopped()) {
            return Err(RegisterError::Taken { name: name.into(), holder: known.id() });
        }
        let before = public.insert(name.into(), actor);
        // The drop may be that of the last reference, so not under the lock.
        drop(public);
        drop(before);
        Ok(())
    }

    /// Starts the script of a name. `bytes` begin with the name of the type of the actor's
    /// messages.
    pub(crate) fn start(
        &self,
        peer: &'static F,
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

    /// Stops other nodes from finding the actor of a name; false if there is none.
    pub(crate) fn unpublish(&self, name: &str) -> bool {
        let mut public = self.public.lock().unwrap_or_else(PoisonError::into_inner);
        let known = public.remove(name);
        drop(public);
        known.is_some_and(|known| !known.is_stopped())
    }

    /// The slot of the actor that others find under a name, by the short name of its messages'
    /// type.
    pub(crate) fn locate(
        &self,
        table: &Table<F>,
        told: NodeId,
        name: &str,
        messages: &str,
    ) -> Result<Slot, Refusal> {
        let none = || (Failure::NoSuchName, String::new());
        let found = {
            let public = self.public.lock().unwrap_or_else(PoisonError::into_inner);
            public.get(name).cloned()
        };
        let actor = found.ok_or_else(none)?;
        let own = actor.messages();
        if own != messages {
            return Err((Failure::OtherMessages, format!("they are {own}, not {messages}")));
        }
        actor.slot(table, told).ok_or_else(none)
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

/// The name of a type, and the bytes behind it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), Refusal> {
    let bad = || (Failure::BadArguments, "no type of messages is named".to_owned());
    let end = bytes.iter().position(|&byte| byte == 0).ok_or_else(bad)?;
    let name = std::str::from_utf8(&bytes[..end]).map_err(|_| bad())?;
    Ok((name, &bytes[end + 1..]))
}
