//! What actors of one node share.

use crate::control::ActorId;
use crate::counters::Counters;
use crate::dead_letter::Subscribers;
use crate::group::Groups;
use crate::registry::Registry;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the actors of one node share: names, groups, dead letters, counters. Cheap to copy.
///
/// A program has one without asking for it; one per node where there are several nodes in a process. A system is never freed.
///
/// In an actor it takes four bytes: its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct System(u32);

#[derive(Debug)]
struct Inner {
    counters: Counters,
    registry: Registry,
    groups: Groups,
    subscribers: Subscribers,
    /// Whether the busy time of actors is measured that are spawned from now on.
    measures: AtomicBool,
}

impl Inner {
    const fn new() -> Self {
        Self {
            counters: Counters::new(),
            registry: Registry::new(),
            groups: Groups::new(),
            subscribers: Subscribers::new(),
            measures: AtomicBool::new(false),
        }
    }
}

/// That of the process.
static PROCESS: Inner = Inner::new();

thread_local! {
    /// That of the actor which this thread polls, if it is another than that of the process.
    static RUNNING: Cell<Option<System>> = const { Cell::new(None) };
}

/// All there have been beside it. The first has the number 1.
static SYSTEMS: boxcar::Vec<Box<Inner>> = boxcar::Vec::new();

impl System {
    /// A new system, which shares nothing with others.
    #[must_use]
    pub fn new() -> Self {
        let number = SYSTEMS.push(Box::new(Inner::new())) + 1;
        Self(u32::try_from(number).expect("there are fewer systems than actors"))
    }

    #[inline]
    fn inner(self) -> &'static Inner {
        match self.0 {
            0 => &PROCESS,
            number => &SYSTEMS[number as usize - 1],
        }
    }

    /// The system of the actor that is running, or that of the process. A task that an actor has spawned is not the actor.
    #[must_use]
    pub fn current() -> Self {
        RUNNING.get().unwrap_or(Self(0))
    }

    /// Calls `f`, which polls an actor of this system.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce() -> R) -> R {
        if self.0 == 0 {
            return f();
        }
        self.run_other(f)
    }

    #[inline(never)]
    fn run_other<R>(self, f: impl FnOnce() -> R) -> R {
        /// Puts back what was there, also after a panic.
        struct Back(Option<System>);
        impl Drop for Back {
            fn drop(&mut self) {
                RUNNING.set(self.0);
            }
        }
        let _back = Back(RUNNING.replace(Some(self)));
        f()
    }

    pub(crate) fn counters(self) -> &'static Counters {
        &self.inner().counters
    }

    /// Has the time that actors are busy be measured, or not any more, of those that are spawned from now on: see
    /// [`Builder::measure_busy_time`](crate::Builder::measure_busy_time).
    pub fn measure_busy_time(self, on: bool) {
        self.inner().measures.store(on, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn measures(self) -> bool {
        self.inner().measures.load(Ordering::Relaxed)
    }

    pub(crate) fn registry(self) -> &'static Registry {
        &self.inner().registry
    }

    pub(crate) fn groups(self) -> &'static Groups {
        &self.inner().groups
    }

    pub(crate) fn subscribers(self) -> &'static Subscribers {
        &self.inner().subscribers
    }

    /// Forgets an actor that has ended and was known by something here.
    #[cold]
    pub(crate) fn forget(self, actor: ActorId) {
        self.registry().forget(actor);
        self.groups().forget(actor);
    }
}

impl Default for System {
    fn default() -> Self {
        Self::current()
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}
