//! Threads for closures that block.
//!
//! A closure is a task like others, with a future that is complete after one poll, so that it has the same
//! handle. It is not registered with a processor: it goes into this pool's queue, and the thread that takes
//! it out polls it.
//!
//! # Protocol
//! Everything is under one lock. A spawn queues its closure; if more are queued than threads are idle, it
//! starts a thread, up to the bound; otherwise it notifies one. An idle thread waits for a notification and
//! leaves when none has come for a while. Notifications are made under the lock and the queue is looked at
//! before every wait, so none is lost.

use super::enter;
use super::handle::Handle;
use crate::primitives::{Condvar, Mutex, lock};
use crate::scheduler::run;
use crate::scheduler::shared::Shared;
use crate::task::blocks::Room;
use crate::task::header::Runnable;
use crate::task::{self, Birth, JoinHandle, TaskInfo};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most threads: Tokio's number, which its users have come to count on.
const MOST_THREADS: usize = 512;

/// How long an idle thread stays.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The threads of one runtime.
#[derive(Debug)]
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Tells idle threads of a closure, and whoever ends the runtime of a thread that has left.
    changed: Condvar,
    shared: Arc<Shared>,
    name: String,
    stack_size: Option<usize>,
}

thread_local! {
    /// The pool whose thread this is.
    static OWN_POOL: Cell<*const Pool> = const { Cell::new(std::ptr::null()) };
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Runnable>,
    /// What runs, by thread.
    running: Vec<TaskInfo>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Pool {
    pub(super) fn new(shared: Arc<Shared>, name: String, stack_size: Option<usize>) -> Self {
        let (state, changed) = (Mutex::new(State::default()), Condvar::new());
        Self { state, changed, shared, name, stack_size }
    }

    pub(super) fn spawn<F, R>(
        self: &Arc<Self>,
        handle: &Handle,
        closure: F,
        site: &'static Location<'static>,
    ) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let id = task::id::take_one();
        let birth = Birth { home: std::ptr::null(), id, room: Room::Compact };
        let (task, join) = task::make(async move { closure() }, (), site, birth);
        self.shared.note_spawned_outside();
        let mut state = lock(&self.state);
        if state.closed {
            drop(state);
            self.cancel(task);
            return join;
        }
        state.queue.push_back(task);
        if state.queue.len() > state.idle && state.threads < MOST_THREADS {
            state.threads += 1;
            drop(state);
            self.start(handle);
        } else {
            self.changed.notify_one();
        }
        join
    }

    /// Starts a thread. If the system refuses, the threads that are there do the work; if there are none,
    /// this one does.
    fn start(self: &Arc<Self>, handle: &Handle) {
        let mut builder = std::thread::Builder::new().name(format!("{}-blocking", self.name));
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        let (pool, handle) = (self.clone(), handle.clone());
        let started = builder.spawn(move || {
            let _entered = enter::enter(&handle);
            drop(handle);
            OWN_POOL.with(|own| own.set(Arc::as_ptr(&pool)));
            pool.work();
        });
        if started.is_err() {
            let mut state = lock(&self.state);
            state.threads -= 1;
            let task = if state.threads == 0 { state.queue.pop_front() } else { None };
            drop(state);
            if let Some(task) = task {
                self.run(task);
            }
        }
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(task) = state.queue.pop_front() {
                let info = TaskInfo::of(task.live());
                let id = info.id;
                state.running.push(info);
                drop(state);
                self.run(task);
                state = lock(&self.state);
                state.running.retain(|running| running.id != id);
                self.changed.notify_all();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let (after, timeout) = self
                .changed
                .wait_timeout(state, KEEP_ALIVE)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            state = after;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        self.changed.notify_all();
    }

    /// Refuses what is spawned from then on, and cancels what has not begun. Gives what it cancelled.
    pub(super) fn close(&self) -> Vec<TaskInfo> {
        let mut state = lock(&self.state);
        state.closed = true;
        let queued = std::mem::take(&mut state.queue);
        drop(state);
        self.changed.notify_all();
        queued.into_iter().map(|task| self.cancel(task)).collect()
    }

    fn cancel(&self, task: Runnable) -> TaskInfo {
        let info = TaskInfo::of(task.live());
        run::abort_queued(&task);
        self.run(task);
        info
    }

    fn run(&self, task: Runnable) {
        run::run_elsewhere(task);
        self.shared.note_completed_outside();
    }

    /// Whether the calling thread is one of this pool's.
    pub(super) fn is_own_thread(&self) -> bool {
        OWN_POOL.with(|own| std::ptr::eq(own.get(), self))
    }

    /// Waits until all threads have left, or until `deadline`, and gives what still runs.
    pub(super) fn join(&self, deadline: Option<Instant>) -> Vec<TaskInfo> {
        self.wait(deadline, |state| state.threads == 0);
        lock(&self.state).running.clone()
    }

    fn wait(&self, deadline: Option<Instant>, done: impl Fn(&State) -> bool) -> bool {
        let mut state = lock(&self.state);
        while !done(&state) {
            let left = match deadline {
                None => KEEP_ALIVE,
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            };
            if left.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .0;
        }
        true
    }
}
