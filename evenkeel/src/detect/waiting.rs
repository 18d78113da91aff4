//! Waiters, and whether an unknown waker may wake them.

use super::report::Waiter;
use crate::raw_task::header::Live;
use crate::raw_task::id::Id;
use crate::raw_task::report::TaskInfo;
use crate::raw_task::rights::Reference;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Weak};

/// A task or a thread that waits.
#[derive(Clone)]
pub(crate) enum Waiting {
    Task(Reference),
    Thread(Arc<Sleeper>),
}

/// What wakes a thread in `block_on`: an `Arc`, the clones of which are the wakers.
pub(crate) trait Alarm: Send + Sync {
    /// Whether the thread has been woken.
    fn is_woken(&self) -> bool;
}

/// A thread in `block_on`.
pub(crate) struct Sleeper {
    pub(super) waiter: Waiter,
    pub(super) alarm: Weak<dyn Alarm>,
    /// Whether the thread sleeps, or is about to. Changed only with the graph locked.
    pub(super) asleep: AtomicBool,
}

/// References to an alarm that are no wakers: the thread's own, its waker, and the reader's.
const OWN: usize = 3;

/// The state of a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulse {
    /// It runs, or is about to.
    Awake,
    /// It sleeps, and an unknown waker may wake it.
    Open,
    /// It sleeps, and all of its wakers are known.
    Asleep,
}

impl Waiting {
    /// A task.
    pub(crate) fn task(task: Live<'_>) -> Self {
        Self::Task(Reference::of(task))
    }

    pub(super) fn id(&self) -> Id {
        match self {
            Self::Task(task) => task.live().footer().id,
            Self::Thread(thread) => thread.waiter.id(),
        }
    }

    /// False of a `block_on` inside which its thread has begun another.
    pub(super) fn is_asleep(&self) -> bool {
        match self {
            Self::Task(_) => true,
            Self::Thread(thread) => thread.asleep.load(Ordering::Relaxed),
        }
    }

    /// The waiter's state, if it has `waits` waits, and at least `publics` references that are no
    /// wakers.
    pub(super) fn pulse(&self, waits: usize, publics: usize) -> Pulse {
        match self {
            Self::Task(task) => {
                // One load of one word: what it says is true of one moment.
                let word = task.state.load();
                if !word.is_idle() || word.is_complete() || word.is_aborted() {
                    return Pulse::Awake;
                }
                // Each wait has one reference where it waits, and one in the graph.
                let known = word.references() == (2 * waits + publics) as u64;
                if known { Pulse::Asleep } else { Pulse::Open }
            }
            Self::Thread(thread) => {
                let Some(alarm) = thread.alarm.upgrade() else { return Pulse::Awake };
                let wakers = Arc::strong_count(&alarm) - OWN;
                // What a waker did before it was dropped is visible below.
                fence(Ordering::Acquire);
                if alarm.is_woken() {
                    Pulse::Awake
                } else if wakers == waits {
                    Pulse::Asleep
                } else {
                    Pulse::Open
                }
            }
        }
    }

    pub(super) fn describe(&self) -> Waiter {
        match self {
            Self::Task(task) => Waiter::Task(TaskInfo::of(task.live())),
            Self::Thread(thread) => thread.waiter.clone(),
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe().fmt(f)
    }
}
