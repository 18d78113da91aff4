//! The current runtime of a thread.
//!
//! A thread keeps the runtimes that it has entered, the last one at the end: that is its current
//! one. An entry is left in any order, so none outlives its guard. A worker belongs to its own
//! runtime and may enter another one; its context then [says so](note_entered), and what it spawns
//! and arms goes to the other one.

use super::context::Context;
use super::entered;
use super::shared::{Phase, Shared};
use crate::primitives::thread::thread_local;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static ENTRIES: RefCell<Entries> = const { RefCell::new(Entries { stack: Vec::new(), next: 0 }) };
}

/// The runtimes that a thread has entered and not left.
struct Entries {
    stack: Vec<Entry>,
    /// The number of the next entry.
    next: u64,
}

struct Entry {
    shared: Arc<Shared>,
    number: u64,
    kind: Kind,
}

/// What a thread does inside a runtime that it has entered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything.
    Entered,
    /// It runs blocking closures, and counts as awake inside the runtime: a clock that stands waits
    /// for it.
    Closures,
    /// It is inside `block_on`, and counts as awake likewise.
    Blocked,
}

/// Returns the current runtime of the thread: a worker's own, the one that the thread is blocked
/// on, or the one that it has entered since.
pub(crate) fn shared() -> Option<Arc<Shared>> {
    with(|shared| shared.cloned())
}

/// Calls `f` with the current runtime of the thread.
pub(crate) fn with<R>(f: impl FnOnce(Option<&Arc<Shared>>) -> R) -> R {
    // `f` runs no caller's code. A thread that destroys its thread-locals has entered no runtime;
    // but it may drive one, to shut that down.
    let mut f = Some(f);
    let result = ENTRIES.try_with(|entries| {
        f.take().map(|f| f(entries.borrow().stack.last().map(|entry| &entry.shared)))
    });
    match (result.ok().flatten(), f) {
        (Some(result), _) => result,
        (None, Some(f)) => entered::with_any(|context| f(context.map(Context::shared))),
        (None, None) => unreachable!("it is called once"),
    }
}

/// Makes a runtime the thread's current one until the guard is dropped.
pub(crate) fn enter(shared: &Arc<Shared>) -> Entered {
    enter_as(Kind::Entered, shared)
}

/// Returns whether the runtime's clock counts the thread as awake, because the thread has entered
/// it in another way than by [`enter`].
pub(crate) fn is_counted(shared: &Arc<Shared>) -> bool {
    any(|entry| entry.kind != Kind::Entered && Arc::ptr_eq(&entry.shared, shared))
}

/// Returns whether the thread is inside `block_on` of a current-thread runtime.
fn may_drive() -> bool {
    any(|entry| entry.kind == Kind::Blocked && entry.shared.driving.get().is_some())
}

fn any(is_such: impl Fn(&Entry) -> bool) -> bool {
    ENTRIES.try_with(|entries| entries.borrow().stack.iter().any(is_such)).unwrap_or(false)
}

/// As [`enter`], for a thread that does this inside. A thread that destroys its thread-locals
/// enters nothing: that must not panic, because other threads may use the caller's frame.
pub(crate) fn enter_as(kind: Kind, shared: &Arc<Shared>) -> Entered {
    let number = ENTRIES.try_with(|entries| {
        let mut entries = entries.borrow_mut();
        let number = entries.next;
        entries.next += 1;
        entries.stack.push(Entry { shared: shared.clone(), number, kind });
        number
    });
    note_entered();
    Entered { number: number.ok() }
}

/// Tells the worker, if the thread is one, whether its current runtime is another one than its own.
fn note_entered() {
    entered::with_any(|context| {
        let Some(context) = context else { return };
        let own = context.shared();
        let has_entered = with(|shared| shared.is_some_and(|shared| !Arc::ptr_eq(shared, own)));
        context.has_entered.set(has_entered);
    });
}

/// Restores the thread's former runtime when it is dropped; or, if the thread has entered another
/// one since, leaves that one the current one.
#[derive(Debug)]
pub(crate) struct Entered {
    /// None if the thread destroys its thread-locals.
    number: Option<u64>,
}

impl Entered {
    /// Returns whether the thread has entered no runtime since that it has not left.
    pub(crate) fn is_last(&self) -> bool {
        let is_own = |entries: &RefCell<Entries>| {
            entries.borrow().stack.last().is_some_and(|entry| Some(entry.number) == self.number)
        };
        // At the end of the thread there is no order to keep.
        ENTRIES.try_with(is_own).unwrap_or(true)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // At the end of the thread there is nothing to put back.
        let left = ENTRIES.try_with(|entries| {
            let stack = &mut entries.borrow_mut().stack;
            let place = stack.iter().rposition(|entry| Some(entry.number) == self.number)?;
            Some(stack.remove(place).shared)
        });
        note_entered();
        // Not before: with the runtime its hooks may be dropped, which are a caller's.
        drop(left);
    }
}

impl Shared {
    /// Returns whether the calling thread is a worker of the runtime, or runs one of its blocking
    /// closures. It may drive another runtime meanwhile.
    pub(crate) fn is_own_thread(&self) -> bool {
        let is_own = |shared: &Arc<Self>| std::ptr::eq(Arc::as_ptr(shared), self);
        entered::any(|context| is_own(context.shared()))
            || any(|entry| entry.kind == Kind::Closures && is_own(&entry.shared))
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
/// Panics if the thread runs a worker's loop.
#[track_caller]
pub(crate) fn refuse_on_worker(function: &str, instead: &str) {
    let in_task = entered::with_any(|context| {
        context
            .filter(|_| !entered::is_settled())
            .map(|here| here.task().is_some() || here.shared().hooks.deterministic)
    });
    match in_task {
        // Whether the thread drives at the moment is a matter of chance.
        _ if in_task != Some(true) && may_drive() => panic!(
            "{function} is called inside the future of a current-thread runtime's block_on, where it would stop \
             the runtime: await {instead} instead, or call {function} inside spawn_blocking"
        ),
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
