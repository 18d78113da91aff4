//! The names of a system. The protocol is beside the [functions](super::System::register).

use crate::kin::control::AnyActor;
use crate::words::id::ActorId;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The names of a system.
#[derive(Debug)]
pub(crate) struct Registry(Mutex<Names>);

#[derive(Debug)]
pub(crate) struct Names {
    names: BTreeMap<Arc<str>, Entry>,
    /// The same names, by their actors.
    of: BTreeSet<(ActorId, Arc<str>)>,
    pub(crate) waiting: BTreeMap<(Arc<str>, u64), Waker>,
    /// The last number given to a waiting caller.
    pub(crate) next: u64,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) actor: AnyActor,
    /// An `ActorRef<M, P>`.
    pub(crate) typed: Arc<dyn Any + Send + Sync>,
    pub(crate) message: &'static str,
    pub(crate) policy: &'static str,
}

impl Registry {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Names {
            names: BTreeMap::new(),
            of: BTreeSet::new(),
            waiting: BTreeMap::new(),
            next: 0,
        }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().names.len()
    }

    /// Removes the names of an actor that has ended.
    pub(crate) fn forget(&self, actor: ActorId) {
        let gone = self.lock().forget(actor);
        // The references are dropped outside of the lock.
        drop(gone);
    }
}

impl Names {
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.names.get(name)
    }

    /// Returns all in the order of the names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Entry)> {
        self.names.iter()
    }

    /// Enters a name that is not there.
    pub(crate) fn insert(&mut self, name: Arc<str>, entry: Entry) {
        self.of.insert((entry.actor.id(), name.clone()));
        self.names.insert(name, entry);
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<(Arc<str>, Entry)> {
        let (name, entry) = self.names.remove_entry(name)?;
        self.of.remove(&(entry.actor.id(), name.clone()));
        Some((name, entry))
    }

    /// Removes all names of an actor.
    fn forget(&mut self, actor: ActorId) -> Vec<Entry> {
        let from = (actor, Arc::from(""));
        let own = self.of.range(from..).map_while(|(of, name)| (*of == actor).then_some(name));
        let own: Vec<_> = own.cloned().collect();
        own.iter().filter_map(|name| Some(self.remove(name)?.1)).collect()
    }
}
