//! How a thread that is no worker calls a closure on one.

#![allow(
    unsafe_code,
    reason = "a worker runs a closure in the frame of the thread that waits for it"
)]

use super::errand;
use super::wait::wait_for_others;
use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
use crate::primitives::thread::{self, Thread};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::runtime::{Handle, Runtime};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// Runs `f` on a worker of the runtime that the caller belongs to, or else of the runtime that
/// `outside` returns, and waits for it. A [relief](crate::scheduler::relief) runs `f` itself, and
/// what `f` forks: the workers are away, and might wait for a lock that the relief's task holds.
#[cold]
pub(super) fn in_worker<F, R>(outside: fn() -> Handle, f: F) -> R
where
    F: FnOnce(&Context) -> R + Send,
    R: Send,
{
    let call = Call::new(f);
    if !call.run_here()
        && let Some(handle) = Handle::try_current()
    {
        call.offer(&handle);
    }
    if !call.has_run() {
        // The caller belongs to no runtime, or to one that has begun to shut down.
        call.offer(&outside());
    }
    call.finish()
}

impl Handle {
    /// Runs `f` on a worker of this runtime and waits for it, so that `f` forks there. On one of
    /// the runtime's own workers it runs at once; any other thread is blocked meanwhile.
    ///
    /// Where all workers are inside closures and one of them waits, a
    /// [spare](crate::fork_join#threads) runs `f`, which then has no
    /// [`worker_index`](crate::fork_join::worker_index).
    ///
    /// If the runtime is a [current-thread](crate::Builder::new_current_thread) one that no thread
    /// drives, the calling thread runs `f` itself, as its driver.
    ///
    /// A worker of another runtime runs calls and jobs from outside for its own runtime meanwhile,
    /// so that two runtimes may install on each other. Do not hold a lock that such a closure
    /// takes. Each of these closures lies on top of the wait, and may wait in turn: thousands of
    /// jobs that are sent to one runtime and all install on another can overflow a worker's stack.
    /// A runtime that this thread drives cannot be waited for by a closure on top of that, which
    /// another current-thread runtime runs on this thread. Nor can the own runtime of a worker that
    /// drives a current-thread one, by what that runs: no call or part of a broadcast for the
    /// worker is taken below the drive.
    ///
    /// # Panics
    /// With the panic of `f`. Also if the runtime has begun to shut down.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::fork_join::join;
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// let (a, b) = runtime.handle().install(|| join(|| 6, || 7));
    /// assert_eq!(a * b, 42);
    /// ```
    #[track_caller]
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if with_any_own(self, |context| context.is_some()) {
            return f();
        }
        let call = Call::new(|_: &Context| f());
        call.offer(self);
        assert!(
            call.has_run(),
            "install is called on a runtime that has begun to end: call it before the shutdown"
        );
        call.finish()
    }
}

impl Runtime {
    /// As [`Handle::install`].
    ///
    /// # Panics
    /// As [`Handle::install`].
    #[track_caller]
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.handle().install(f)
    }
}

/// Returns whether a thread of a runtime, the caller, has entered no other one.
pub(super) fn is_inside_own(own: &Context) -> bool {
    Handle::try_current().is_none_or(|inside| Arc::ptr_eq(own.shared(), inside.shared()))
}

/// Returns the runtime that the caller belongs to, or else the default one.
pub(super) fn handle() -> Handle {
    Handle::try_current().unwrap_or_else(default_handle)
}

/// Returns the runtime that the caller belongs to, or that of `outside` if there is none, or if it
/// takes nothing from the caller any more.
#[must_use]
pub fn handle_or(outside: fn() -> Handle) -> Handle {
    let own = Handle::try_current().filter(|own| !own.shared().refuses_spawns());
    own.unwrap_or_else(outside)
}

/// Returns whether the caller is a worker or a spare of the runtime of `handle`, whichever runtimes
/// it has entered.
#[must_use]
pub fn is_worker_of(handle: &Handle) -> bool {
    with_own(handle, |own| own.is_some())
}

/// Returns whether the caller is a thread that polls the tasks of a runtime, a relief too.
#[must_use]
pub fn is_inside() -> bool {
    entered::is_inside()
}

/// Calls `f` with the context of this thread if it is a worker or a spare of the runtime of
/// `handle`.
pub(super) fn with_own<R>(handle: &Handle, f: impl FnOnce(Option<&Context>) -> R) -> R {
    with_any_own(handle, |own| f(own.filter(|own| !own.is_relief())))
}

/// As [`with_own`], but also on a relief.
pub(super) fn with_any_own<R>(handle: &Handle, f: impl FnOnce(Option<&Context>) -> R) -> R {
    entered::with_any(|context| f(context.filter(|own| Arc::ptr_eq(own.shared(), handle.shared()))))
}

/// Returns the runtime for callers that belong to none: it is built at the first need and lasts as
/// long as the process.
pub(super) fn default_handle() -> Handle {
    static DEFAULT: OnceLock<Runtime> = OnceLock::new();
    DEFAULT
        .get_or_init(|| match crate::Builder::new().name("evenkeel-default").build() {
            Ok(runtime) => runtime,
            Err(error) => panic!("there is no runtime here, and none can be built: {error}"),
        })
        .handle()
}

/// A closure that waits in its caller's frame for a worker, and the closure's result.
struct Call<F, R> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<std::thread::Result<R>>>,
    /// Set when the worker has left the frame.
    over: AtomicBool,
    caller: Thread,
}

/// A worker's access to a [`Call`].
struct Visit {
    call: *const (),
    run: unsafe fn(*const (), &Context),
    leave: unsafe fn(*const ()),
}

// SAFETY: the call's closure and result are `Send`, and its frame exists until the visit leaves.
unsafe impl Send for Visit {}

impl<F, R> Call<F, R>
where
    F: FnOnce(&Context) -> R + Send,
    R: Send,
{
    fn new(closure: F) -> Self {
        Self {
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            over: AtomicBool::new(false),
            caller: thread::current(),
        }
    }

    /// Has a worker of the runtime run the call, and waits until the worker has left.
    fn offer(&self, handle: &Handle) {
        self.over.store(false, Ordering::Relaxed);
        let visit = self.visit();
        errand::send(handle, Box::new(|| visit.pay()));
        wait_for_others(handle, &|| self.is_over());
    }

    /// Returns a worker's access to the call, which has to leave it before the frame ends.
    fn visit(&self) -> Visit {
        let call = std::ptr::from_ref(self).cast();
        Visit { call, run: Self::run, leave: Self::leave }
    }

    /// Whether the worker has left. Then the caller sees all that the worker did.
    fn is_over(&self) -> bool {
        self.over.load(edge(Edge::CallSeen, Ordering::Acquire))
    }

    /// Runs the call here, if the caller is a relief, or another thread of the runtime that it is
    /// inside. It takes the same code as a worker, so that the closure, which may be a whole
    /// recursion, is compiled once.
    fn run_here(&self) -> bool {
        entered::with(|context| {
            let own = context.filter(|own| own.is_relief() || is_inside_own(own));
            own.is_some_and(|own| {
                // SAFETY: the call is this caller's, and no other thread has its address.
                unsafe { Self::run(std::ptr::from_ref(self).cast(), own) };
                true
            })
        })
    }

    /// Whether a worker has run the call. No worker is inside it.
    fn has_run(&self) -> bool {
        // SAFETY: the worker has left, so this thread is alone with the call.
        unsafe { &*self.result.get() }.is_some()
    }

    fn finish(self) -> R {
        match self.result.into_inner().expect("a default runtime does not end") {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// # Safety
    /// `call` is the address of a `Call` of this type, and its caller has not left it.
    unsafe fn run(call: *const (), context: &Context) {
        // SAFETY: the caller's promise: the frame exists.
        let call = unsafe { &*call.cast::<Self>() };
        // SAFETY: the thread of the frame waits, so the closure is the visitor's.
        let closure = unsafe { &mut *call.closure.get() }.take().expect("a call is run once");
        let result = catch_unwind(AssertUnwindSafe(|| closure(context)));
        // SAFETY: as above.
        unsafe { *call.result.get() = Some(result) };
    }

    /// # Safety
    /// As `run`; the caller makes no use of the call afterwards.
    unsafe fn leave(call: *const ()) {
        // SAFETY: the caller's promise: the frame exists.
        let call = unsafe { &*call.cast::<Self>() };
        let caller = call.caller.clone();
        call.over.store(true, edge(Edge::CallOver, Ordering::Release));
        caller.unpark();
    }
}

impl Visit {
    fn pay(self) {
        entered::with_worker(|context| {
            let context = context.expect("errands are run by workers");
            // SAFETY: the visit has not left.
            unsafe { (self.run)(self.call, context) };
        });
    }
}

impl Drop for Visit {
    /// The caller goes on, whether the visit was paid or the runtime has refused it.
    fn drop(&mut self) {
        // SAFETY: it leaves once, here.
        unsafe { (self.leave)(self.call) };
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use crate::scheduler::model::two_seats;

    /// A datum that loom watches.
    struct Watched(loom::cell::UnsafeCell<u32>);

    // SAFETY: loom fails a model in which two threads reach the datum at once.
    unsafe impl Sync for Watched {}

    /// The caller may see that the worker has left before the worker unparks it. Loom knows nothing
    /// between that store and the unpark, which would order what the caller sees. So the call is of
    /// a thread that has ended.
    #[test]
    fn a_caller_sees_what_its_closure_has_done() {
        check(&[Edge::CallOver, Edge::CallSeen], || {
            let (seat, _other) = two_seats();
            let datum = Arc::new(Watched(loom::cell::UnsafeCell::new(0)));
            let other = datum.clone();
            let maker = loom::thread::spawn(move || {
                // SAFETY: the call is not over, so only its worker has the datum.
                let closure = move |_: &Context| other.0.with_mut(|datum| unsafe { *datum = 7 });
                Arc::new(Call::new(closure))
            });
            let call = maker.join().unwrap();
            let visit = call.visit();
            let worker = loom::thread::spawn(move || {
                let context = Context::new(seat, 0);
                context.enter(|| visit.pay());
            });
            while !call.is_over() {
                loom::thread::yield_now();
            }
            // SAFETY: the call is over, so only its caller has the datum.
            datum.0.with(|datum| assert_eq!(unsafe { *datum }, 7));
            worker.join().unwrap();
            assert!(call.has_run());
        });
    }
}
