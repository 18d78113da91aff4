//! A class of objects: those of one kind in one runtime, which share how they are entered.

use crate::primitives::atomic::{AtomicU8, AtomicUsize, Edge, Ordering};
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
    /// Its processors. They stay where they are for as long as an object may have one of them as its home: those of another runtime never have the same addresses.
    processors: Arc<[Processor]>,
    /// What the homes at each processor come to, in bytes.
    bytes: Box<[AtomicUsize]>,
}

impl Class {
    fn new(name: &str, placement: Placement, runtime: Option<&Arc<Shared>>) -> Self {
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
            processors: runtime.map(|runtime| runtime.processors.clone()).unwrap_or_default(),
            bytes: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn mode(&self) -> Mode {
        match self.mode.load(Ordering::Acquire) {
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

    /// The processor at this address, which is that of a home.
    pub(super) fn processor(&self, address: usize) -> Option<&Processor> {
        self.processors.iter().find(|processor| std::ptr::from_ref(*processor).addr() == address)
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

    #[expect(dead_code, reason = "for the trial of a class")]
    /// Has the objects entered as `mode` says. The caller is the only one that changes it.
    pub(super) fn change(&self, mode: Mode) {
        self.mode.store(Mode::Between as u8, Ordering::Release);
        fence::full(Edge::ObjectMode);
        self.mode.store(mode as u8, Ordering::Release);
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
