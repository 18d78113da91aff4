//! What actors of one node share.

use crate::report::{ActorFailure, Failures};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What the actors of one node share: names, groups, dead letters, counters. Cheap to copy.
///
/// A program has one without asking for it; one per node where there are several nodes in a process. A system is never freed.
///
/// In an actor it takes four bytes: its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct System(u32);

#[derive(Debug, Default)]
struct Inner {
    dead_letters: AtomicU64,
    failures: Failures,
}

/// All there have been.
static SYSTEMS: boxcar::Vec<Inner> = boxcar::Vec::new();

impl System {
    /// A new system, which shares nothing with others.
    #[must_use]
    pub fn new() -> Self {
        let number = SYSTEMS.push(Inner::default());
        Self(u32::try_from(number).expect("there are fewer systems than actors"))
    }

    fn inner(self) -> &'static Inner {
        &SYSTEMS[self.0 as usize]
    }

    /// The system of the actor that is running, or that of the process; inside a run of the [kit](crate::kit), that of the run.
    #[must_use]
    pub fn current() -> Self {
        if evenkeel::internal::is_deterministic()
            && let Some(system) = crate::kit::system()
        {
            return system;
        }
        static DEFAULT: OnceLock<System> = OnceLock::new();
        *DEFAULT.get_or_init(Self::new)
    }

    /// How many messages nobody has handled.
    #[must_use]
    pub fn dead_letters(self) -> u64 {
        self.inner().dead_letters.load(Ordering::Relaxed)
    }

    /// Has `observer` called for each actor of this system that fails: that panics, or whose handler returns an error. It replaces the one before. The
    /// default prints a line to the standard error, so that nothing fails in silence.
    ///
    /// It is called by the actor that fails, before its watchers and its supervisor are told. A panic in it is caught.
    ///
    /// # Examples
    /// See [`Supervisor`](crate::Supervisor).
    pub fn on_failure(self, observer: impl Fn(&ActorFailure) + Send + Sync + 'static) {
        self.inner().failures.observe(Arc::new(observer));
    }

    pub(crate) fn failures(self) -> &'static Failures {
        &self.inner().failures
    }

    pub(crate) fn note_dead_letters(self, messages: u64) {
        self.inner().dead_letters.fetch_add(messages, Ordering::Relaxed);
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
