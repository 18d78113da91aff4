//! Who sends: keeps the [`Trail`] of each task that sends to other nodes.
//!
//! A task's trail is found by the task's address. That is the number of one task at a time; a task that is allocated where another was goes on
//! with its trail, which names a lane that is then flushed once without need. So trails are never removed, and there are as many as there have been such tasks at once.
//!
//! With one worker a task that sends has no choice of lanes, so its trail is always new, and nothing is looked up. What no task sends goes by the common lane.
//!
//! Rejected: the trail in the actor, which makes each actor larger, or each poll longer by a thread's variable.

use super::hash::Numbers;
use crate::node::multiplexer::Trail;
use evenkeel::internal::running;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Maps of trails, so that workers seldom meet at one. An estimate; no benchmark sets it.
const SHARDS: usize = 16;

/// Trails that a thread remembers. An estimate: some hundred actors take turns on a worker; no benchmark sets it.
const REMEMBERED: usize = 256;

type Remembered = Cell<Option<(u32, usize, &'static Trail)>>;

thread_local! {
    /// By address; which trail a task has never changes.
    static CACHE: [Remembered; REMEMBERED] = const { [const { Cell::new(None) }; REMEMBERED] };
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// The trails of those who send from one node.
pub(crate) struct Senders {
    /// Tells nodes of one process apart.
    number: u32,
    alone: bool,
    trails: [Mutex<HashMap<usize, &'static Trail, Numbers>>; SHARDS],
}

impl Senders {
    /// For a node with so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            alone: workers == 1,
            trails: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Runs `f`, in which the running task sends.
    #[inline]
    pub(crate) fn under<R>(&self, f: impl FnOnce() -> R) -> R {
        match running() {
            None => f(),
            Some(_) if self.alone => Trail::new().under(f),
            Some(task) => self.of(task).under(f),
        }
    }

    fn of(&self, task: usize) -> &'static Trail {
        // Addresses are multiples of a cache line.
        let at = (task >> 6) % REMEMBERED;
        CACHE.with(|cache| match cache[at].get() {
            Some((number, known, trail)) if number == self.number && known == task => trail,
            _ => {
                let mut trails = self.trails[(task >> 6) % SHARDS]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let trail =
                    *trails.entry(task).or_insert_with(|| Box::leak(Box::new(Trail::new())));
                cache[at].set(Some((self.number, task, trail)));
                trail
            }
        })
    }
}
