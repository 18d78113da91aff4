//! Threads for closures that block.
//!
//! A closure is a task like others, with a future that is complete after one poll, so that it has
//! the same handle. It is not registered with a processor: it goes into this pool's queue, and the
//! thread that takes it out polls it.
//!
//! # Protocol
//! Everything is under one lock. A spawn queues its closure; if more are queued than threads are
//! idle, it starts a thread, up to the bound; otherwise it notifies one. A thread that has been
//! idle for a while leaves; how long is counted from when it last ran something, however often it
//! is notified of a closure that another thread takes. Notifications are made by whoever has
//! changed the state under the lock, and the state is looked at before every wait, so none is lost.

use super::enter;
use super::handle::Handle;
use crate::primitives::{Condvar, Mutex, MutexGuard, lock};
use crate::scheduler::run;
use crate::scheduler::shared::Shared;
use crate::task::blocks::Room;
use crate::task::rights::Runnable;
use crate::task::{self, Birth, JoinHandle, TaskInfo};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most threads: Tokio's number, which its users have come to count on.
pub(super) const MOST_THREADS: usize = 512;

/// How long an idle thread stays.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The threads of one runtime.
#[derive(Debug)]
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Tells idle threads of a closure, or of the end.
    queued: Condvar,
    /// Tells whoever ends the runtime that the last thread has left.
    left: Condvar,
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
    pub(crate) fn new(shared: Arc<Shared>, name: String, stack_size: Option<usize>) -> Self {
        let state = Mutex::new(State::default());
        Self { state, queued: Condvar::new(), left: Condvar::new(), shared, name, stack_size }
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
        self.shared.clock.come();
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
            self.queued.notify_one();
        }
        join
    }

    /// Starts a thread. If the system refuses, the threads that are there do the work; if there are
    /// none, this one does.
    fn start(self: &Arc<Self>, handle: &Handle) {
        let (pool, handle) = (self.clone(), handle.clone());
        let started = self.thread("blocking").spawn(move || {
            let _entered = enter::enter(&handle);
            drop(handle);
            OWN_POOL.with(|own| own.set(Arc::as_ptr(&pool)));
            pool.work();
        });
        if started.is_err() {
            let mut state = lock(&self.state);
            self.leave(&mut state);
            let task = if state.threads == 0 { state.queue.pop_front() } else { None };
            drop(state);
            if let Some(task) = task {
                self.run(task);
            }
        }
    }

    /// A thread of the runtime's, for this role.
    pub(super) fn thread(&self, role: &str) -> std::thread::Builder {
        let builder = std::thread::Builder::new().name(format!("{}-{role}", self.name));
        match self.stack_size {
            Some(size) => builder.stack_size(size),
            None => builder,
        }
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            if state.queue.is_empty() {
                state = self.wait_for_work(state);
            }
            let Some(task) = state.queue.pop_front() else { break };
            let info = TaskInfo::of(task.live());
            let id = info.id;
            state.running.push(info);
            drop(state);
            self.run(task);
            state = lock(&self.state);
            state.running.retain(|running| running.id != id);
        }
        self.leave(&mut state);
    }

    /// Waits until a closure is queued. If none is when this returns, the thread has to leave.
    fn wait_for_work<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let end = Instant::now() + KEEP_ALIVE;
        state.idle += 1;
        while state.queue.is_empty() && !state.closed {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let waited = self.queued.wait_timeout(state, rest);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        state.idle -= 1;
        state
    }

    /// Counts a thread out.
    fn leave(&self, state: &mut State) {
        state.threads -= 1;
        if state.threads == 0 {
            self.left.notify_all();
        }
    }

    /// Refuses what is spawned from then on, and gives what has not begun, which the caller sees
    /// cancelled.
    #[must_use]
    pub(super) fn close(&self) -> Vec<Runnable> {
        let mut state = lock(&self.state);
        state.closed = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.queued.notify_all();
        queue.iter().for_each(run::abort_queued);
        queue.into()
    }

    /// The same, and cancels it on this thread. Gives what it cancelled.
    pub(super) fn abort(&self) -> Vec<TaskInfo> {
        self.close().into_iter().map(|task| self.cancel(task)).collect()
    }

    fn cancel(&self, task: Runnable) -> TaskInfo {
        let info = TaskInfo::of(task.live());
        run::abort_queued(&task);
        run::cancel_elsewhere(&self.shared, task);
        info
    }

    fn run(&self, task: Runnable) {
        run::run_elsewhere(task);
        self.shared.note_completed_outside();
        self.shared.go_outside();
    }

    /// Whether the calling thread is one of this pool's.
    pub(super) fn is_own_thread(&self) -> bool {
        OWN_POOL.with(|own| std::ptr::eq(own.get(), self))
    }

    /// Waits until all threads have left, or until `deadline`, and gives what still runs.
    pub(super) fn join(&self, deadline: Option<Instant>) -> Vec<TaskInfo> {
        let mut state = lock(&self.state);
        while state.threads > 0 {
            state = match deadline {
                None => self.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(deadline) => {
                    let rest = deadline.saturating_duration_since(Instant::now());
                    if rest.is_zero() {
                        break;
                    }
                    let waited = self.left.wait_timeout(state, rest);
                    waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
            };
        }
        state.running.clone()
    }
}
