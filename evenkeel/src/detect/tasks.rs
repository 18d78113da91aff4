//! Tasks: which one a thread acts for, what it waits for, and what it spawns.

use super::extra::{Extra, IS_ON};
use super::graph::{self, Key, Target};
use super::report::DeadlockHook;
use super::search;
use super::waiting::Waiting;
use crate::raw_task::header::Live;
use crate::raw_task::id::{self, Id};
use crate::raw_task::report::TaskInfo;
use std::cell::{Cell, RefCell};

thread_local! {
    /// The task that this thread polls.
    static TASK: Cell<Option<Id>> = const { Cell::new(None) };
    /// The thread's own number.
    static THREAD: Cell<Option<Id>> = const { Cell::new(None) };
    /// What is known of the task, if it is a closure that may block.
    static CLOSURE: RefCell<Option<TaskInfo>> = const { RefCell::new(None) };
}

/// The task or thread that this thread acts for. None while the thread's own variables are being
/// destroyed.
pub(super) fn current() -> Option<Id> {
    let task = TASK.try_with(Cell::get).ok()?;
    let own = || {
        THREAD.try_with(|own| match own.get() {
            Some(id) => id,
            None => {
                let id = id::take_one();
                own.set(Some(id));
                id
            }
        })
    };
    task.or_else(|| own().ok())
}

/// What is known of the task that this thread acts for, if it is a closure that may block.
pub(super) fn closure() -> Option<TaskInfo> {
    CLOSURE.try_with(|closure| closure.borrow().clone()).ok().flatten()
}

/// Notes that a joiner waits for the end of a task.
#[inline]
pub(crate) fn joins(task: Id, waiter: impl FnOnce() -> Option<Waiting>) {
    if !IS_ON {
        return;
    }
    let Some(waiter) = waiter() else { return joined(task) };
    let (key, target) = (Key::Join(task), Target::Task(task));
    graph::change(|graph| graph.insert(key, waiter, target, None, false));
}

/// Notes that a task has no joiner that waits any more.
#[inline]
pub(crate) fn joined(task: Id) {
    graph::forget(Key::Join(task));
}

/// Notes that the caller is about to spawn a task with this number.
#[inline]
pub(crate) fn spawned(task: Id) {
    if (graph::has_holds() || graph::has_replies())
        && let Some(parent) = current()
    {
        let mut graph = graph::lock();
        graph.spawn(parent, task);
        graph.pass(parent, task);
    }
}

/// Notes that the caller is about to fork a job, which may get what the caller holds. Returns its
/// number if it may.
#[inline]
pub(crate) fn forked() -> Option<Id> {
    let may = IS_ON && (graph::has_holds() || graph::has_replies()) && current().is_some();
    may.then(|| {
        let job = id::take_one();
        spawned(job);
        job
    })
}

/// Notes that a job is over, and what it had is gone.
#[inline]
pub(crate) fn ended(job: Option<Id>) {
    if let Some(job) = job {
        graph::lock().complete(job);
    }
}

/// Notes that a task's future is gone.
#[inline]
pub(crate) fn completed(task: Live<'_>) {
    if graph::has_carriers() {
        graph::lock().complete(task.footer().id);
    }
}

/// A wait for an unpark.
#[derive(Debug)]
pub(crate) struct Parking(Extra<Parked>);

/// The task that waits.
#[derive(Debug)]
struct Parked(Option<Id>);

impl Parking {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(Extra::new(Parked(None)))
    }

    /// Notes that the task waits for an unpark.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if let Some(Parked(parked)) = self.0.get_mut()
            && parked.is_none()
            && let Some(id) = current()
        {
            graph::lock().park(id);
            *parked = Some(id);
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            graph::lock().unpark(id);
        }
    }
}

/// While this lives, the thread acts for a task.
pub(crate) struct Polling(Extra<Turn>);

struct Turn {
    id: Id,
    before: Option<Id>,
}

impl Polling {
    #[inline]
    pub(crate) fn begin(task: Live<'_>) -> Self {
        Self(Extra::of(|| {
            let id = task.footer().id;
            let before = TASK.try_with(|own| own.replace(Some(id))).ok().flatten();
            Turn { id, before }
        }))
    }

    /// Searches for deadlocks that the task waits in after its poll, and reports them.
    #[inline]
    pub(crate) fn check(self, hook: Option<&DeadlockHook>) {
        let id = {
            let Self(turn) = self;
            turn.get().map(|turn| turn.id)
        };
        if let Some(id) = id
            && graph::has_waits()
        {
            search::check(id, hook);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // While the thread's variables are destroyed there is nothing to restore.
        let _ = TASK.try_with(|own| own.set(self.before));
    }
}

/// Calls `f`, which runs a closure that may block, with the thread acting for `task`.
#[inline]
pub(crate) fn in_closure<R>(task: Live<'_>, f: impl FnOnce() -> R) -> R {
    if !IS_ON {
        return f();
    }
    let info = TaskInfo::of(task);
    let before = CLOSURE.try_with(|closure| closure.replace(Some(info))).ok().flatten();
    let _polling = Polling::begin(task);
    let result = f();
    let _ = CLOSURE.try_with(|closure| closure.replace(before));
    result
}
