//! Scopes: jobs that borrow from the frame that waits for all of them.
//!
//! # Roles
//! The *owner* has called [`scope()`] and waits at its end. *Jobs* of the scope run anywhere, and spawn more.
//!
//! # States
//! `count` counts the scope's own body and the jobs that are not complete. Jobs
//! that are spawned on workers lie in deques; those that other threads spawn, in `outside`, and for each of these a task is on its way
//! that runs one.
//!
//! # Why nothing is lost
//! The owner leaves when the count is zero, which it cannot become while a job is left: a job counts its children before it
//! counts itself out. The last one to count itself out unparks the owner; it
//! knows whom before that, and does not touch the scope after it. A task that comes for a job of `outside` after the
//! scope is over finds none; one that never comes, because the runtime ends, leaves its job to the owner.
//!
//! # What runs while the owner waits
//! Jobs of its own deque, above where the scope began; jobs of `outside`; and, if its deque is empty, what it takes from a
//! worker that runs a job of this scope, which is a descendant of that job (see [`wait`](super::wait)): that worker shows the
//! scope's number as its root. With an empty deque, because whoever waits for that job in turn takes from this deque.

#![allow(unsafe_code, reason = "jobs borrow from the frame that waits for them")]

use super::wait::wait;
use super::{entry, spawned};
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, lock, unwind};
use crate::runtime::{Handle, enter};
use crate::scheduler::context::{self, Context};
use crate::scheduler::job::{self, Stolen};
use crate::topology::Distance;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// A scope for jobs that borrow: see [`scope()`].
pub struct Scope<'scope> {
    /// Where jobs go that are spawned on other threads than workers of it.
    handle: Handle,
    /// What names it as a root; zero if its owner is no worker.
    id: u64,
    owner: Thread,
    count: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Jobs that have been spawned by threads that are no workers of the runtime.
    outside: OnceLock<Arc<entry::Outside>>,
    /// Invariant in `'scope`, as a cell of closures that live so long.
    marker: PhantomData<Body<'scope>>,
}

type Body<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>;

/// Runs `op`, which may spawn jobs into the scope, and waits for all of them. The jobs may borrow from whatever outlives the
/// call.
///
/// Called outside of a worker it blocks the calling thread while a worker runs `op`; see
/// [`in_place_scope`].
///
/// # Panics
/// With the panic of `op`, or else of one of its jobs, once all are over.
///
/// # Examples
/// ```
/// let mut squares = [0; 8];
/// evenkeel::fork_join::scope(|scope| {
///     for (n, square) in squares.iter_mut().enumerate() {
///         scope.spawn(move |_| *square = n * n);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    context::with(|context| match context {
        Some(context) => scope_on(context, op),
        None => entry::in_worker(|context| scope_on(context, op)),
    })
}

/// As [`scope()`], but `op` runs on the calling thread, wherever that is, and so need not be `Send`.
///
/// # Examples
/// ```
/// let rows = std::rc::Rc::new([1, 2, 3]);
/// let total = std::sync::atomic::AtomicU32::new(0);
/// evenkeel::fork_join::in_place_scope(|scope| {
///     for &row in rows.iter() {
///         let total = &total;
///         scope.spawn(move |_| { total.fetch_add(row, std::sync::atomic::Ordering::Relaxed); });
///     }
/// });
/// assert_eq!(total.into_inner(), 6);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    context::with(|context| match context {
        Some(context) => scope_on(context, op),
        None => {
            let handle = enter::current().unwrap_or_else(entry::default_handle);
            let scope = Scope::new(handle, 0);
            let result = catch_unwind(AssertUnwindSafe(|| op(&scope)));
            // SAFETY: the scope is this frame's.
            unsafe { Scope::count_out(&raw const scope) };
            while scope.count.load(Ordering::Acquire) > 0 {
                // A runtime that ends sends nobody any more.
                if !(scope.handle.is_shutting_down() && scope.run_outside()) {
                    thread::park(None);
                }
            }
            scope.finish(result)
        }
    })
}

fn scope_on<'scope, OP, R>(context: &Context, op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let floor = context.seat.processor().deque.head();
    let handle = enter::current().expect("a worker is inside its runtime");
    let scope = Scope::new(handle, context.next_scope());
    let result = catch_unwind(AssertUnwindSafe(|| op(&scope)));
    // SAFETY: the scope is this frame's.
    unsafe { Scope::count_out(&raw const scope) };
    job::run_above(context, floor);
    scope.wait(context);
    scope.finish(result)
}

impl<'scope> Scope<'scope> {
    fn new(handle: Handle, id: u64) -> Self {
        Self {
            handle,
            id,
            owner: thread::current(),
            // The body counts.
            count: AtomicUsize::new(1),
            panic: Mutex::new(None),
            outside: OnceLock::new(),
            marker: PhantomData,
        }
    }

    /// Spawns a job into the scope. It runs at some time before the scope ends, on any worker; those that one worker spawns, and
    /// that nobody takes, run in reverse order.
    ///
    /// A job takes an allocation. A worker with 65,532 jobs that nobody has taken runs the next one on the spot.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        self.count.fetch_add(1, Ordering::Relaxed);
        let scope = Address(std::ptr::from_ref(self));
        let job = move || {
            let address = scope;
            // SAFETY: the scope is there until this job has counted itself out.
            let scope = unsafe { &*address.0 };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(scope))) {
                scope.keep(panic);
            }
            // SAFETY: as above, and nothing of the scope is used after it.
            unsafe { Self::count_out(address.0) };
        };
        context::with(|context| match context {
            Some(context) if Arc::ptr_eq(context.shared(), self.handle.shared()) => {
                // SAFETY: the scope waits for the job, and what its body borrows outlives the scope.
                unsafe { spawned::push(context, self.id, job) }
            }
            _ => {
                let outside = self.outside.get_or_init(|| entry::Outside::new(self.owner.clone()));
                // SAFETY: as above.
                unsafe { entry::send(&self.handle, outside, job) }
            }
        });
    }

    /// Keeps the first panic.
    fn keep(&self, panic: Box<dyn Any + Send>) {
        let mut kept = lock(&self.panic);
        if kept.is_none() {
            *kept = Some(panic);
        } else {
            drop(kept);
            unwind::contain(|| drop(panic));
        }
    }

    /// Runs a job that another thread has spawned, if there is one.
    fn run_outside(&self) -> bool {
        self.outside.get().is_some_and(|outside| outside.run_one())
    }

    /// Counts the body or a job out.
    ///
    /// # Safety
    /// The scope is there, and the body or the job has not been counted out. The scope may be gone after it, so it comes by
    /// its address.
    unsafe fn count_out(scope: *const Self) {
        // SAFETY: the caller's promise; the last one to count itself out makes no use of it after that.
        let count = unsafe { &raw const (*scope).count };
        // SAFETY: as above.
        let mut seen = unsafe { (*count).load(Ordering::Relaxed) };
        let mut owner = None;
        loop {
            if seen < 2 && owner.is_none() {
                // The last: whom to unpark has to be known before the scope may be gone.
                // SAFETY: as above.
                owner = Some(unsafe { (*scope).owner.clone() });
            }
            // SAFETY: as above.
            let exchanged = unsafe {
                (*count).compare_exchange_weak(seen, seen - 1, Ordering::AcqRel, Ordering::Relaxed)
            };
            match exchanged {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        if seen < 2
            && let Some(owner) = owner
        {
            owner.unpark();
        }
    }

    fn wait(&self, context: &Context) {
        let over = || self.count.load(Ordering::Acquire) == 0;
        let fall_asleep = || !over();
        let shared = context.shared();
        let own = &context.seat.processor().deque;
        let leap = |waited| {
            while let Some(job) = self.outside.get().and_then(|outside| outside.take()) {
                context.while_running(Distance::Same, || unwind::never(job));
            }
            if !own.is_empty() {
                return None;
            }
            let others = &shared.neighbours[context.seat.me()].others;
            let runs =
                |other: usize| shared.processors[other].root.load(Ordering::Relaxed) == self.id;
            let mut runner = None;
            for &other in others.iter().filter(|&&other| runs(other)) {
                if !job::may_take(context, other, waited) {
                    continue;
                }
                match Stolen::take(shared, other, || runs(other)) {
                    Some(stolen) => return Some((other, Some(stolen))),
                    None => runner = Some((other, None)),
                }
            }
            runner
        };
        wait(context, over, fall_asleep, leap);
    }

    fn finish<R>(self, result: std::thread::Result<R>) -> R {
        let panic = lock(&self.panic).take();
        match (result, panic) {
            (Ok(result), None) => result,
            (Err(panic), other) => {
                unwind::contain(|| drop(other));
                resume_unwind(panic)
            }
            (Ok(result), Some(panic)) => {
                unwind::contain(|| drop(result));
                resume_unwind(panic)
            }
        }
    }
}

/// An address that goes to another thread.
struct Address<T>(*const T);

// SAFETY: following it is what needs a right.
unsafe impl<T> Send for Address<T> {}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("jobs", &self.count.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
