//! Runs closures that block, on threads of their own.
//!
//! A closure is a task like others, with a future that is complete after one poll, so that it has
//! the same handle. No processor registers it. It goes into the queue of
//! [`Blocking`](crate::processor::blocking), which has the protocol, and a blocking thread polls
//! it.

use crate::processor::blocking::Pushed;
use crate::processor::current::{self, Kind};
use crate::processor::shared::Shared;
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::Room;
use crate::raw_task::id;
use crate::raw_task::rights::Runnable;
use crate::scheduler::driver::Place;
use crate::scheduler::{run, spawn};
use crate::task::{self, JoinHandle, Name, TaskInfo};
use std::panic::Location;
use std::sync::Arc;

/// Queues a closure of `shared`'s runtime, and makes sure that a thread runs it. A runtime that
/// takes no tasks from the caller takes no closure either.
pub(super) fn spawn<F, R, N>(
    shared: &Arc<Shared>,
    closure: F,
    name: N,
    site: &'static Location<'static>,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
    N: Name,
{
    let make = |birth| task::make(async move { closure() }, name, site, birth);
    if shared.refuses_spawns() || !shared.enter_jobs(1) {
        return spawn::refused(make);
    }
    let birth = Birth { home: std::ptr::null(), id: id::take_one(), room: Room::Compact };
    let (task, join) = make(birth);
    shared.clock.come();
    match shared.blocking.push(task) {
        Pushed::Awaited => {}
        Pushed::NeedsThread => start(shared),
        Pushed::Refused(task) => drop(cancel(shared, task)),
    }
    join
}

/// Starts a thread. If the system refuses it, the existing threads do the work; if there are none,
/// the caller does.
fn start(shared: &Arc<Shared>) {
    let own = shared.clone();
    let started =
        shared.start_thread("blocking", move || work(&own, |done| own.blocking.take(done)));
    if started.is_err() {
        shared.blocking.refused_thread();
        work(shared, |done| shared.blocking.take_unattended(done));
    }
}

/// Runs the closures that `take` returns. Its argument is the closure that has run before.
fn work(shared: &Arc<Shared>, take: impl Fn(Option<usize>) -> Option<(Runnable, usize)>) {
    let entered = current::enter_as(Kind::Closures, shared);
    let mut done = None;
    while let Some((task, key)) = take(done) {
        run::run_elsewhere(task);
        shared.note_completed_outside();
        shared.go_outside();
        done = Some(key);
    }
    drop(entered);
    // If a closure has abandoned its runtime, and could start no thread that drives it, this one
    // does now.
    drop(Place::of(shared));
}

/// Refuses closures that are spawned from then on, and returns those that have not begun, aborted.
#[must_use]
pub(super) fn close(shared: &Shared) -> Vec<Runnable> {
    let queue = shared.blocking.close();
    queue.iter().for_each(run::abort_queued);
    queue
}

/// As [`close`], and drops the closures on this thread. Returns what it has cancelled.
pub(super) fn abort(shared: &Shared) -> Vec<TaskInfo> {
    close(shared).into_iter().map(|task| cancel(shared, task)).collect()
}

fn cancel(shared: &Shared, task: Runnable) -> TaskInfo {
    let info = TaskInfo::of(task.live());
    run::abort_queued(&task);
    run::cancel_elsewhere(shared, task);
    info
}
