//! The hooks by which the rest of the library reports to the graph, for builds without one: they do
//! nothing.

use super::report::{Deadlock, DeadlockHook};
use crate::raw_task::header::Live;
use crate::raw_task::id::Id;
use std::sync::Arc;

/// Whether this build detects deadlocks.
pub(crate) const IS_ON: bool = false;

/// A place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site;

impl Site {
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self
    }
}

/// The number by which a graph would know a monitor or a semaphore.
#[derive(Debug)]
pub(crate) struct Object;

impl Object {
    #[inline(always)]
    pub(crate) const fn monitor<T>() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) const fn semaphore(_permits: usize) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn promise_lock(&mut self) {}

    #[inline(always)]
    pub(crate) fn entered(&self) {}

    #[inline(always)]
    pub(crate) fn left(&self) {}

    #[inline(always)]
    pub(crate) fn taken(&self) {}

    #[inline(always)]
    pub(crate) fn given(&self, _permits: usize) {}

    #[inline(always)]
    pub(crate) fn awaited(
        &self,
        _node: *const (),
        _site: Site,
        _open: bool,
        _waiter: impl FnOnce() -> Option<Waiting>,
    ) {
    }

    #[inline(always)]
    pub(crate) fn held_meanwhile(&self, _node: *const ()) {}
}

#[inline(always)]
pub(crate) fn signalled(_node: *const ()) {}

#[inline(always)]
pub(crate) fn granted(_node: *const ()) {}

#[inline(always)]
pub(crate) fn gone(_node: *const ()) {}

#[inline(always)]
pub(crate) fn renewed(_node: *const (), _waiter: impl FnOnce() -> Option<Waiting>) {}

#[inline(always)]
pub(crate) fn joins(_task: Id, _waiter: impl FnOnce() -> Option<Waiting>) {}

#[inline(always)]
pub(crate) fn joined(_task: Id) {}

#[inline(always)]
pub(crate) fn spawned(_task: Id) {}

#[inline(always)]
pub(crate) fn completed(_task: Live<'_>) {}

/// A wait for an unpark.
#[derive(Debug)]
pub(crate) struct Parking;

impl Parking {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn begin(&mut self) {}
}

/// No waiter.
pub(crate) struct Waiting;

impl Waiting {
    #[inline(always)]
    pub(crate) fn task(_task: Live<'_>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn thread(_datum: *const ()) -> Option<Self> {
        None
    }
}

/// What wakes a thread in `block_on`.
pub(crate) trait Alarm: Send + Sync {
    #[allow(dead_code, reason = "a graph would call it")]
    fn is_woken(&self) -> bool;
}

/// A poll.
pub(crate) struct Polling;

impl Polling {
    #[inline(always)]
    pub(crate) fn begin(_task: Live<'_>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn check(self, _hook: Option<&DeadlockHook>) {}
}

#[inline(always)]
pub(crate) fn in_closure<R>(_task: Live<'_>, f: impl FnOnce() -> R) -> R {
    f()
}

#[inline(always)]
pub(crate) fn look_again(_hook: Option<&DeadlockHook>) -> bool {
    false
}

/// None is known.
pub(crate) fn deadlocks() -> Vec<Deadlock> {
    Vec::new()
}

/// A `block_on` of this thread.
pub(crate) struct Blocking;

impl Blocking {
    #[inline(always)]
    pub(crate) fn begin<A: Alarm + 'static>(_alarm: &Arc<A>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn sleep(&self, _hook: impl FnOnce() -> Option<DeadlockHook>) {}

    #[inline(always)]
    pub(crate) fn wake(&self) {}
}

// Nothing is left of it.
const _: () = assert!(size_of::<(Site, Object, Parking, Polling, Blocking)>() == 0);
