//! In which context a thread is: the one that it has entered last, or with which it has settled.
//!
//! A context lies on its thread's stack, and thread-locals lead to it: one for what is about tasks,
//! one for what is about fork-join. A relief has no jobs, and a spare has no tasks.

#![allow(unsafe_code, reason = "a thread's context lies on its stack")]

use super::context::Context;
use super::slice;
use crate::deque::Deque;
use crate::primitives::thread::thread_local;
use crate::raw_task::report::PanicHook;
use std::cell::Cell;
use std::iter::successors;
use std::ptr;

thread_local! {
    /// The context of a worker or of a relief, for everything about tasks. A thread that has
    /// [settled](Context::settle) as a worker has none.
    static CONTEXT: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

thread_local! {
    /// The context of a worker or of a spare, for everything about fork-join.
    static FORKING: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

thread_local! {
    /// The context that the thread has entered last and not left.
    static ENTERED: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

thread_local! {
    /// The context with which the thread has [settled](Context::settle) as a worker.
    static SETTLED: Cell<Option<&'static Context>> = const { Cell::new(None) };
}

thread_local! {
    /// The deque of the worker: a fork reaches it by one load.
    static DEQUE: Cell<*const Deque> = const { Cell::new(ptr::null()) };
}

/// Ends the effect of [`Context::begin`]. A worker that shuts a current-thread runtime down drives
/// it, and is a worker again afterwards.
struct Leave {
    context: *const Context,
    forking: *const Context,
    deque: *const Deque,
    entered: *const Context,
    steps: u32,
}

impl Leave {
    fn now() -> Self {
        Self {
            context: CONTEXT.with(Cell::get),
            forking: FORKING.with(Cell::get),
            deque: DEQUE.with(Cell::get),
            entered: ENTERED.with(Cell::get),
            steps: slice::replace_steps(0),
        }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        CONTEXT.with(|context| context.set(self.context));
        FORKING.with(|context| context.set(self.forking));
        DEQUE.with(|deque| deque.set(self.deque));
        ENTERED.with(|context| context.set(self.entered));
        slice::replace_steps(self.steps);
    }
}

impl Context {
    /// Makes this the context of the thread while `f` runs. `f` does not enter it again.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        let _leave = self.begin();
        f()
    }

    fn begin(&self) -> Leave {
        let before = Leave::now();
        self.below.set(before.entered);
        ENTERED.with(|context| context.set(ptr::from_ref(self)));
        if !self.is_spare() {
            CONTEXT.with(|context| context.set(ptr::from_ref(self)));
        }
        if !self.is_relief() {
            self.fork_here();
        }
        before
    }

    /// Makes this the context of the thread, for everything about fork-join, for as long as the
    /// thread lives. For tasks the thread is outside: it has no loop in which it would take back
    /// what has become complete elsewhere.
    pub(crate) fn settle(&'static self) {
        self.fork_here();
        SETTLED.with(|settled| settled.set(Some(self)));
    }

    fn fork_here(&self) {
        FORKING.with(|context| context.set(ptr::from_ref(self)));
        DEQUE.with(|deque| deque.set(&raw const *self.seat.processor().deque));
    }
}

/// Calls `f` with the context of this thread, if it is a worker or a relief: for everything about
/// tasks.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(Option<&Context>) -> R) -> R {
    // SAFETY: `f` cannot keep the result.
    f(unsafe { current() })
}

/// Does the same, but gives no context if the thread has entered another runtime: for what goes to
/// the current runtime.
#[inline(always)]
pub(crate) fn at_home<R>(f: impl FnOnce(Option<&Context>) -> R) -> R {
    with(|context| f(context.filter(|context| !context.has_entered.get())))
}

/// Calls `f` with the context of this thread, if it is a worker or a spare: for everything about
/// fork-join.
#[inline(always)]
pub(crate) fn with_worker<R>(f: impl FnOnce(Option<&Context>) -> R) -> R {
    let context = FORKING.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: the pointer is set while the context is borrowed by `enter`, or for ever, on this
    // thread, and `f` cannot keep the result.
    f(unsafe { context.as_ref() })
}

/// Calls `f` with the context of this thread to which `deque` belongs, as the thread's present one.
///
/// It is the innermost one, with one exception: a thread that has [settled](Context::settle) may
/// drive another runtime inside a closure that has a [`Worker`](crate::fork_join::Worker). The
/// `Worker` leads to the deque below that runtime, where the thread has no loop, as outside.
pub(crate) fn with_owner<R>(deque: &Deque, f: impl FnOnce(&Context) -> R) -> R {
    with_worker(|innermost| {
        let is_owner =
            |context: &Context| ptr::eq(&raw const *context.seat.processor().deque, deque);
        let innermost = innermost.expect("jobs are pushed by workers");
        if is_owner(innermost) {
            return f(innermost);
        }
        let settled = SETTLED.with(Cell::get).filter(|settled| is_owner(settled));
        let settled = settled.expect("no other context is below the innermost one");
        let _leave = Leave::now();
        CONTEXT.with(|context| context.set(ptr::null()));
        settled.fork_here();
        f(settled)
    })
}

/// Calls `f` with the context of this thread, if it is a worker, a spare or a relief.
pub(crate) fn with_any<R>(f: impl FnOnce(Option<&Context>) -> R) -> R {
    with_worker(|context| match context {
        Some(context) => f(Some(context)),
        None => with(f),
    })
}

/// Returns whether one of this thread's contexts is such: those that it has entered and not left,
/// and that with which it has [settled](Context::settle). A worker that drives a current-thread
/// runtime has its own one below the driver's.
pub(crate) fn any(is_such: impl Fn(&Context) -> bool) -> bool {
    let last = ENTERED.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: the pointer is set while the context is borrowed by `enter`, on this thread, and
    // `is_such` cannot keep the result.
    let last = unsafe { last.as_ref() };
    // SAFETY: the context below was entered before this one, and is left after it.
    let entered = successors(last, |context| unsafe { context.below.get().as_ref() });
    let settled = SETTLED.try_with(Cell::get).ok().flatten();
    entered.chain(settled).any(is_such)
}

/// Returns the context of this thread, if it has one: [`with`] without a closure, because the
/// hottest paths would pass a closure's captures through memory.
///
/// # Safety
/// Only the caller's present call uses the result, and it does not outlast the worker's loop below
/// it.
#[inline(always)]
pub(crate) unsafe fn current<'a>() -> Option<&'a Context> {
    // A thread that destroys its thread-locals is not a worker.
    let context = CONTEXT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: the pointer is set while the context is borrowed by `enter`, or for ever, on this
    // thread.
    unsafe { context.as_ref() }
}

/// Returns the deque of fork-join jobs of this thread, its owner, if it is a worker or a spare.
///
/// # Safety
/// As [`current`].
#[inline(always)]
pub(crate) unsafe fn deque<'a>() -> Option<&'a Deque> {
    let deque = DEQUE.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: the pointer is set while `enter` borrows a context, or for ever, and the context's
    // seat keeps the processor alive.
    unsafe { deque.as_ref() }
}

/// Returns whether this thread is a worker, a spare or a relief.
pub(crate) fn is_inside() -> bool {
    with_any(|context| context.is_some())
}

/// Returns whether this thread has [settled](Context::settle) as a worker, and drives nothing: it
/// may block, because no worker's loop is below it.
pub(crate) fn is_settled() -> bool {
    let runs_loop = with(|context| context.is_some());
    !runs_loop && with_worker(|context| context.is_some_and(|here| here.has_place()))
}

/// Returns whether this thread is a worker or a spare. It reads the same thread-local as a fork, so
/// that a fork that follows need not read it again.
#[inline(always)]
pub(crate) fn is_worker() -> bool {
    DEQUE.try_with(|deque| !deque.get().is_null()).unwrap_or(false)
}

/// Returns the hook of this worker's runtime for panics of tasks without a joiner.
pub(crate) fn panic_hook() -> Option<PanicHook> {
    with(|context| context?.shared().hooks.task_panic.clone())
}
