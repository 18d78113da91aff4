//! Drops the futures of tasks that stuck workers cannot come to.
//!
//! # Roles
//! The *ender*, the thread that ends a runtime after a deadline, submits tasks. *Reapers* are
//! threads that drop their futures, one after the other. The *watch* is one more thread, while
//! there are futures to drop.
//!
//! # Protocol
//! All is under one lock, which no caller's code runs under. *Submit*: the tasks go into the queue;
//! if there is no watch, the submitter starts one. *Watch*: it looks at the count of tasks that
//! have been taken out. If there is no reaper, or none has taken any since its last look, then all
//! reapers are inside destructors: the watch starts the next watch, and becomes a reaper. If the
//! queue is empty, it leaves. *Reap*: take a task, drop its future, until the queue is empty.
//! *Leave*: the ender learns what is left, and gives up the handles of tasks with destructors that
//! have not returned for [`PATIENCE`]. It adds the futures that workers are dropping. From then on
//! the watch gives handles up, after [`LEFT_FOR`], and stays as long as there is a future being
//! dropped whose handle is not given up.
//!
//! # Why no task waits for another's destructor
//! While the queue has a task there is a watch: a submitter starts one, and a watch looks at the
//! queue under the lock before it leaves. So a destructor that blocks keeps its own thread, and
//! after [`PATIENCE`] another thread goes on. Reapers also go on when the ender has returned: their
//! work keeps no caller waiting. If the system refuses a thread, or [`MOST_THREADS`] are inside
//! destructors, the watch stays, and the queue waits for one of these; if there is no other thread
//! at all, the submitter drops the futures itself.
//!
//! # Why no handle waits for a destructor
//! A future that is being dropped is in `dropping`, with a reference to its task. The ender looks
//! there as it leaves, and after it the watch, which does not leave before. A joiner's waker runs
//! outside of the lock.
//!
//! # Rejected
//! A thread per task, as for closures that block: most destructors are quick, and tasks may be
//! a million. Reliefs: a runtime may have none, and they may be stuck as well.

use crate::primitives::{Mutex, MutexGuard, lock};
use crate::processor::current;
use crate::processor::shared::Shared;
use crate::raw_task::id::Id;
use crate::raw_task::rights::{Reference, Runnable};
use crate::scheduler::run;
use crate::task::TaskInfo;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a destructor may take before another thread goes on with the other tasks. An estimate:
/// far longer than starting a thread takes, and short beside a grace; no benchmark sets it.
pub(super) const PATIENCE: Duration = Duration::from_millis(5);

/// How long a destructor may take, once the ender has left, before its handle is given up. An
/// estimate: longer than a busy system keeps a thread from running, which would pass for stuck; no
/// benchmark sets it.
const LEFT_FOR: Duration = Duration::from_millis(100);

/// The most reapers: as many destructors may block before the tasks behind them wait. No benchmark
/// sets it.
const MOST_THREADS: usize = 512;

/// The reapers, and their work.
pub(super) struct Reaper {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Runnable>,
    dropping: Vec<Dropping>,
    /// The number of tasks that have been taken out of the queue.
    taken: u64,
    threads: usize,
    is_watched: bool,
    /// Whether the ender has returned, or is about to.
    is_left: bool,
}

/// A future that is being dropped.
struct Dropping {
    task: Reference,
    since: Instant,
    /// Whether its handle is given up.
    is_given_up: bool,
    /// Whether a worker drops it, and no reaper.
    by_worker: bool,
}

impl Dropping {
    fn begins(task: Reference, by_worker: bool) -> Self {
        Self { task, since: Instant::now(), is_given_up: false, by_worker }
    }
}

impl State {
    /// Returns the tasks with destructors that have not returned for `time`. The caller gives their
    /// handles up.
    fn take_stuck(&mut self, time: Duration) -> Vec<Reference> {
        // No reaper takes those out whose futures workers drop.
        self.dropping.retain(|dropping| !dropping.task.state.load().is_complete());
        let dropping = self.dropping.iter_mut();
        let stuck = dropping.filter(|task| !task.is_given_up && task.since.elapsed() >= time);
        stuck
            .map(|stuck| {
                stuck.is_given_up = true;
                stuck.task.clone()
            })
            .collect()
    }

    /// Returns whether the watch has nothing to look for.
    fn is_done(&self) -> bool {
        let waits = |task: &Dropping| !task.is_given_up;
        self.queue.is_empty() && !(self.is_left && self.dropping.iter().any(waits))
    }
}

impl Reaper {
    pub(super) fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared, state: Mutex::default() })
    }

    /// Submits tasks: reapers drop their futures, and the tasks count as aborted from now on.
    pub(super) fn submit(self: &Arc<Self>, tasks: Vec<Runnable>) {
        if tasks.is_empty() {
            return;
        }
        let infos = tasks.iter().map(|task| TaskInfo::of(task.live()));
        self.shared.ending().aborted.extend(infos);
        let mut state = lock(&self.state);
        state.queue.extend(tasks);
        if !state.is_watched && !self.start_watch(&mut state) && state.threads == 0 {
            drop(self.reap(state));
        }
    }

    /// Returns the numbers of the submitted tasks that are not complete, and perhaps of some that
    /// are.
    pub(super) fn unfinished(&self) -> HashSet<Id> {
        let state = lock(&self.state);
        let queued = state.queue.iter().map(|task| task.live().footer().id);
        let dropping = state.dropping.iter().map(|dropping| dropping.task.live().footer().id);
        queued.chain(dropping).collect()
    }

    /// Returns the tasks with destructors that have not returned for long, for the ender, which is
    /// about to return: it gives their handles up. From here on the watch does that for tasks with
    /// destructors that block, the `dropped` ones too, whose futures workers drop.
    pub(super) fn leave(self: &Arc<Self>, dropped: Vec<Reference>) -> Vec<Reference> {
        let mut state = lock(&self.state);
        state.is_left = true;
        let mut stuck = state.take_stuck(PATIENCE);
        state.dropping.extend(dropped.into_iter().map(|task| Dropping::begins(task, true)));
        if !state.is_done() && !state.is_watched && !self.start_watch(&mut state) {
            // No thread looks later.
            stuck.extend(state.take_stuck(Duration::ZERO));
        }
        stuck
    }

    /// Starts a watch. False if the system refuses it, or there are [`MOST_THREADS`].
    fn start_watch(self: &Arc<Self>, state: &mut State) -> bool {
        let reaper = self.clone();
        let watch = move || {
            let _entered = current::enter(&reaper.shared);
            reaper.watch();
        };
        let is_started =
            state.threads < MOST_THREADS && self.shared.start_thread("reaper", watch).is_ok();
        state.is_watched |= is_started;
        state.threads += usize::from(is_started);
        is_started
    }

    fn watch(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        let mut seen = None;
        loop {
            let is_idle = state.dropping.iter().all(|dropping| dropping.by_worker);
            let is_needed = !state.queue.is_empty() && (is_idle || seen == Some(state.taken));
            if is_needed && (is_idle || state.threads < MOST_THREADS) {
                state.is_watched = false;
                if self.start_watch(&mut state) || is_idle {
                    break;
                }
                state.is_watched = true;
            }
            let stuck = if state.is_left { state.take_stuck(LEFT_FOR) } else { Vec::new() };
            if stuck.is_empty() && state.is_done() {
                state.is_watched = false;
                state.threads -= 1;
                return;
            }
            seen = Some(state.taken);
            drop(state);
            for task in stuck {
                run::give_up(&task);
            }
            thread::sleep(PATIENCE);
            state = lock(&self.state);
        }
        state = self.reap(state);
        state.threads -= 1;
    }

    /// Drops futures until none is left in the queue.
    fn reap<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while let Some(task) = state.queue.pop_front() {
            let (id, own) = (task.live().footer().id, Reference::of(task.live()));
            state.taken += 1;
            state.dropping.push(Dropping::begins(own, false));
            drop(state);
            run::cancel_elsewhere(&self.shared, task);
            state = lock(&self.state);
            state.dropping.retain(|dropping| dropping.task.live().footer().id != id);
        }
        state
    }
}
