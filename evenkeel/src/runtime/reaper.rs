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
//!
//! # Why no task waits for another's destructor
//! While the queue has a task there is a watch: a submitter starts one, and a watch looks at the
//! queue under the lock before it leaves. So a destructor that blocks keeps its own thread, and
//! after [`PATIENCE`] another thread goes on. Reapers also go on when the ender has returned: their
//! work keeps no caller waiting. If the system refuses a thread, or [`MOST_THREADS`] are inside
//! destructors, the queue waits for one of these; if there is no other thread at all, the submitter
//! drops the futures itself.
//!
//! # Rejected
//! A thread per task, as for closures that block: most destructors are quick, and tasks may be
//! a million. The relief: a runtime may have none, and it may be stuck as well.

use crate::primitives::{Mutex, MutexGuard, lock};
use crate::processor::blocking::MOST_THREADS;
use crate::processor::current;
use crate::processor::shared::Shared;
use crate::raw_task::rights::Runnable;
use crate::scheduler::run;
use crate::task::{Id, TaskInfo};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a destructor may take before another thread goes on with the other tasks. An estimate:
/// far longer than starting a thread takes, and short beside a grace; no benchmark sets it.
const PATIENCE: Duration = Duration::from_millis(5);

/// The reapers, and their work.
pub(super) struct Reaper {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Runnable>,
    /// The futures that are being dropped, and since when.
    dropping: Vec<(TaskInfo, Instant)>,
    /// The number of tasks that have been taken out of the queue.
    taken: u64,
    threads: usize,
    is_watched: bool,
}

/// What the reapers have not done.
pub(super) struct Left {
    /// Tasks with destructors that have not returned for long.
    pub(super) stuck: Vec<TaskInfo>,
    /// All tasks that are not complete, the stuck ones among them.
    pub(super) all: HashSet<Id>,
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

    /// Returns what is left at the moment.
    pub(super) fn left(&self) -> Left {
        let state = lock(&self.state);
        let for_long = state.dropping.iter().filter(|(_, since)| since.elapsed() >= PATIENCE);
        let stuck = for_long.map(|(task, _)| task.clone()).collect();
        let queued = state.queue.iter().map(|task| task.live().footer().id);
        let all = queued.chain(state.dropping.iter().map(|(task, _)| task.id)).collect();
        Left { stuck, all }
    }

    /// Starts a watch. False if the system refuses it, or there are [`MOST_THREADS`].
    fn start_watch(self: &Arc<Self>, state: &mut State) -> bool {
        let reaper = self.clone();
        let watch = move || {
            let _entered = current::enter(&reaper.shared);
            reaper.watch();
        };
        state.is_watched =
            state.threads < MOST_THREADS && self.shared.thread("reaper").spawn(watch).is_ok();
        state.threads += usize::from(state.is_watched);
        state.is_watched
    }

    fn watch(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        let mut seen = None;
        while !state.queue.is_empty() {
            if seen == Some(state.taken) || state.dropping.is_empty() {
                self.start_watch(&mut state);
                state = self.reap(state);
                state.threads -= 1;
                return;
            }
            seen = Some(state.taken);
            drop(state);
            thread::sleep(PATIENCE);
            state = lock(&self.state);
        }
        state.is_watched = false;
        state.threads -= 1;
    }

    /// Drops futures until none is left in the queue.
    fn reap<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while let Some(task) = state.queue.pop_front() {
            let info = TaskInfo::of(task.live());
            let id = info.id;
            state.taken += 1;
            state.dropping.push((info, Instant::now()));
            drop(state);
            run::cancel_elsewhere(&self.shared, task);
            state = lock(&self.state);
            state.dropping.retain(|(task, _)| task.id != id);
        }
        state
    }
}
