//! The names of a system. The protocol is beside the [functions](super::System::register).

use crate::kin::control::AnyActor;
use crate::words::id::ActorId;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The names of a system.
#[derive(Debug)]
pub(crate) struct Registry(Mutex<Names>);

#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) names: BTreeMap<Arc<str>, Entry>,
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
        Self(Mutex::new(Names { names: BTreeMap::new(), waiting: BTreeMap::new(), next: 0 }))
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
        let mut gone = Vec::new();
        let mut names = self.lock();
        names.names.retain(|_, entry| {
            let stays = entry.actor.id() != actor;
            if !stays {
                gone.push(entry.typed.clone());
            }
            stays
        });
        drop(names);
        drop(gone);
    }
}
