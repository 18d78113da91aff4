//! Scopes: jobs that borrow from the frame that waits for all of them.
//!
//! # Roles
//! The *owner* has called [`scope()`] and waits at its end. *Jobs* of the scope run anywhere, and spawn more.
//!
//! # States
//! `word` counts the scope's own body and the jobs that are not complete, and has a bit for an owner that is about to park.
//!
//! # Why nothing is lost
//! The owner leaves when the count is zero, which it cannot become while a job is left: a job counts its children before it
//! counts itself out. The last one to count itself out sees whether the owner sleeps, for both are in one word; it
//! knows whom to unpark before that, and does not touch the scope after it.
//!
//! # What runs while the owner waits
//! Jobs of its own deque, above where the scope began, and what it takes from a worker that runs a job of this
//! scope, which is a descendant of that job (see [`wait`](super::wait)): that worker shows the scope as its root.

#![allow(unsafe_code, reason = "jobs borrow from the frame that waits for them")]

use super::wait::wait;
use super::{entry, spawned};
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, lock};
use crate::runtime::{Handle, enter};
use crate::scheduler::context::{self, Context};
use crate::scheduler::job::{self, Stolen};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const ASLEEP: usize = 1;
const ONE: usize = 2;

/// A scope for jobs that borrow: see [`scope()`].
pub struct Scope<'scope> {
    /// Where jobs go that are spawned on other threads than workers of it.
    handle: Handle,
    owner: Owner,
    word: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Invariant in `'scope`, as a cell of closures that live so long.
    marker: PhantomData<Body<'scope>>,
}

type Body<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>;

/// Who waits for the scope.
#[derive(Clone)]
enum Owner {
    Worker(usize),
    Thread(Thread),
}

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
            let scope = Scope::new(handle, Owner::Thread(thread::current()));
            let result = catch_unwind(AssertUnwindSafe(|| op(&scope)));
            scope.count_out(None);
            while scope.word.load(Ordering::Acquire) >= ONE {
                thread::park(None);
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
    let scope = Scope::new(handle, Owner::Worker(context.seat.me()));
    let result = catch_unwind(AssertUnwindSafe(|| op(&scope)));
    scope.count_out(Some(context));
    job::run_above(context, floor);
    scope.wait(context);
    scope.finish(result)
}

impl<'scope> Scope<'scope> {
    fn new(handle: Handle, owner: Owner) -> Self {
        Self {
            handle,
            owner,
            // The body counts.
            word: AtomicUsize::new(ONE),
            panic: Mutex::new(None),
            marker: PhantomData,
        }
    }

    /// Spawns a job into the scope. It runs at some time before the scope ends, on any worker; those that one worker spawns, and
    /// that nobody takes, run in reverse order.
    ///
    /// A job takes an allocation. A worker with 65,536 jobs that nobody has taken runs the next one on the spot.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        self.word.fetch_add(ONE, Ordering::Relaxed);
        let scope = Address(std::ptr::from_ref(self));
        let job = move |context: &Context| {
            let scope = scope;
            // SAFETY: the scope is there until this job has counted itself out.
            let scope = unsafe { &*scope.0 };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(scope))) {
                lock(&scope.panic).get_or_insert(panic);
            }
            scope.count_out(Some(context));
        };
        context::with(|context| match context {
            Some(context) if std::sync::Arc::ptr_eq(context.shared(), self.handle.shared()) => {
                // SAFETY: the scope waits for the job, and what its body borrows outlives the scope.
                unsafe { spawned::push(context, self.id(), job) }
            }
            _ => {
                // SAFETY: as above.
                unsafe { entry::send(&self.handle, job) }
            }
        });
    }

    /// What names the scope.
    fn id(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    /// Counts the body or a job out. The scope may be gone after it.
    fn count_out(&self, context: Option<&Context>) {
        let owner = self.owner.clone();
        let before = self.word.fetch_sub(ONE, Ordering::AcqRel);
        if before >= 2 * ONE {
            return;
        }
        match (owner, context) {
            (Owner::Thread(owner), _) => owner.unpark(),
            // Jobs of a worker's scope run on workers of its runtime.
            (Owner::Worker(owner), Some(context)) if before & ASLEEP != 0 => {
                context.shared().idle.unpark(owner);
            }
            (Owner::Worker(_), _) => {}
        }
    }

    fn wait(&self, context: &Context) {
        let over = || self.word.load(Ordering::Acquire) < ONE;
        let fall_asleep = || self.word.fetch_or(ASLEEP, Ordering::Relaxed) >= ONE;
        let shared = context.shared();
        let leap = || {
            let others = &shared.neighbours[context.seat.me()].others;
            let runs = |other: usize| {
                std::ptr::eq(shared.processors[other].root.load(Ordering::Relaxed), self.id())
            };
            let mut runner = None;
            for &other in others.iter().filter(|&&other| runs(other)) {
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
            (Err(panic), _) | (Ok(_), Some(panic)) => resume_unwind(panic),
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
            .field("jobs", &(self.word.load(Ordering::Relaxed) / ONE))
            .finish_non_exhaustive()
    }
}
