//! Counts of tasks, and waits for the end of all of them.
//!
//! # Roles
//! A *tracker* and its clones share a count of tasks. A *token* is one task in the count, until it
//! is dropped. A *waiter* waits until the tracker is *done*: closed, and without tokens.
//!
//! # Why no wake-up is lost
//! Count, mark and wakers change under one lock. The thread whose change makes the tracker done
//! counts that as an *end*, takes all wakers, and wakes them without the lock. A waiter is made
//! with the number of ends so far, and waits while the number is the same: so it ends too if the
//! tracker is opened again before the waiter is polled.
//!
//! A place belongs to its waiter while the number is the same. After an end the places are new.
//!
//! # Rejected
//! An atomic count, as `tokio-util` has it: the lock is held for some instructions, twice for each
//! task, beside the allocations and the wake-up of its spawn. The signal of a
//! [`CancellationToken`](super::CancellationToken): it is set once, and a tracker opens again.

use super::join::JoinHandle;
use super::spawning;
use crate::Handle;
use crate::primitives::slab::Slab;
use crate::primitives::unwind::wake_all;
use crate::primitives::{Mutex, lock};
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Counts tasks, and waits until all of them have ended: for a server that stops, for example.
///
/// It keeps nothing of a task that has ended, neither its output nor its memory, so it may have any
/// number of tasks in its life. A [`JoinSet`](super::JoinSet) keeps them until they are joined, and
/// aborts them when it is dropped; a tracker that is dropped aborts nothing. Clones are the same
/// tracker.
///
/// [`wait`](Self::wait) ends when the tracker is [closed](Self::close) *and* has no tasks. Tasks
/// may be spawned after that too. A task counts until its future is dropped, by its end, a panic or
/// an abort: when a wait ends, the destructors of the futures have returned. A task's
/// [`is_finished`](JoinHandle::is_finished) may still be false for a moment.
///
/// The tracker belongs to no runtime. The [detection of deadlocks](crate::detect) does not see what
/// it waits for.
///
/// # Cost
/// For each task a lock when it begins and one when it ends, and an allocation for its future
/// beside the task's own.
///
/// # Source
/// The semantics of `TaskTracker` in the crate `tokio-util`.
///
/// # Examples
/// A server that tells its connections to end, and waits for them:
/// ```
/// use evenkeel::task::{CancellationToken, TaskTracker};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let (connections, stop) = (TaskTracker::new(), CancellationToken::new());
///     for _ in 0..3 {
///         connections.spawn(stop.clone().cancelled_owned()).detach();
///     }
///     assert_eq!(connections.len(), 3);
///     stop.cancel();
///     connections.close();
///     connections.wait().await;
///     assert!(connections.is_empty());
/// });
/// ```
#[derive(Clone)]
pub struct TaskTracker {
    state: Arc<Mutex<State>>,
}

struct State {
    tasks: usize,
    is_closed: bool,
    /// How often the tracker has become done.
    ends: u64,
    /// No waker is cloned, called or dropped with this locked: that may run a caller's code.
    waiters: Slab<Waker>,
}

impl State {
    fn is_done(&self) -> bool {
        self.is_closed && self.tasks == 0
    }
}

impl TaskTracker {
    /// Makes a tracker without tasks that is not closed.
    #[must_use]
    pub fn new() -> Self {
        let state = State { tasks: 0, is_closed: false, ends: 0, waiters: Slab::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Spawns a task, as [`spawn`](crate::spawn()) does, and counts it.
    ///
    /// # Panics
    /// If the caller belongs to no runtime; see [`spawn_on`](Self::spawn_on).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawning::spawn(self.track_future(future))
    }

    /// Does the same on the runtime of `handle`. The caller may be outside of any runtime. A
    /// runtime that is over drops the future, which then counts no more.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::TaskTracker;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let tracker = TaskTracker::new();
    /// let answer = tracker.spawn_on(async { 6 * 7 }, &runtime.handle());
    /// tracker.close();
    /// evenkeel::block_on(tracker.wait());
    /// assert_eq!(evenkeel::block_on(answer).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(self.track_future(future))
    }

    /// Returns a future that counts as a task from now on until it is dropped. It is spawned by the
    /// caller, for example in a [`JoinSet`](super::JoinSet), as a [local
    /// task](super::spawn_local()) or with a [name](super::Builder::name).
    ///
    /// # Cancel safety
    /// That of `future`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{Builder, TaskTracker};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let tracker = TaskTracker::new();
    ///     let cook = tracker.track_future(async { "soup" });
    ///     assert_eq!(tracker.len(), 1);
    ///     let cook = Builder::new().name("cook").spawn(cook);
    ///     tracker.close();
    ///     tracker.wait().await;
    ///     assert_eq!(cook.await.unwrap(), "soup");
    /// });
    /// ```
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture { future: Box::pin(future), token: self.token() }
    }

    /// Returns a token that counts as a task until it is dropped: for a thread, or a closure of
    /// [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::TaskTracker;
    /// let tracker = TaskTracker::new();
    /// let token = tracker.token();
    /// let thread = std::thread::spawn(move || drop(token));
    /// tracker.close();
    /// evenkeel::block_on(tracker.wait());
    /// thread.join().unwrap();
    /// ```
    pub fn token(&self) -> TaskTrackerToken {
        lock(&self.state).tasks += 1;
        TaskTrackerToken { tracker: self.clone() }
    }

    /// Closes the tracker, so that waits end when it has no tasks. Returns whether it was open.
    /// Tasks may be spawned all the same.
    pub fn close(&self) -> bool {
        !self.change(|state| mem::replace(&mut state.is_closed, true))
    }

    /// Opens the tracker again: waits that begin now do not end while it is open. Returns whether
    /// it was closed.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::TaskTracker;
    /// let tracker = TaskTracker::new();
    /// assert!(!tracker.reopen() && tracker.close() && !tracker.close());
    /// assert!(tracker.is_closed() && tracker.reopen() && !tracker.is_closed());
    /// ```
    pub fn reopen(&self) -> bool {
        self.change(|state| mem::replace(&mut state.is_closed, false))
    }

    /// Waits until the tracker is closed and has no tasks; at once if it is so already. Takes no
    /// unit of the [`budget`](crate::budget).
    ///
    /// A wait that was called before also ends if that was so for a moment in which it was not
    /// polled, and the tracker has been opened again or has new tasks.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub fn wait(&self) -> TaskTrackerWaitFuture<'_> {
        let state = lock(&self.state);
        let waits = (!state.is_done()).then_some(state.ends);
        TaskTrackerWaitFuture { tracker: self, waits, place: None }
    }

    /// Returns whether the tracker is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Returns how many tasks and tokens it counts.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.state).tasks
    }

    /// Returns whether it has no tasks and no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes the state, and wakes the waiters if the tracker is done by that.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = lock(&self.state);
        let result = change(&mut state);
        if state.is_done() {
            // If it was done before, no waiter is there.
            state.ends += 1;
            let waiters = state.waiters.take_all();
            drop(state);
            wake_all(waiters);
        }
        result
    }
}

/// A tracker without tasks that is not closed.
impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, is_closed) = (self.len(), self.is_closed());
        f.debug_struct("TaskTracker").field("len", &len).field("is_closed", &is_closed).finish()
    }
}

/// Counts as a task of a tracker until it is dropped. Returned by [`TaskTracker::token`], which has
/// an example. A clone counts as one more.
#[derive(Debug)]
#[must_use = "a token that is dropped counts no more"]
pub struct TaskTrackerToken {
    tracker: TaskTracker,
}

impl TaskTrackerToken {
    /// Returns the tracker that counts it.
    #[must_use]
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.tracker
    }
}

impl Clone for TaskTrackerToken {
    fn clone(&self) -> Self {
        self.tracker.token()
    }
}

impl Drop for TaskTrackerToken {
    fn drop(&mut self) {
        self.tracker.change(|state| state.tasks -= 1);
    }
}

/// A future that counts as a task of a tracker until it is dropped. Returned by
/// [`TaskTracker::track_future`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct TrackedFuture<F> {
    /// Dropped before the token, so that its destructors have returned when a wait ends. Boxed: a
    /// field that is pinned with the whole needs unsafe code.
    future: Pin<Box<F>>,
    token: TaskTrackerToken,
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl<F> fmt::Debug for TrackedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tracker = self.token.task_tracker();
        f.debug_struct("TrackedFuture").field("task_tracker", tracker).finish_non_exhaustive()
    }
}

/// Waits until a tracker is closed and has no tasks. Returned by [`TaskTracker::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct TaskTrackerWaitFuture<'a> {
    tracker: &'a TaskTracker,
    /// The number of ends at which it was made; none when it does not wait any more.
    waits: Option<u64>,
    /// Where its waker is, while the number of ends is the same.
    place: Option<usize>,
}

impl Future for TaskTrackerWaitFuture<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (tracker, Some(ends)) = (self.tracker, self.waits) else { return Poll::Ready(()) };
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut waker = cx.waker().clone();
        let mut state = lock(&tracker.state);
        if state.ends != ends {
            drop(state);
            self.waits = None;
            return Poll::Ready(());
        }
        match self.place.and_then(|place| state.waiters.get_mut(place)) {
            Some(left) => mem::swap(left, &mut waker),
            None => {
                let place = state.waiters.insert(waker);
                drop(state);
                self.place = Some(place);
            }
        }
        Poll::Pending
    }
}

impl Drop for TaskTrackerWaitFuture<'_> {
    fn drop(&mut self) {
        let (Some(ends), Some(place)) = (self.waits, self.place) else { return };
        let mut state = lock(&self.tracker.state);
        let left = if state.ends == ends { state.waiters.remove(place) } else { None };
        drop(state);
        drop(left);
    }
}

impl fmt::Debug for TaskTrackerWaitFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTrackerWaitFuture")
            .field("task_tracker", self.tracker)
            .finish_non_exhaustive()
    }
}
