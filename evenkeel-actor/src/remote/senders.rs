//! Who sends: keeps the [`Trail`] of each task that sends to other nodes.
//!
//! A task's trail is found by the task's address. That is the number of one task at a time; a task that is allocated where another was goes on
//! with its trail, which names a lane that is then flushed once without need. So trails are never removed, and there are as many as there have been such tasks at once.
//!
//! With one worker a task of the node's runtime that sends has no choice of lanes, so its trail is always new, and nothing is looked up. Tasks of other runtimes send by a node too, and by the lanes of their own workers: so the
//! only worker is told whose it is. Where it is not, as yet or since another node of the same runtime was told after, trails are looked up, which is right everywhere. What no task sends goes by the common lane.
//!
//! Rejected: the trail in the actor, which makes each actor larger, or each poll longer by a thread's variable.

use super::hash::Numbers;
use crate::node::multiplexer::Trail;
use evenkeel::Handle;
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

thread_local! {
    /// Of which node this thread is the only worker: the number of its [`Senders`], or zero.
    static ONLY_WORKER: Cell<u32> = const { Cell::new(0) };
}

static NEXT: AtomicU32 = AtomicU32::new(1);

/// The trails of those who send from one node.
pub(crate) struct Senders {
    /// Tells nodes of one process apart; not zero.
    number: u32,
    trails: [Mutex<HashMap<usize, &'static Trail, Numbers>>; SHARDS],
}

impl Senders {
    /// For a node of a runtime with so many workers.
    pub(crate) fn new(runtime: &Handle, workers: usize) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        if workers == 1 {
            drop(runtime.spawn(async move { ONLY_WORKER.set(number) }));
        }
        Self { number, trails: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Runs `f`, in which the running task sends.
    #[inline]
    pub(crate) fn under<R>(&self, f: impl FnOnce() -> R) -> R {
        match running() {
            None => f(),
            Some(_) if ONLY_WORKER.get() == self.number => Trail::new().under(f),
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
