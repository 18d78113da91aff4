//! The named groups of a system, and the groups of each actor.

use crate::primitives::{Mutex, MutexGuard};
use crate::words::id::ActorId;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};

/// A group without the type of its messages.
pub(crate) trait AnyGroup: Send + Sync {
    /// Removes an actor that has ended.
    fn forget(&self, actor: ActorId);
}

/// The groups of a system.
pub(crate) struct Groups(Mutex<Lists>);

pub(crate) struct Lists {
    /// By name, with the type of their messages.
    pub(crate) named: BTreeMap<Arc<str>, (&'static str, Arc<dyn Any + Send + Sync>)>,
    /// The groups of each actor.
    entered: BTreeMap<ActorId, Vec<Weak<dyn AnyGroup>>>,
}

impl Groups {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Lists { named: BTreeMap::new(), entered: BTreeMap::new() }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes an actor that has ended from its groups.
    pub(crate) fn forget(&self, actor: ActorId) {
        let groups = self.lock().entered.remove(&actor).unwrap_or_default();
        for group in groups {
            if let Some(group) = group.upgrade() {
                group.forget(actor);
            }
        }
    }
}

impl Lists {
    pub(crate) fn enter(&mut self, actor: ActorId, group: Weak<dyn AnyGroup>) {
        let groups = self.entered.entry(actor).or_default();
        groups.retain(|group| group.strong_count() > 0);
        groups.push(group);
    }

    pub(crate) fn leave(&mut self, actor: ActorId, group: &Arc<dyn AnyGroup>) {
        let Some(groups) = self.entered.get_mut(&actor) else { return };
        groups.retain(|other| !std::ptr::addr_eq(other.as_ptr(), Arc::as_ptr(group)));
        if groups.is_empty() {
            self.entered.remove(&actor);
        }
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("named", &self.lock().named.len()).finish_non_exhaustive()
    }
}
