//! How a thread that is no worker has something done by one.

#![allow(
    unsafe_code,
    reason = "a worker runs a closure in the frame of the thread that waits for it"
)]

use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, lock, unwind};
use crate::runtime::{Handle, Runtime, enter};
use crate::scheduler::context::{self, Context};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

/// Runs `f` on a worker of the runtime that the caller belongs to, or else of the default one, and waits for it.
#[cold]
pub(super) fn in_worker<F, R>(f: F) -> R
where
    F: FnOnce(&Context) -> R + Send,
    R: Send,
{
    let call = Call::new(f);
    if let Some(handle) = enter::current() {
        call.offer(&handle);
    }
    if !call.has_run() {
        // Nobody's, or one that has begun to end.
        call.offer(&default_handle());
    }
    call.finish()
}

impl Handle {
    /// Runs `f` on a worker of this runtime and waits for it, so that what it forks is forked there. On one of the runtime's own
    /// workers it runs at once; any other thread is blocked meanwhile, a worker of another runtime too: two runtimes that install on each other can deadlock.
    ///
    /// # Panics
    /// With the panic of `f`; or if the runtime has begun to end.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::fork_join::join;
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// let (a, b) = runtime.handle().install(|| join(|| 6, || 7));
    /// assert_eq!(a * b, 42);
    /// ```
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        let is_own = context::with(|context| {
            context.is_some_and(|context| Arc::ptr_eq(context.shared(), self.shared()))
        });
        if is_own {
            return f();
        }
        let call = Call::new(|_: &Context| f());
        call.offer(self);
        assert!(call.has_run(), "install is called on a runtime that has begun to end");
        call.finish()
    }
}

impl Runtime {
    /// As [`Handle::install`].
    ///
    /// # Panics
    /// With the panic of `f`.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.handle().install(f)
    }
}

/// The runtime of whoever has none: it is built at the first need and lasts as long as the process.
pub(super) fn default_handle() -> Handle {
    static DEFAULT: OnceLock<Runtime> = OnceLock::new();
    DEFAULT
        .get_or_init(|| match crate::Builder::new().name("evenkeel-default").build() {
            Ok(runtime) => runtime,
            Err(error) => panic!("there is no runtime here, and none can be built: {error}"),
        })
        .handle()
}

/// A closure that waits in its caller's frame for a worker, and what comes of it.
struct Call<F, R> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<std::thread::Result<R>>>,
    /// The worker has let go of the frame.
    over: AtomicBool,
    caller: Thread,
}

/// The way from a worker to a [`Call`].
struct Visit {
    call: *const (),
    run: unsafe fn(*const (), &Context),
    leave: unsafe fn(*const ()),
}

// SAFETY: the call's closure and result are `Send`, and its frame is there until the visit leaves.
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

    /// Has a worker of the runtime come by, and waits until it has left.
    fn offer(&self, handle: &Handle) {
        self.over.store(false, Ordering::Relaxed);
        let call = std::ptr::from_ref(self).cast();
        let visit = Visit { call, run: Self::run, leave: Self::leave };
        // Nobody joins the task: it leaves nothing but what is in this frame.
        drop(handle.spawn(visit));
        while !self.over.load(Ordering::Acquire) {
            thread::park(None);
        }
    }

    /// Whether the runtime has taken the call. The worker has left.
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
    /// `call` is one of these, and the caller has not left it.
    unsafe fn run(call: *const (), context: &Context) {
        // SAFETY: the caller's promise: the frame is there.
        let call = unsafe { &*call.cast::<Self>() };
        // SAFETY: the thread of the frame waits, so the closure is the visitor's.
        let closure = unsafe { &mut *call.closure.get() }.take().expect("a call is run once");
        let result = catch_unwind(AssertUnwindSafe(|| closure(context)));
        // SAFETY: as above.
        unsafe { *call.result.get() = Some(result) };
    }

    /// # Safety
    /// As `run`; nothing of the call is used after it.
    unsafe fn leave(call: *const ()) {
        // SAFETY: the caller's promise: the frame is there.
        let call = unsafe { &*call.cast::<Self>() };
        let caller = call.caller.clone();
        call.over.store(true, Ordering::Release);
        caller.unpark();
    }
}

impl Future for Visit {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<()> {
        context::with(|context| {
            let context = context.expect("tasks are polled by workers");
            // SAFETY: the visit has not left.
            unsafe { (self.run)(self.call, context) };
        });
        Poll::Ready(())
    }
}

impl Drop for Visit {
    /// Whether it has been polled or the runtime has refused it: the caller goes on.
    fn drop(&mut self) {
        // SAFETY: it leaves once, here.
        unsafe { (self.leave)(self.call) };
    }
}

/// Jobs of a scope that have been spawned by threads that are no workers of its runtime. For each a task is on its way.
pub(super) struct Outside {
    jobs: Mutex<VecDeque<Job<'static>>>,
    /// Who waits for the scope.
    owner: Thread,
}

type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

impl Outside {
    pub(super) fn new(owner: Thread) -> Arc<Self> {
        Arc::new(Self { jobs: Mutex::new(VecDeque::new()), owner })
    }

    /// The oldest job, which does not panic.
    pub(super) fn take(&self) -> Option<impl FnOnce() + use<>> {
        lock(&self.jobs).pop_front()
    }

    /// Runs the oldest job. False if there is none.
    pub(super) fn run_one(&self) -> bool {
        self.take().map(unwind::never).is_some()
    }
}

/// Leaves a job, which does not panic, to a worker of the runtime, or to the owner of the scope, whoever comes first.
///
/// # Safety
/// What the job borrows is there until it has been run.
pub(super) unsafe fn send<'a>(
    handle: &Handle,
    outside: &Arc<Outside>,
    job: impl FnOnce() + Send + 'a,
) {
    let job: Job<'a> = Box::new(job);
    // SAFETY: the caller's promise; the two types differ in that lifetime alone.
    let job = unsafe { std::mem::transmute::<Job<'a>, Job<'static>>(job) };
    let errand = Errand { outside: outside.clone(), has_run: false };
    lock(&outside.jobs).push_back(job);
    drop(handle.spawn(errand));
}

/// The task that comes for a job.
struct Errand {
    outside: Arc<Outside>,
    has_run: bool,
}

impl Future for Errand {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<()> {
        self.has_run = true;
        self.outside.run_one();
        Poll::Ready(())
    }
}

impl Drop for Errand {
    /// A runtime that ends drops its tasks: the owner of the scope has to look after the job itself.
    fn drop(&mut self) {
        if !self.has_run {
            self.outside.owner.unpark();
        }
    }
}
