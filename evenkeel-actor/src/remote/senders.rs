//! The senders of a node: keeps the [`Trail`] of each task that sends to other nodes.
//!
//! A task's trail is found by the task's address, which one task at a time has. A task that is
//! allocated where another was goes on with that one's trail. The trail names a lane that is then
//! flushed once without need.
//!
//! # How trails end
//! Tasks do not report that they end. So a sweep is due when there are twice as many trails as the
//! last sweep left, and at least [`FIRST_SWEEP`]. The multiplexer then begins an
//! [epoch](crate::node::multiplexer): all lanes are flushed and fenced. The trails of tasks that
//! have sent nothing since are forgotten, whether these tasks exist or not. A task that exists, and
//! sends again, begins a new trail. A thread that remembers a trail finds that it is removed. When
//! the node's host has ended, all are forgotten.
//!
//! With one worker thread and no reliefs, a task of the node's runtime has no choice of lanes when
//! it sends. So its trail is always new, and nothing is looked up. Tasks of other runtimes send by
//! a node too, by the lanes of their own workers: so the only worker is told which node it belongs
//! to. A worker that is not told yet, or was told later of another node of the same runtime, looks
//! trails up, which is right everywhere. What no task sends goes by the common lane.
//!
//! # Rejected
//! The trail in the actor, or in the task: it makes each of them larger, also those that never
//! send. A trail in a thread-local variable that each poll sets: it makes each poll longer. A trail
//! for ever: memory for each task that has sent once. Removing trails at random and fencing tasks
//! without one: each new task's first frame is then read alone.

use crate::node::multiplexer::{Multiplexer, Trail};
use crate::primitives::hash::Numbers;
use evenkeel::Handle;
use evenkeel::internal::running;
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maps of trails, so that workers seldom meet at one. An estimate; no benchmark sets it.
const SHARDS: usize = 16;

/// Trails that a thread remembers. An estimate: some hundred actors take turns on a worker; no
/// benchmark sets it.
const REMEMBERED: usize = 256;

/// The number of trails at which the first epoch begins. An estimate: 100 kB; no benchmark sets it.
const FIRST_SWEEP: usize = 1_024;

/// The node's number, the task and its trail.
type Remembered = Cell<Option<(u32, usize, Arc<Trail>)>>;

thread_local! {
    /// By address.
    static CACHE: [Remembered; REMEMBERED] = const { [const { Cell::new(None) }; REMEMBERED] };
}

thread_local! {
    /// The number of the [`Senders`] of the node that this thread is the only worker of, or zero.
    static ONLY_WORKER: Cell<u32> = const { Cell::new(0) };
}

static NEXT: AtomicU32 = AtomicU32::new(1);

type Shard = HashMap<usize, Arc<Trail>, Numbers>;

/// The trails of the tasks that send from one node.
pub(crate) struct Senders {
    /// Tells nodes of one process apart; not zero.
    number: u32,
    multiplexer: Arc<Multiplexer>,
    trails: [Mutex<Shard>; SHARDS],
    /// The number of trails.
    len: AtomicUsize,
    /// The number of trails at which the next epoch begins; locked while it does.
    sweep_at: Mutex<usize>,
}

/// Whether one thread polls all tasks of the runtime for as long as the runtime exists.
pub(super) fn has_one_thread(runtime: &Handle) -> bool {
    runtime.workers() == 1 && runtime.reliefs() == 0 && !runtime.is_current_thread()
}

impl Senders {
    /// For a node of this runtime.
    pub(crate) fn new(runtime: &Handle, multiplexer: Arc<Multiplexer>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        if has_one_thread(runtime) {
            drop(runtime.spawn(async move { ONLY_WORKER.set(number) }));
        }
        Self {
            number,
            multiplexer,
            trails: std::array::from_fn(|_| Mutex::default()),
            len: AtomicUsize::new(0),
            sweep_at: Mutex::new(FIRST_SWEEP),
        }
    }

    /// Runs `f`, in which the running task sends.
    #[inline]
    pub(crate) fn under<R>(&self, f: impl FnOnce() -> R) -> R {
        match running() {
            None => f(),
            Some(_) if ONLY_WORKER.get() == self.number => Trail::under_new(f),
            Some(task) => self.under_trail_of(task, f),
        }
    }

    fn under_trail_of<R>(&self, task: usize, f: impl FnOnce() -> R) -> R {
        // Addresses are multiples of a cache line.
        let at = (task >> 6) % REMEMBERED;
        // Taken out, since `f` may come here again. A thread that has lost its thread-local
        // variables remembers nothing.
        let remembered = CACHE.try_with(|cache| cache[at].take()).ok().flatten();
        let trail = match remembered {
            Some((number, known, trail))
                if number == self.number && known == task && !trail.is_removed() =>
            {
                trail
            }
            _ => self.find(task),
        };
        let done = trail.under_or(|left| self.keep(task, left), f);
        let _ = CACHE.try_with(|cache| cache[at].set(Some((self.number, task, trail))));
        done
    }

    fn shard(&self, task: usize) -> MutexGuard<'_, Shard> {
        let shard = &self.trails[(task >> 6) % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the trail of a task, a new one if there is none.
    #[cold]
    fn find(&self, task: usize) -> Arc<Trail> {
        if self.len.load(Ordering::Relaxed) >= FIRST_SWEEP {
            self.sweep();
        }
        let mut shard = self.shard(task);
        let trail = shard.entry(task).or_insert_with(|| {
            self.len.fetch_add(1, Ordering::Relaxed);
            Arc::new(Trail::new())
        });
        Arc::clone(trail)
    }

    /// Keeps the trail of a task that was removed while the task was sending.
    #[cold]
    fn keep(&self, task: usize, left: Trail) {
        let mut shard = self.shard(task);
        match shard.entry(task) {
            // The task has sent inside of this send.
            Entry::Occupied(trail) => trail.get().take_over(&left),
            Entry::Vacant(none) => {
                none.insert(Arc::new(left));
                self.len.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Begins an epoch if one is due, and forgets the trails that are older.
    #[cold]
    fn sweep(&self) {
        // A thread that finds another one sweeping goes on.
        let Ok(mut sweep_at) = self.sweep_at.try_lock() else { return };
        if self.len.load(Ordering::Relaxed) < *sweep_at {
            return;
        }
        let begun = self.multiplexer.begin_epoch();
        for shard in &self.trails {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let before = shard.len();
            shard.retain(|_, trail| !trail.remove_before(begun));
            self.len.fetch_sub(before - shard.len(), Ordering::Relaxed);
            let room = 2 * shard.len().max(FIRST_SWEEP / SHARDS);
            shard.shrink_to(room);
        }
        *sweep_at = FIRST_SWEEP.max(2 * self.len.load(Ordering::Relaxed));
    }

    /// Forgets all trails: nothing is put in any more.
    pub(crate) fn clear(&self) {
        for shard in &self.trails {
            let trails = std::mem::take(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner));
            self.len.fetch_sub(trails.len(), Ordering::Relaxed);
        }
    }

    /// The number of trails that are kept.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_SWEEP, Senders};
    use crate::node::multiplexer::Multiplexer;
    use crate::node::policy::Packing;
    use crate::node::{FrameError, NodeId};
    use evenkeel::sync::Semaphore;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Runs `tasks` tasks at once, each of which sends one message; returns the number of trails
    /// left.
    fn trails_of(tasks: usize) -> usize {
        let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
        let multiplexer = Multiplexer::new(NodeId::new(0), 2, 2, Packing::default());
        let senders = Senders::new(&runtime.handle(), Arc::clone(&multiplexer));
        let (senders, gate) = (Arc::new(senders), Arc::new(Semaphore::new(0)));
        let link = multiplexer.link(NodeId::new(1)).unwrap();
        let sent = Arc::new(AtomicUsize::new(0));
        let all: Vec<_> = (0..tasks)
            .map(|_| {
                let (senders, gate) = (Arc::clone(&senders), Arc::clone(&gate));
                let (link, sent) = (link.clone(), Arc::clone(&sent));
                runtime.spawn(async move {
                    let write = |out: &mut Vec<u8>| {
                        out.push(7);
                        Ok::<_, FrameError>(())
                    };
                    senders.under(|| link.put_anyway(write)).unwrap();
                    sent.fetch_add(1, Ordering::SeqCst);
                    // Each task exists until the last has sent.
                    gate.take().await;
                    gate.add_permits(1);
                })
            })
            .collect();
        runtime.block_on(async {
            while sent.load(Ordering::SeqCst) < tasks {
                evenkeel::yield_now().await;
            }
            gate.add_permits(1);
            for task in all {
                task.await.unwrap();
            }
        });
        let left = senders.len();
        senders.clear();
        assert_eq!(senders.len(), 0);
        left
    }

    #[test]
    fn tasks_that_send_once_leave_no_trails() {
        let left = trails_of(100_000);
        assert!(left <= 4 * FIRST_SWEEP, "{left} trails of 100,000 tasks are left");
    }
}
