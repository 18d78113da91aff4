//! The classes of a runtime by name, and what its workers know.

use super::class::{Class, Placement};
use super::ledger::Ledgers;
use crate::primitives::{Mutex, lock};
use crate::processor::current;
use crate::processor::shared::Shared;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The classes of a runtime by name, and the ledgers of its workers.
#[derive(Debug)]
struct Classes {
    classes: Mutex<BTreeMap<Box<str>, Arc<Class>>>,
    ledgers: Ledgers,
}

impl Classes {
    fn new(workers: usize) -> Self {
        Self { classes: Mutex::default(), ledgers: Ledgers::new(workers) }
    }

    /// Returns the classes of a runtime, which keeps them without knowing what they are.
    fn of(shared: &Shared) -> &Self {
        let kept = shared.kept.get_or_init(|| Box::new(Self::new(shared.workers)));
        kept.downcast_ref().expect("only objects keep anything there")
    }

    /// Returns all classes, by name.
    fn all(&self) -> Vec<Arc<Class>> {
        lock(&self.classes).values().cloned().collect()
    }

    /// Returns the class of this name among these classes, which are those of `runtime`; makes it
    /// with `placement` if there is none.
    pub(super) fn get(
        &self,
        name: &str,
        placement: Option<Placement>,
        runtime: Option<&Arc<Shared>>,
    ) -> Arc<Class> {
        let mut classes = lock(&self.classes);
        if let Some(class) = classes.get(name) {
            return class.clone();
        }
        let placement = placement.unwrap_or_default();
        let (ledgers, number) = (self.ledgers.clone(), classes.len());
        let class = Arc::new(Class::new(name, placement, runtime, ledgers, number));
        classes.insert(name.into(), class.clone());
        class
    }
}

/// The classes of objects that are made outside of any runtime.
static NOWHERE: LazyLock<Classes> = LazyLock::new(|| Classes::new(0));

/// Returns the class of this name in the runtime of the calling thread.
pub(super) fn here(name: &str, placement: Option<Placement>) -> Arc<Class> {
    current::with(|shared| match shared {
        Some(shared) => Classes::of(shared).get(name, placement, Some(shared)),
        None => NOWHERE.get(name, placement, None),
    })
}

/// Returns all classes of the runtime of the calling thread.
pub(super) fn all_here() -> Vec<Arc<Class>> {
    current::with(|shared| match shared {
        Some(shared) => Classes::of(shared).all(),
        None => NOWHERE.all(),
    })
}

/// Calls `f` with the ledgers of the runtime of the calling thread, if it belongs to one.
pub(super) fn ledgers_here<R>(f: impl FnOnce(&Ledgers, &Shared) -> R) -> Option<R> {
    current::with(|shared| {
        let shared = shared?;
        Some(f(&Classes::of(shared).ledgers, shared))
    })
}
