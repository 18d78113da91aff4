//! A class of objects: those of one kind in one runtime, which share how they are entered.

use crate::primitives::atomic::{AtomicU8, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::{Mutex, fence, lock};
use crate::runtime::enter;
use crate::scheduler::processor::Processor;
use crate::scheduler::shared::Shared;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Weak};

/// How the objects of a class are entered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mode {
    /// Where the task is, by the lock.
    InPlace,
    /// Neither is sure of the other: a visitor takes an object from its home.
    Between,
    /// At their homes, by those that have one.
    Home,
}

/// What a class has been told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Whatever is measured to be better.
    #[default]
    Automatic,
    /// Every object is entered where the task is.
    InPlace,
    /// Every object has a home, and is entered there: each new object at the processor with the fewest bytes of its class.
    Home,
}

/// What all objects of a class share.
pub(super) struct Class {
    mode: AtomicU8,
    name: Box<str>,
    placement: Placement,
    /// The runtime whose workers may be hosts; of none for objects that were made outside of any.
    runtime: Weak<Shared>,
    /// What the homes at each processor come to, in bytes.
    bytes: Box<[AtomicUsize]>,
}

impl Class {
    pub(super) fn new(name: &str, placement: Placement, runtime: Option<&Arc<Shared>>) -> Self {
        let mode = match placement {
            Placement::Home => Mode::Home,
            Placement::InPlace | Placement::Automatic => Mode::InPlace,
        };
        let workers = runtime.map_or(0, |runtime| runtime.workers);
        Self {
            mode: AtomicU8::new(mode as u8),
            name: name.into(),
            placement,
            runtime: runtime.map(Arc::downgrade).unwrap_or_default(),
            bytes: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn mode(&self) -> Mode {
        match self.mode.load(edge(Edge::ObjectModeSeen, Ordering::Acquire)) {
            0 => Mode::InPlace,
            1 => Mode::Between,
            _ => Mode::Home,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn placement(&self) -> Placement {
        self.placement
    }

    /// Calls `f` with the processor at this address, if it is one of the class's runtime and that is not gone; with what `f` gives for one that is gone.
    pub(super) fn with_processor(
        &self,
        address: usize,
        f: impl FnOnce(&Processor) -> bool,
    ) -> bool {
        let Some(shared) = self.runtime.upgrade() else {
            // Its workers have left whatever they were inside of. That is known by an `Arc`'s count, which has been loaded without an order.
            std::sync::atomic::fence(Ordering::Acquire);
            return true;
        };
        let mut processors = shared.processors.iter();
        processors.find(|processor| std::ptr::from_ref(*processor).addr() == address).is_none_or(f)
    }

    /// The address of a processor that is to be the home of an object of so many bytes, if there is one; it is charged with them.
    pub(super) fn choose_home(&self, bytes: usize) -> Option<usize> {
        let shared = self.runtime.upgrade()?;
        let (number, total) =
            self.bytes.iter().enumerate().min_by_key(|(_, total)| total.load(Ordering::Relaxed))?;
        // What has no size is an object too.
        total.fetch_add(bytes.max(1), Ordering::Relaxed);
        Some(shared.home(number).addr())
    }

    /// The address of worker `number`'s processor.
    pub(super) fn home_at(&self, number: usize) -> Option<usize> {
        let shared = self.runtime.upgrade()?;
        (number < shared.workers).then(|| shared.home(number).addr())
    }

    /// The number of the worker whose processor is at this address.
    pub(super) fn number_of(&self, address: usize) -> Option<usize> {
        let shared = self.runtime.upgrade()?;
        (0..shared.workers).find(|&number| shared.home(number).addr() == address)
    }

    #[cfg_attr(
        not(all(test, any(loom, shuttle))),
        expect(dead_code, reason = "for the trial of a class")
    )]
    /// Has the objects entered as `mode` says, by the protocol of [`door`](super::door). False if that is not done yet, because a worker is inside an object for long: until it is
    /// called again, visitors take the objects from their homes. The caller is the only one that changes it, and inside of nothing.
    pub(super) fn change(&self, mode: Mode) -> bool {
        self.mode.store(Mode::Between as u8, Ordering::Relaxed);
        if mode == Mode::InPlace {
            if !self.have_hosts_left() {
                return false;
            }
        } else {
            fence::full(Edge::ObjectMode);
        }
        self.mode.store(mode as u8, edge(Edge::ObjectModeSet, Ordering::Release));
        true
    }

    /// Whether each worker has left what it was inside of when the mode became *between*.
    fn have_hosts_left(&self) -> bool {
        if !fence::is_asymmetric() {
            fence::full(Edge::ObjectMode);
        } else if !fence::heavy(Edge::ObjectMode) {
            return false;
        }
        let workers = self.runtime.upgrade();
        let mut workers = workers.iter().flat_map(|shared| &shared.processors[..shared.workers]);
        workers.all(|worker| worker.inside.has_been_left())
    }
}

/// The classes of a runtime by name.
#[derive(Debug, Default)]
pub(crate) struct Classes(Mutex<HashMap<Box<str>, Arc<Class>>>);

impl Classes {
    /// That of this name in `runtime`, whose classes these are; made with `placement` if there is none.
    pub(super) fn get(
        &self,
        name: &str,
        placement: Option<Placement>,
        runtime: Option<&Arc<Shared>>,
    ) -> Arc<Class> {
        let mut classes = lock(&self.0);
        if let Some(class) = classes.get(name) {
            return class.clone();
        }
        let class = Arc::new(Class::new(name, placement.unwrap_or_default(), runtime));
        classes.insert(name.into(), class.clone());
        class
    }
}

/// The classes of objects that are made outside of any runtime.
static NOWHERE: LazyLock<Classes> = LazyLock::new(Classes::default);

/// The class of this name in the runtime of the calling thread.
pub(super) fn here(name: &str, placement: Option<Placement>) -> Arc<Class> {
    enter::with(|handle| match handle {
        Some(handle) => handle.shared().classes.get(name, placement, Some(handle.shared())),
        None => NOWHERE.get(name, placement, None),
    })
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class").field("name", &self.name).finish_non_exhaustive()
    }
}
