//! Scopes: jobs that borrow from the frame that waits for all of them.
//!
//! # Roles
//! The *owner* has called [`scope()`] and waits at its end. *Jobs* of the scope run anywhere, and
//! spawn more.
//!
//! # States
//! `count` counts the scope's own body and the incomplete jobs, except those that lie or run on top
//! of a job or body that is counted. If the owner's worker, or one that runs a stolen job of the
//! scope, spawns into its deque, the new job is a [member] of what the worker runs. Other jobs that
//! workers spawn lie in deques too. Those that other threads spawn lie in `outside`, and for each
//! of these an errand is on its way that runs one. Those of a broadcast are with their workers.
//!
//! A scope whose owner is no worker is *held* while workers have spawned jobs into it that are
//! incomplete. These all lie in deques, and count [`HELD`] each.
//!
//! # Why nothing is lost
//! The owner leaves when its deque is empty down to where the scope began, and after that the count
//! is zero; it cannot become zero while a job is left. The last job to count itself out unparks the
//! owner. It reads which thread that is before it counts itself out, and does not touch the scope
//! afterwards. An errand for a job of `outside` that comes after the scope is over finds none. An
//! errand that never comes, because the runtime ends, leaves its job to the owner.
//!
//! # Why a runtime that drains does not end under a job
//! The runtime counts the task or the call within which a worker owns a scope. It counts the
//! errands and parts for scopes of other owners, and one job for each of these that is held. The
//! worker whose job is the first to hold the scope counts that in, and then pushes the job. The
//! worker that completes the last of these jobs notes it complete. Between the first worker's
//! change of the scope's count and its change of the runtime's, another worker may push a job. The
//! runtime stays open meanwhile: what the first worker runs is counted. (An owner that has settled
//! within its scope is counted by nothing. A runtime that closes between the two changes of such a
//! worker is over for the other's job, which still runs.) No runtime waits for the owner of a
//! scope, which may be the thread that shuts it down.
//!
//! # What runs while the owner waits
//! Jobs of its own deque, above where the scope began, and jobs of `outside`. If its deque is
//! empty, also what it takes from a worker that runs a job of this scope, which is a descendant of
//! that job (see [`wait`](super::wait)): that worker shows the scope's number as its root. The
//! deque has to be empty because the worker that waits for that job takes from this deque in turn.

#![allow(unsafe_code, reason = "jobs borrow from the frame that waits for them")]

use super::errand::Outside;
use super::wait::{Idle, Meanwhile, wait, wait_for_others};
use super::{entry, member};
use crate::deque::Level;
use crate::deque::closures::erase;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, lock, unwind};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::runtime::Handle;
use crate::scheduler;
use crate::scheduler::job::{self, Stolen};
use crate::topology::Distance;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// What a job in a deque counts if the scope's owner is no worker: more than all others together.
/// So one change of the count also tells whether it is the first or the last of these.
const HELD: u64 = 1 << 32;

/// A scope for jobs that borrow: see [`scope()`].
///
/// # Examples
/// Jobs that spawn more jobs, for each node of a tree:
/// ```
/// use evenkeel::fork_join::{Scope, scope};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// struct Node {
///     weight: u32,
///     children: Vec<Node>,
/// }
/// fn weigh<'scope>(node: &'scope Node, sum: &'scope AtomicU32, scope: &Scope<'scope>) {
///     sum.fetch_add(node.weight, Ordering::Relaxed);
///     for child in &node.children {
///         scope.spawn(move |scope| weigh(child, sum, scope));
///     }
/// }
/// let leaf = |weight| Node { weight, children: Vec::new() };
/// let branch = Node { weight: 3, children: vec![leaf(4)] };
/// let tree = Node { weight: 1, children: vec![leaf(2), branch] };
/// let sum = AtomicU32::new(0);
/// scope(|scope| weigh(&tree, &sum, scope));
/// assert_eq!(sum.into_inner(), 10);
/// ```
pub struct Scope<'scope> {
    /// Takes the jobs that are spawned on threads other than its workers.
    handle: Handle,
    /// The scope's number as a root; zero if its owner is no worker.
    id: u64,
    owner: Thread,
    count: AtomicU64,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Jobs that threads outside the runtime have spawned.
    outside: OnceLock<Arc<Outside>>,
    /// Invariant in `'scope`, as a cell of closures with that lifetime.
    marker: PhantomData<Body<'scope>>,
}

type Body<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>;

/// Runs `op`, which may spawn jobs into the scope, and waits for all of them. The jobs may borrow
/// from whatever outlives the call.
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
    scope_or(entry::default_handle, op)
}

/// [`scope()`], with `outside` for the runtime of callers that belong to none.
pub fn scope_or<'scope, OP, R>(outside: fn() -> Handle, op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    on_worker(outside, |scope| scope, op)
}

/// As [`scope_or`], in the form that `make` gives the scope.
pub(super) fn on_worker<'scope, S, OP, R>(
    outside: fn() -> Handle,
    make: impl FnOnce(Scope<'scope>) -> S + Send,
    op: OP,
) -> R
where
    S: Form<'scope>,
    OP: FnOnce(&S) -> R + Send,
    R: Send,
{
    entered::with_worker(|context| match context {
        Some(context) if entry::is_inside_own(context) => scope_on(context, make, op),
        // No worker, or one that is inside another runtime than its own.
        _ => entry::in_worker(outside, |context| scope_on(context, make, op)),
    })
}

/// As [`scope()`], but `op` runs on the calling thread, whichever that is, and so need not be
/// `Send`.
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
    in_place(entry::handle(), |scope| scope, op)
}

impl Handle {
    /// As [`in_place_scope`], with jobs that run on this runtime.
    ///
    /// A runtime that [drains](crate::Shutdown::Drain) ends after the jobs that its workers have,
    /// and after those that these spawn into the scope. It does not wait for `op`, which may shut
    /// it down: what `op` spawns afterwards runs on the calling thread.
    ///
    /// # Panics
    /// With the panic of `op`, or else of one of its jobs, once all are over.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// let mut sides = [0; 2];
    /// let [port, starboard] = &mut sides;
    /// runtime.handle().in_place_scope(|scope| {
    ///     scope.spawn(|_| *port = 1);
    ///     scope.spawn(|_| *starboard = 2);
    /// });
    /// assert_eq!(sides, [1, 2]);
    /// ```
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        in_place(self.clone(), |scope| scope, op)
    }
}

/// A scope on the calling thread, whichever that is, in the form that `make` gives it.
pub(super) fn in_place<'scope, S, OP, R>(
    handle: Handle,
    make: impl FnOnce(Scope<'scope>) -> S,
    op: OP,
) -> R
where
    S: Form<'scope>,
    OP: FnOnce(&S) -> R,
{
    let own = handle.clone();
    entry::with_any_own(&own, |context| match context {
        Some(context) => scope_on(context, make, op),
        None => {
            let scope = make(Scope::new(handle, 0));
            let (result, base) = scope.base().run(|| op(&scope));
            entry::with_own(&base.handle, |context| match context {
                // The body has made this thread a worker.
                Some(context) => {
                    job::run_above(context, Level::FLOOR);
                    base.wait(context);
                }
                None => wait_for_others(&base.handle, &|| {
                    // A runtime that shuts down sends no more workers.
                    while base.handle.is_shutting_down() && base.run_outside() {}
                    base.is_over()
                }),
            });
            base.finish(result)
        }
    })
}

/// A scope of the runtime of `context`, also where the thread has entered another one: the scope's
/// number is one of that runtime's.
fn scope_on<'scope, S, OP, R>(context: &Context, make: impl FnOnce(Scope<'scope>) -> S, op: OP) -> R
where
    S: Form<'scope>,
    OP: FnOnce(&S) -> R,
{
    let floor = context.seat.processor().deque.level();
    let handle = Handle::new(context.shared().clone());
    let scope = make(Scope::new(handle, context.seat.next_scope()));
    let (result, base) = scope.base().run(|| op(&scope));
    job::run_above(context, floor);
    base.wait(context);
    base.finish(result)
}

impl<'scope> Scope<'scope> {
    fn new(handle: Handle, id: u64) -> Self {
        Self {
            handle,
            id,
            owner: thread::current(),
            // The body counts as one.
            count: AtomicU64::new(1),
            panic: Mutex::new(None),
            outside: OnceLock::new(),
            marker: PhantomData,
        }
    }

    /// Spawns a job into the scope. It runs at some time before the scope ends, on any worker. Jobs
    /// that one worker spawns, and that are not stolen, run in reverse order.
    ///
    /// A job takes an allocation. Beyond 65,530 jobs in a worker's deque it costs two locked
    /// instructions and an uncontended lock more.
    ///
    /// # Locks
    /// The job may run on this stack at the end of a fork or a scope within which it was spawned.
    /// It must not take a lock that is held across such a fork or scope, or that the closure of one
    /// returns locked.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = Address::of(self);
        // SAFETY: the scope exists until the job is complete.
        let body = move || body(unsafe { scope.follow() });
        entry::with_own(&self.handle, |context| match context {
            // SAFETY: the scope waits for the job, and what its body borrows outlives the scope; a
            // worker that serves it is counted.
            Some(context) => unsafe {
                member::push(context, self, self.is_served_by(context), body);
            },
            None => self.send(self.job(1, body)),
        });
    }

    /// Leaves each worker a part of a broadcast, which it calls with the scope, its number and the
    /// number of workers.
    pub(super) fn leave_parts<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, usize, usize) + Send + Sync + 'scope,
    {
        let shared = self.handle.shared();
        let (body, workers) = (Arc::new(body), shared.workers);
        scheduler::broadcast::send(shared, |index| {
            let (body, scope) = (body.clone(), Address::of(self));
            // SAFETY: the scope exists until the part is complete.
            let part = self.job(1, move || body(unsafe { scope.follow() }, index, workers));
            // SAFETY: the scope waits for the part, and what its body borrows outlives the scope.
            unsafe { erase(part) }
        });
    }

    /// Leaves a job to the runtime that the scope belongs to. The caller is not one of its workers.
    pub(super) fn send(&self, job: impl FnOnce() + Send + 'scope) {
        let outside = self.outside.get_or_init(|| Outside::new(self.owner.clone()));
        // SAFETY: the scope waits for the job, and what its body borrows outlives the scope.
        outside.send(&self.handle, unsafe { erase(job) });
    }

    /// Counts a job, which does not panic and counts itself out, by its `weight`. It has to be run.
    pub(super) fn job<'a>(
        &self,
        weight: u64,
        body: impl FnOnce() + Send + 'a,
    ) -> impl FnOnce() + Send + 'a
    where
        'scope: 'a,
    {
        self.count_in(weight);
        let scope: Address<Scope<'scope>> = Address::of(self);
        move || {
            let scope = scope;
            // SAFETY: the scope exists until this job has counted itself out.
            unsafe { scope.follow() }.run_job(body);
            // SAFETY: as above, and nothing of the scope is used after it.
            unsafe { Self::count_out(scope.0, weight) };
        }
    }

    /// The weight of a job in a worker's deque, if it is counted. All others have a weight of one.
    pub(super) fn weight_in_deque(&self) -> u64 {
        if self.id == 0 { HELD } else { 1 }
    }

    /// Whether the scope's count covers the caller, a worker of its runtime, until all that it puts
    /// into its deque has been run. It does if the caller is the owner's worker, or runs a stolen
    /// job of the scope, which counts until then.
    fn is_served_by(&self, context: &Context) -> bool {
        self.id != 0
            && (context.seat.owns_scope(self.id)
                || context.seat.processor().root.load(Ordering::Relaxed) == self.id)
    }

    /// Counts in a job, or a thief that has stolen a member and has not yet said so.
    pub(super) fn count_in(&self, weight: u64) {
        let before = self.count.fetch_add(weight, Ordering::Relaxed);
        if weight == HELD && before < HELD {
            // If the runtime is over, its counts do not matter any more.
            self.handle.shared().enter_jobs(1);
        }
    }

    /// Runs the body of a job, and keeps its panic.
    pub(super) fn run_job(&self, body: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
            self.keep(panic);
        }
    }

    /// Runs the body and counts it out.
    fn run<R>(&self, op: impl FnOnce() -> R) -> (std::thread::Result<R>, &Self) {
        let result = catch_unwind(AssertUnwindSafe(op));
        // SAFETY: the caller has the scope in its frame.
        unsafe { Self::count_out(self, 1) };
        (result, self)
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(super) fn id(&self) -> u64 {
        self.id
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

    /// Counts the body or a job out, by the weight with which it was counted in.
    ///
    /// # Safety
    /// The scope exists, and the body or the job has not been counted out. The scope may be gone
    /// afterwards, so the argument is its address.
    pub(super) unsafe fn count_out(scope: *const Self, weight: u64) {
        // SAFETY: the caller's promise; the last one to count itself out makes no use of it after
        // that.
        let count = unsafe { &raw const (*scope).count };
        // SAFETY: as above.
        let mut seen = unsafe { (*count).load(Ordering::Relaxed) };
        let mut owner = None;
        loop {
            if seen == weight && owner.is_none() {
                // The last: which thread to unpark has to be known before the scope may be gone.
                // SAFETY: as above.
                owner = Some(unsafe { (*scope).owner.clone() });
            }
            // Release ordering: the owner sees what all jobs did. Each further change of the count
            // is a read-modify-write, so the owner's look at the last one acquires from all.
            let order = edge(Edge::ScopeOut, Ordering::Release);
            // SAFETY: as above.
            let exchanged = unsafe {
                (*count).compare_exchange_weak(seen, seen - weight, order, Ordering::Relaxed)
            };
            match exchanged {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        if seen == weight
            && let Some(owner) = owner
        {
            owner.unpark();
        }
        if weight == HELD && seen < 2 * HELD {
            entered::with_worker(|context| {
                let context = context.expect("jobs in deques are run by workers");
                context.shared().note_completed_outside();
            });
        }
    }

    fn wait(&self, context: &Context) {
        let fall_asleep = || !self.is_over();
        let shared = context.shared();
        let own = &context.seat.processor().deque;
        let leap = |idle: Idle| {
            if let Some(job) = self.outside.get().and_then(|outside| outside.take()) {
                context.while_running(Distance::Same, job);
                return Meanwhile::Done;
            }
            // If the owner was no worker at first, jobs have no root to be known by.
            if !own.is_empty() || context.is_relief() || self.id == 0 {
                return Meanwhile::Nothing;
            }
            let others = shared.hosts(context.seat.me());
            let runs =
                |other: usize| shared.processor(other).root.load(Ordering::Relaxed) == self.id;
            let mut runner = Meanwhile::Nothing;
            for other in others.filter(|&other| runs(other)) {
                // The waiter's own time stands for that of each sight: members of a scope state no
                // footprint, and only forks inside them do.
                if !job::may_take(context, other, idle.waited) {
                    continue;
                }
                match Stolen::take(shared, other, || runs(other)) {
                    Some(stolen) => return Meanwhile::Job(stolen),
                    None => runner = Meanwhile::Ask(other),
                }
            }
            runner
        };
        // A wait leaves the deque as it has found it. To that end it may run members that come back
        // to the deque after the count has been zero. If one of them has been stolen meanwhile, the
        // count is above zero again.
        while !self.is_over() {
            wait(context, &|| self.is_over(), &fall_asleep, &leap);
        }
    }

    /// Whether no job is left.
    fn is_over(&self) -> bool {
        self.count.load(edge(Edge::ScopeOver, Ordering::Acquire)) == 0
    }

    fn finish<R>(&self, result: std::thread::Result<R>) -> R {
        let panic = lock(&self.panic).take();
        // The body's panic goes before those of jobs.
        unwind::both(result, panic.map_or(Ok(()), Err)).0
    }
}

/// A form of a scope. It is no public conversion: a first-in-first-out job counts itself out before
/// its worker has run what lies in the deque above it, and so may not spawn into the base.
pub(super) trait Form<'scope> {
    fn base(&self) -> &Scope<'scope>;
}

impl<'scope> Form<'scope> for Scope<'scope> {
    fn base(&self) -> &Self {
        self
    }
}

/// An address that goes to another thread.
pub(super) struct Address<T>(*const T);

impl<T> Address<T> {
    pub(super) fn of(place: &T) -> Self {
        Self(place)
    }

    /// # Safety
    /// The value exists for as long as the result is used.
    pub(super) unsafe fn follow<'a>(&self) -> &'a T {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }
    }
}

// SAFETY: a thread that follows the address shares the value.
unsafe impl<T: Sync> Send for Address<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Address<T> {}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count.load(Ordering::Relaxed);
        f.debug_struct("Scope")
            .field("counted", &(count % HELD + count / HELD))
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod model;
