//! Scopes whose jobs run in the order in which they were spawned.
//!
//! A scope has a queue for each worker: see [`fifo`](crate::deque::fifo).

#![allow(unsafe_code, reason = "jobs borrow from the frame that waits for them")]

use super::broadcast::BroadcastContext;
use super::scope::{Address, Form, Scope, in_place, on_worker};
use super::{entry, spawned};
use crate::deque::fifo::Fifo;
use crate::runtime::Handle;
use crossbeam_utils::CachePadded;
use std::fmt;

/// A scope for jobs that run in the order in which they were spawned: see [`scope_fifo`].
///
/// # Examples
/// A job that spawns another, which runs after those that were spawned before it:
/// ```
/// use evenkeel::fork_join::{ScopeFifo, scope_fifo};
/// use std::sync::Mutex;
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let log = Mutex::new(Vec::new());
/// let write = |entry| log.lock().unwrap().push(entry);
/// runtime.install(|| {
///     scope_fifo(|scope: &ScopeFifo<'_>| {
///         scope.spawn_fifo(|scope| {
///             write("first");
///             scope.spawn_fifo(|_| write("third"));
///         });
///         scope.spawn_fifo(|_| write("second"));
///     });
///     scope_fifo(|scope| scope.spawn_broadcast(|_, _| write("each worker")));
/// });
/// assert_eq!(log.into_inner().unwrap(), ["first", "second", "third", "each worker"]);
/// ```
/// It does not lead to a [`Scope`], which might end before the job that it gets:
/// ```compile_fail,E0277
/// use evenkeel::fork_join::{Scope, ScopeFifo, scope_fifo};
/// fn base<'a, 'scope>(scope: &'a ScopeFifo<'scope>) -> &'a impl AsRef<Scope<'scope>> {
///     scope
/// }
/// scope_fifo(|scope| base(scope).as_ref().spawn(|_| {}));
/// ```
pub struct ScopeFifo<'scope> {
    base: Scope<'scope>,
    /// A queue for each worker, and one for the spares.
    queues: Box<[CachePadded<Fifo>]>,
}

/// As [`scope`](super::scope()), but the jobs that one worker spawns run in the order in which they
/// were spawned. A thief, too, runs the oldest.
///
/// Where a scope inside waits, a job may run on top of a closure that began after the job was
/// spawned. Unlike the jobs of [`Scope::spawn`], such jobs must not lock what is held across a fork
/// or a scope.
///
/// # Panics
/// With the panic of `op`, or else of one of its jobs, once all are over.
///
/// # Examples
/// ```
/// use std::sync::Mutex;
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let order = Mutex::new(Vec::new());
/// runtime.install(|| {
///     evenkeel::fork_join::scope_fifo(|scope| {
///         for number in 0..3 {
///             let order = &order;
///             scope.spawn_fifo(move |_| order.lock().unwrap().push(number));
///         }
///     });
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    scope_fifo_or(entry::default_handle, op)
}

/// [`scope_fifo`], with `outside` for the runtime of callers that belong to none.
pub fn scope_fifo_or<'scope, OP, R>(outside: fn() -> Handle, op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    on_worker(outside, ScopeFifo::new, op)
}

/// As [`scope_fifo`], but `op` runs on the calling thread, whichever that is, and so need not be
/// `Send`.
///
/// # Panics
/// As [`scope_fifo`].
///
/// # Examples
/// A body that is not `Send`, because it reads an `Rc`:
/// ```
/// use evenkeel::fork_join::in_place_scope_fifo;
/// let words = std::rc::Rc::new(["ahoy", "avast", "aye"]);
/// let mut lengths = [0; 3];
/// in_place_scope_fifo(|scope| {
///     for (length, &word) in lengths.iter_mut().zip(words.iter()) {
///         scope.spawn_fifo(move |_| *length = word.len());
///     }
/// });
/// assert_eq!(lengths, [4, 5, 3]);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place(entry::handle(), ScopeFifo::new, op)
}

impl Handle {
    /// As [`in_place_scope_fifo`], with jobs that run on this runtime.
    ///
    /// # Panics
    /// As [`scope_fifo`].
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// runtime.handle().in_place_scope_fifo(|scope| {
    ///     let sender = &sender;
    ///     // The jobs that this job spawns have an order, as one worker spawns them.
    ///     scope.spawn_fifo(move |scope| {
    ///         for number in 0..3 {
    ///             scope.spawn_fifo(move |_| sender.send(number).unwrap());
    ///         }
    ///     });
    /// });
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        in_place(self.clone(), ScopeFifo::new, op)
    }
}

impl<'scope> ScopeFifo<'scope> {
    fn new(base: Scope<'scope>) -> Self {
        // One more, which the spares share: what each spare spawns begins in order there too.
        let queues = 0..=base.handle().workers();
        let queues = queues.map(|_| CachePadded::new(Fifo::new(base.id())));
        Self { queues: queues.collect(), base }
    }

    /// Spawns a job into the scope. It runs at some time before the scope ends, on any worker. Jobs
    /// that one worker spawns begin in that order. A job takes an allocation.
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let scope = Address::of(self);
        // SAFETY: the scope exists until the job is complete.
        let body = move || body(unsafe { scope.follow() });
        entry::with_own(self.base.handle(), |context| {
            let Some(context) = context else { return self.base.send(self.base.job(1, body)) };
            let job = self.base.job(self.base.weight_in_deque(), body);
            let queue = &self.queues[context.seat.me().min(self.queues.len() - 1)];
            // SAFETY: the scope, which has the queue, waits for the job, and what its body borrows
            // outlives the scope.
            unsafe { spawned::push_fifo(context, true, queue, job) }
        });
    }

    /// As [`Scope::spawn_broadcast`].
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = Address::of(self);
        // SAFETY: the scope exists until the part is complete.
        let scope = move || unsafe { scope.follow() };
        self.base.leave_parts(move |_, index, workers| {
            body(scope(), BroadcastContext::new(index, workers));
        });
    }
}

impl<'scope> Form<'scope> for ScopeFifo<'scope> {
    fn base(&self) -> &Scope<'scope> {
        &self.base
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").field("base", &self.base).finish_non_exhaustive()
    }
}
