//! What a system knows of its groups.

use super::{AnyGroup, Group, GroupTypeError, Inner};
use crate::primitives::{Mutex, MutexGuard};
use crate::system::System;
use crate::words::id::ActorId;
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};

/// The groups of a system.
pub(crate) struct Groups(Mutex<Lists>);

pub(super) struct Lists {
    /// With the type of their messages.
    pub(super) named: BTreeMap<Arc<str>, (&'static str, Arc<dyn Any + Send + Sync>)>,
    /// Which ones an actor is in.
    entered: BTreeMap<ActorId, Vec<Weak<dyn AnyGroup>>>,
}

impl Groups {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Lists { named: BTreeMap::new(), entered: BTreeMap::new() }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has an actor that has ended leave its groups.
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
    pub(super) fn enter(&mut self, actor: ActorId, group: Weak<dyn AnyGroup>) {
        let groups = self.entered.entry(actor).or_default();
        groups.retain(|group| group.strong_count() > 0);
        groups.push(group);
    }

    pub(super) fn leave(&mut self, actor: ActorId, group: &Arc<dyn AnyGroup>) {
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

/// Groups with names.
impl System {
    /// The group of this name, which is made if there is none.
    ///
    /// # Errors
    /// If there is one whose messages are of another type.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::System;
    ///
    /// let system = System::new();
    /// let weather = system.group::<String>("weather").unwrap();
    /// assert_eq!(weather.name(), Some("weather"));
    /// assert!(system.group::<u32>("weather").is_err());
    /// ```
    pub fn group<M: Send + 'static>(
        self,
        name: impl Into<Arc<str>>,
    ) -> Result<Group<M>, GroupTypeError> {
        let name = name.into();
        let mut lists = self.groups().lock();
        if let Some((has, group)) = lists.named.get(&name) {
            return match group.clone().downcast::<Inner<M>>() {
                Ok(group) => {
                    group.handles.fetch_add(1, Ordering::Relaxed);
                    Ok(Group(group))
                }
                Err(_) => Err(GroupTypeError { name, has }),
            };
        }
        let group = Group::<M>::of(self, Some(name.clone()));
        let entry: Arc<dyn Any + Send + Sync> = group.0.clone();
        lists.named.insert(name, (type_name::<M>(), entry));
        Ok(group)
    }
}
