//! Sets of tasks that are joined in the order in which they finish.
//!
//! # Roles
//! The *set* has the handles of its tasks, its *members*, in slots. The *joiner* borrows the set
//! and waits for the next member that finishes. A *completer* is the thread that finishes a member:
//! the worker that ends the task, the thread of a local one, or the thread that gives the handle of
//! a stuck one up.
//!
//! # States
//! A member is *running* while its handle has to wait, then *finished*, in the line or in the
//! joiner's batch, and *joined* when the joiner has its output and the slot is free.
//!
//! # Steps
//! 1. The set puts the handle into a slot, and leaves a waker of its own in the task: a
//!    [`Report`], with the slot and the task's number. If the handle is finished already, the set
//!    appends the member to the line itself.
//! 2. The completer wakes that waker. Under the lock of the line the report appends its member and
//!    takes the joiner's waker. Then it wakes the joiner, without the lock.
//! 3. The joiner takes members from its *batch*. If that is empty, it takes the line as its batch,
//!    or leaves its waker, both under the lock. It frees the member's slot and takes the output.
//!
//! # Why nothing is lost
//! *A completion.* The handle's protocol wakes the report once its waker has been left, or says
//! that the handle is finished. So each member comes into the line once. The completer and the
//! joiner change line and waker under one lock: either the joiner finds the member, or the
//! completer finds the waker. A joiner that is dropped has taken nothing: batch and line belong to
//! the set, and the next joiner looks there before it waits. The waker that it leaves behind may be
//! woken in vain.
//!
//! *A slot.* A member is looked up by slot and number. A report that comes for a task that is not
//! in its slot any more finds another number, or a handle that has to wait, and is ignored.
//!
//! # Rejected
//! A scan over the handles: each wake would cost as much as there are members. A list through the
//! reports, as in `FuturesUnordered`: it saves the lock, and needs unsafe code. A guard in the
//! spawned future that reports when it is dropped: the output is not there yet, a stuck task never
//! reports, and tasks that are spawned elsewhere cannot be members.

mod finished;
mod joined;
#[cfg(all(test, loom))]
mod model;

use super::abort_handle::AbortHandle;
use super::budget::Unit;
use super::error::JoinError;
use super::join::JoinHandle;
use super::local_set::{LocalJoinHandle, LocalSet, spawn_local};
use super::spawning;
use crate::Handle;
use crate::primitives::slab::Slab;
use crate::raw_task::id::Id;
use finished::{Finished, Member, Report};
use joined::Joined;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// A set of tasks, the outputs of which come in the order in which the tasks finish.
///
/// Dropping the set aborts its tasks, and so does [`shutdown`](Self::shutdown), which also waits
/// until they are gone. [`detach_all`](Self::detach_all) lets them go on.
///
/// The set belongs to no runtime. It is filled and awaited anywhere, also outside of tasks.
///
/// # Cost
/// For each task one allocation beside the task's own, and one lock when it finishes. To join a
/// task costs the same however many others are in the set. [`abort_all`](Self::abort_all) and the
/// drop visit as many slots as the set has had tasks at one time since it was empty.
///
/// The [detection of deadlocks](crate::detect) does not see what a set waits for.
///
/// # Examples
/// ```
/// use evenkeel::task::JoinSet;
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let sum = runtime.block_on(async {
///     let mut squares = JoinSet::new();
///     for n in 0..4_u32 {
///         squares.spawn(async move { n * n });
///     }
///     let mut sum = 0;
///     while let Some(square) = squares.join_next().await {
///         sum += square.unwrap();
///     }
///     sum
/// });
/// assert_eq!(sum, 14);
/// ```
///
/// The first of several answers; the drop of the set aborts the other tasks:
/// ```
/// use evenkeel::task::JoinSet;
/// use evenkeel::time::{Duration, sleep};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// let first = runtime.block_on(async {
///     let mut boats: JoinSet<_> = [("gig", 30), ("launch", 10), ("cutter", 20)]
///         .into_iter()
///         .map(|(boat, minutes)| async move {
///             sleep(Duration::from_secs(60 * minutes)).await;
///             boat
///         })
///         .collect();
///     boats.join_next().await.unwrap().unwrap()
/// });
/// assert_eq!(first, "launch");
/// ```
#[must_use = "dropping the set aborts its tasks"]
pub struct JoinSet<T> {
    handles: Slab<Joined<T>>,
    finished: Arc<Finished>,
    /// Finished members that the joiner has taken out of the line.
    batch: VecDeque<Member>,
    unit: Unit,
}

impl<T> JoinSet<T> {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self {
            handles: Slab::new(),
            finished: Arc::new(Finished::new()),
            batch: VecDeque::new(),
            unit: Unit::NEW,
        }
    }

    /// Returns how many tasks are in the set: those that run, and those that have finished and have
    /// not been joined.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Returns whether the set has no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Aborts all tasks of the set, as [`JoinHandle::abort`] does. They stay in the set, and are
    /// joined with a [cancelled](JoinError::is_cancelled) error unless they were complete.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut watches = JoinSet::new();
    ///     for _ in 0..3 {
    ///         watches.spawn(std::future::pending::<()>());
    ///     }
    ///     watches.abort_all();
    ///     assert_eq!(watches.len(), 3);
    ///     while let Some(watch) = watches.join_next().await {
    ///         assert!(watch.unwrap_err().is_cancelled());
    ///     }
    /// });
    /// ```
    pub fn abort_all(&mut self) {
        self.handles.iter().for_each(Joined::abort);
    }

    /// Empties the set and lets its tasks go on. Their outputs are dropped, and their panics go to
    /// [`on_task_panic`](crate::Builder::on_task_panic).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut crew = JoinSet::new();
    ///     crew.spawn(async move { sender.send("ashore").unwrap() });
    ///     crew.detach_all();
    ///     assert!(crew.is_empty());
    /// });
    /// assert_eq!(receiver.recv(), Ok("ashore"));
    /// ```
    pub fn detach_all(&mut self) {
        self.batch.clear();
        self.finished.take(&mut self.batch);
        self.batch.clear();
        self.handles.take_all().for_each(drop);
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task on the runtime that the caller belongs to, as [`spawn`](crate::spawn) does,
    /// and puts it into the set.
    ///
    /// # Panics
    /// If the caller belongs to no runtime; see [`spawn_on`](Self::spawn_on).
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawning::spawn(future))
    }

    /// Spawns a task on the runtime of `handle`, as [`Handle::spawn`] does, and puts it into the
    /// set. A runtime that shuts down cancels the task at once, and the set then has a
    /// [cancelled](JoinError::is_cancelled) error.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let mut set = JoinSet::new();
    /// set.spawn_on(async { 7 }, &runtime.handle());
    /// // The caller is outside of the runtime.
    /// assert_eq!(evenkeel::block_on(set.join_next()).unwrap().unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(future))
    }

    /// Runs a closure that may block on a thread apart from the workers, as
    /// [`spawn_blocking`](crate::spawn_blocking) does, and puts it into the set. A closure that has
    /// begun is not aborted: [`shutdown`](Self::shutdown) waits for its end.
    ///
    /// # Panics
    /// If the caller belongs to no runtime; see
    /// [`spawn_blocking_on`](Self::spawn_blocking_on).
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, closure: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(spawning::spawn_blocking(closure))
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), on the runtime of `handle`.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, closure: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(closure))
    }

    /// Spawns a local task in the [`LocalSet`] that the caller is inside of, as
    /// [`spawn_local`] does, and puts it into this set. Members of both kinds
    /// may be in one set.
    ///
    /// A local task runs, and is dropped after an abort, while its `LocalSet` is driven. So the
    /// joiner waits inside of a driver, or beside one. When the `LocalSet` is dropped, the task's
    /// member is a [cancelled](JoinError::is_cancelled) error.
    ///
    /// # Panics
    /// If the caller is inside of no `LocalSet`; see [`spawn_local_on`](Self::spawn_local_on).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let sum = LocalSet::new().block_on(&runtime, async {
    ///     let (step, mut set) = (Rc::new(2), JoinSet::new());
    ///     for n in 0..4 {
    ///         let step = step.clone();
    ///         set.spawn_local(async move { n * *step });
    ///     }
    ///     set.spawn(async { 30 });
    ///     set.join_all().await.into_iter().sum::<u32>()
    /// });
    /// assert_eq!(sum, 42);
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert_local(spawn_local(future))
    }

    /// As [`spawn_local`](Self::spawn_local), in the given [`LocalSet`]. The caller may be outside
    /// of it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    /// let (local, mut set) = (LocalSet::new(), JoinSet::new());
    /// set.spawn_local_on(async { Rc::new(7) }, &local);
    /// let joined = evenkeel::block_on(local.run_until(set.join_next()));
    /// assert_eq!(*joined.unwrap().unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert_local(set.spawn_local(future))
    }

    /// Puts a task into the set that has been spawned elsewhere, for example with a
    /// [name](super::Builder::name).
    ///
    /// # Panics
    /// If the handle has returned its output.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, JoinSet};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut set = JoinSet::new();
    ///     set.insert(Builder::new().name("cook").spawn(async { "soup" }));
    ///     assert_eq!(set.join_next().await.unwrap().unwrap(), "soup");
    /// });
    /// ```
    #[track_caller]
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        self.put(Joined::Task(handle))
    }

    /// Does the same with a local task.
    ///
    /// # Panics
    /// If the handle has returned its output.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, JoinSet, LocalSet};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// LocalSet::new().block_on(&runtime, async {
    ///     let mut set = JoinSet::new();
    ///     set.insert_local(Builder::new().name("cook").spawn_local(async { "soup" }));
    ///     assert_eq!(set.join_next().await.unwrap().unwrap(), "soup");
    /// });
    /// ```
    #[track_caller]
    pub fn insert_local(&mut self, handle: LocalJoinHandle<T>) -> AbortHandle {
        self.put(Joined::Local(handle))
    }

    #[track_caller]
    fn put(&mut self, handle: Joined<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let id = handle.id();
        let slot = self.handles.insert(handle);
        let member = Member { slot, id };
        let waker = Waker::from(Arc::new(Report { finished: self.finished.clone(), member }));
        let handle = self.handles.get_mut(slot).expect("it has been put there");
        if !handle.leave_waker(&waker) {
            self.finished.push(member);
        }
        abort
    }

    /// Waits until a task of the set finishes, and returns its output. Returns `None` at once if
    /// the set is empty.
    ///
    /// # Errors
    /// If the task panicked, was aborted, or was left behind as [stuck](JoinError::is_stuck).
    ///
    /// # Cancel safety
    /// Nothing is lost: a task leaves the set only as its output is returned.
    ///
    /// # Cost
    /// If a task has finished, a unit of the [`budget`](crate::budget).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut set = JoinSet::new();
    ///     set.spawn(async { panic!("man overboard") });
    ///     let error = set.join_next().await.unwrap().map(|()| "ashore").unwrap_err();
    ///     assert!(error.is_panic());
    ///     assert!(set.join_next().await.is_none());
    /// });
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|context| self.poll_join_next(context)).await
    }

    /// As [`join_next`](Self::join_next), with the number of the task, which an error
    /// [has](JoinError::id).
    ///
    /// # Errors
    /// As for [`join_next`](Self::join_next).
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut set = JoinSet::new();
    ///     let id = set.spawn(async { 7 }).id();
    ///     assert_eq!(set.join_next_with_id().await.unwrap().unwrap(), (id, 7));
    /// });
    /// ```
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|context| self.poll_join_next_with_id(context)).await
    }

    /// Returns the output of the next task if one has finished. Returns `None` if none has, or if
    /// the set is [empty](Self::is_empty). A task that finishes at this moment may be too late.
    /// Takes no unit of the budget.
    ///
    /// # Errors
    /// As for [`join_next`](Self::join_next).
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        Some(self.try_join_next_with_id()?.map(|(_, output)| output))
    }

    /// As [`try_join_next`](Self::try_join_next), with the number of the task.
    ///
    /// # Errors
    /// As for [`join_next`](Self::join_next).
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        loop {
            if self.batch.is_empty() && !self.finished.take(&mut self.batch) {
                return None;
            }
            if let Some(joined) = self.take_first() {
                return Some(joined);
            }
        }
    }

    /// Polls for the next task that finishes: for authors of futures. `Ready(None)` if the set is
    /// empty.
    ///
    /// After `Pending` the waker of the last call is woken when a task finishes, or when the poll's
    /// [slice](crate::budget) is over.
    ///
    /// # Errors
    /// As for [`join_next`](Self::join_next).
    pub fn poll_join_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<T, JoinError>>> {
        let joined = ready!(self.poll_join_next_with_id(context));
        Poll::Ready(joined.map(|joined| joined.map(|(_, output)| output)))
    }

    /// As [`poll_join_next`](Self::poll_join_next), with the number of the task.
    ///
    /// # Errors
    /// As for [`join_next`](Self::join_next).
    pub fn poll_join_next_with_id(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        loop {
            if self.is_empty() {
                return Poll::Ready(None);
            }
            let waker = context.waker();
            if self.batch.is_empty() && !self.finished.take_or_wait(&mut self.batch, waker) {
                self.unit.owe();
                return Poll::Pending;
            }
            ready!(self.unit.poll(waker));
            if let Some(joined) = self.take_first() {
                return Poll::Ready(Some(joined));
            }
        }
    }

    /// Waits for all tasks, and returns their outputs in the order in which they finished.
    ///
    /// # Panics
    /// If a task panicked: with its panic. If a task was aborted or is stuck: with its error. The
    /// other tasks are then aborted.
    ///
    /// # Cancel safety
    /// None: the set is dropped with the future, so its tasks are aborted, and the outputs that it
    /// has are lost.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let mut squares = runtime.block_on(async {
    ///     (0..4_u32).map(|n| async move { n * n }).collect::<JoinSet<_>>().join_all().await
    /// });
    /// squares.sort();
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined {
                Ok(output) => outputs.push(output),
                Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                Err(error) => panic!("`JoinSet::join_all`: {error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks, and waits until they have finished. Outputs and errors are dropped, and so
    /// are panics.
    ///
    /// # Cancel safety
    /// All tasks have been aborted at the first poll. Those that are left stay in the set.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::JoinSet;
    /// use std::sync::Arc;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let (rope, mut set) = (Arc::new(()), JoinSet::new());
    ///     for _ in 0..3 {
    ///         let rope = rope.clone();
    ///         set.spawn(async move {
    ///             let _rope = rope;
    ///             std::future::pending::<()>().await;
    ///         });
    ///     }
    ///     set.shutdown().await;
    ///     assert_eq!(Arc::strong_count(&rope), 1, "all have let go");
    /// });
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Takes the first member out of the batch, and its output, unless the report was in vain.
    fn take_first(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let Member { slot, id } = self.batch.pop_front()?;
        let handle = self.handles.get_mut(slot).filter(|handle| handle.id() == id)?;
        let joined = handle.try_join()?;
        self.handles.remove(slot);
        Some(joined.map(|output| (id, output)))
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Spawns each of the futures, as [`JoinSet::spawn`] does: panics outside of a runtime.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> FromIterator<F> for JoinSet<T> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

/// Spawns each of the futures, as [`JoinSet::spawn`] does: panics outside of a runtime.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> Extend<F> for JoinSet<T> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish_non_exhaustive()
    }
}
