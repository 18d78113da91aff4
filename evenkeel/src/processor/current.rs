//! The current runtime of a thread.

use super::context;
use super::shared::{Phase, Shared};
use crate::primitives::thread::thread_local;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// Returns the current runtime of the thread: a worker's own, or the one that the thread is blocked
/// on.
pub(crate) fn shared() -> Option<Arc<Shared>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Calls `f` with the current runtime of the thread.
pub(crate) fn with<R>(f: impl FnOnce(Option<&Arc<Shared>>) -> R) -> R {
    // A thread that destroys its thread-locals has no current runtime; and `f` runs no caller's
    // code.
    let mut f = Some(f);
    let result = CURRENT.try_with(|current| f.take().map(|f| f(current.borrow().as_ref())));
    match (result.ok().flatten(), f) {
        (Some(result), _) => result,
        (None, Some(f)) => f(None),
        (None, None) => unreachable!("it is called once"),
    }
}

/// Makes a runtime the thread's current one until the guard is dropped.
pub(crate) fn enter(shared: &Arc<Shared>) -> Entered {
    Entered { before: CURRENT.with(|current| current.replace(Some(shared.clone()))) }
}

/// Restores the thread's former runtime when it is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    before: Option<Arc<Shared>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take();
        // At the end of the thread there is nothing to put back.
        let _ = CURRENT.try_with(|current| current.replace(before));
    }
}

impl Shared {
    /// Returns whether the calling thread is a worker of the runtime, or runs one of its blocking
    /// closures.
    pub(crate) fn is_own_thread(&self) -> bool {
        let own_worker = context::with_any(|context| {
            context.is_some_and(|context| std::ptr::eq(Arc::as_ptr(context.shared()), self))
        });
        own_worker || self.blocking.is_own_thread()
    }

    /// Returns whether a spawn by the calling thread comes too late.
    pub(crate) fn refuses_spawns(&self) -> bool {
        self.phase() != Phase::Running && !self.is_own_thread()
    }
}

/// Refuses to block a worker with the function of this name; the message names `instead` as the
/// thing to await.
///
/// # Panics
/// Panics if the thread is a worker.
#[track_caller]
pub(crate) fn refuse_on_worker(function: &str, instead: &str) {
    // The future of a deterministic run counts as a task, though it has no header.
    let in_task = context::with_any(|context| {
        context.map(|here| here.task().is_some() || here.shared().hooks.deterministic)
    });
    match in_task {
        None => {}
        Some(true) => panic!(
            "{function} is called inside a task, where it would stop a worker: await {instead} instead, or call \
             {function} inside spawn_blocking"
        ),
        Some(false) => panic!(
            "{function} is called inside a closure that a worker runs for install, a fork, a scope or a hook, where \
             it would stop the worker: call it on the thread that installs, have a task await {instead}, or call \
             {function} inside spawn_blocking"
        ),
    }
}
