//! The named groups of a system, and the groups of each actor.

use crate::primitives::sweeper::Sweeper;
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
    /// The groups of each actor, by their addresses. An address is no other group's while its
    /// `Weak` is here. Groups that are gone are left out at the next sweep.
    entered: BTreeMap<(ActorId, usize), Weak<dyn AnyGroup>>,
    sweeper: Sweeper,
}

impl Groups {
    pub(crate) const fn new() -> Self {
        let sweeper = Sweeper::new();
        Self(Mutex::new(Lists { named: BTreeMap::new(), entered: BTreeMap::new(), sweeper }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes an actor that has ended from its groups.
    pub(crate) fn forget(&self, actor: ActorId) {
        let mut lists = self.lock();
        let of_actor = lists.entered.range((actor, 0)..=(actor, usize::MAX));
        let keys: Vec<_> = of_actor.map(|entry| *entry.0).collect();
        let groups: Vec<_> = keys.iter().filter_map(|key| lists.entered.remove(key)).collect();
        drop(lists);
        for group in groups {
            if let Some(group) = group.upgrade() {
                group.forget(actor);
            }
        }
    }
}

impl Lists {
    pub(crate) fn enter(&mut self, actor: ActorId, group: Weak<dyn AnyGroup>) {
        if self.sweeper.is_due(self.entered.len(), false, usize::MAX) {
            self.entered.retain(|_, group| group.strong_count() > 0);
            self.sweeper.swept(self.entered.len());
        }
        self.entered.insert((actor, address(group.as_ptr())), group);
    }

    pub(crate) fn leave(&mut self, actor: ActorId, group: &Arc<dyn AnyGroup>) {
        self.entered.remove(&(actor, address(Arc::as_ptr(group))));
    }
}

fn address(group: *const dyn AnyGroup) -> usize {
    group.cast::<()>().addr()
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("named", &self.lock().named.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use crate::{Group, System, kit};

    #[test]
    fn groups_that_are_dropped_leave_nothing_and_an_actor_that_ends_leaves_the_others() {
        kit::run(1, |kit| async move {
            let entered = || System::current().groups().lock().entered.len();
            let probes = [kit.probe::<()>(), kit.probe::<()>()];
            let kept = [(); 100].map(|()| Group::<()>::new());
            for probe in &probes {
                kept.iter().for_each(|group| assert_eq!(group.join(&probe.actor()), Ok(true)));
            }
            for _ in 0..1_000 {
                assert_eq!(Group::<()>::new().join(&probes[0].actor()), Ok(true));
            }
            assert!(entered() < 3 * 200, "{} of 1,200 entries are left", entered());
            assert!(kept[0].leave(probes[0].actor().id()));
            assert!(!kept[0].leave(probes[0].actor().id()));
            for (left, probe) in [(1, &probes[0]), (0, &probes[1])] {
                probe.actor().kill();
                probe.actor().stopped().await;
                assert!(kept.iter().all(|group| group.len() == left));
            }
            assert_eq!(entered(), 0);
        });
    }
}
