//! Tasks that are not `Send`, bound to a thread.
//!
//! # Roles
//! The *set* has the local tasks of one thread, in slots. A *driver* is a future that polls them:
//! the set itself, or a call of [`run_until`](LocalSet::run_until). A set has any number of
//! drivers, all on its thread. A *waker* makes a task ready, from any thread. A *joiner* has a
//! task's handle, on any thread if the output may go there.
//!
//! # States
//! A task is *queued* while its number is in the ready queue, *polled* while a driver has it out of
//! its slot, *idle* otherwise, and *finished* when its future is gone and its outcome is there. The
//! mark *queued* says whether the number is in the queue; a task may be queued and polled. After
//! the end the mark stays set, so that late wakers queue nothing.
//!
//! # Steps
//! 1. A waker sets the mark. If it was not set, the waker appends the task's number to the queue
//!    and takes the wakers that drivers have left, both under the queue's lock. Then it wakes the
//!    drivers, without the lock.
//! 2. A driver takes numbers from its thread's batch. If that is empty, it takes the queue as the
//!    batch, under the lock. So the order is first in, first out.
//! 3. It takes the task out of its slot, clears the mark, and polls.
//! 4. Pending, the task goes back into its slot. Complete, it has set its outcome and woken its
//!    joiner, and the slot becomes free.
//! 5. A driver that has made [`POLLS`](tasks::POLLS) polls wakes itself and returns. One that finds
//!    batch and queue empty leaves its waker in its place in the queue, under the lock.
//!
//! # Why nothing is lost
//! *A wake.* The waker that finds the mark clear queues the task. One that finds it set leaves the
//! poll to the earlier waker's number, which no driver has begun: a driver clears the mark before
//! it polls, by a change that reads the last waker's. So the poll sees what that waker did before.
//! A wake in the middle of a poll finds the mark clear and queues the task anew.
//!
//! *A number* names a slot and the task in it. A slot that is used again has another task, and the
//! number is dropped.
//!
//! *A nested driver*, in a `block_on` inside a poll of the same set, may take the number of a task
//! that is being polled below it. It notes that in the slot, and the outer driver queues the task
//! again after its poll.
//!
//! *A driver's wake-up.* Waker and driver change queue and places under one lock: either the driver
//! finds the number, or the waker finds the driver's own waker. The waker takes those of all
//! drivers, because the one that it would choose may be dropped without another poll. A driver that
//! is dropped after it was woken leaves batch and queue to the others, which look there first.
//!
//! *The end.* The drop of the set closes the queue under its lock, so that wakers that outlive it
//! keep nothing and wake nothing. It drops each future on the set's thread, inside the set: what a
//! destructor spawns here is cancelled at once. Outcomes live in the handles, and have an end.
//!
//! # Rejected
//! The header and the state word of `raw_task`: they let any worker poll, cancel and free a task,
//! and each way would need a look whether this one is bound to a thread. One waker for all tasks,
//! with a scan: a wake would cost as much as there are tasks. Wakes of the thread's own tasks past
//! the lock: a second queue, and an order between two queues to keep.

mod body;
mod current;
mod entered;
mod handle;
#[cfg(all(test, loom))]
mod model;
mod ready;
mod tasks;
mod waking;

pub(super) use current::spawn_here;
pub use current::spawn_local;
pub use entered::LocalEnterGuard;
pub use handle::LocalJoinHandle;

use crate::Runtime;
use crate::raw_task::id::{self, Id};
use crate::raw_task::party;
use ready::Place;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use tasks::{Tasks, turn_of};

/// A set of tasks that need not be `Send`, and are polled on the thread of the set alone.
///
/// A local task runs while its set is driven: while a [`run_until`](Self::run_until), a
/// [`block_on`](Self::block_on) or the set itself, which is a future, is awaited. Nothing else
/// polls it. The set is not `Send`, so a spawned task cannot have one: it is driven by
/// [`Runtime::block_on`], on a thread of the program or in a closure of
/// [`spawn_blocking`](crate::spawn_blocking()). [`enter`](Self::enter) lets other code spawn in it.
///
/// Local tasks are polled in the order in which they became ready. After 64 polls the set yields to
/// the future that awaits it, and goes on in that future's next poll. A local task that is aborted
/// is dropped at its next turn.
///
/// Dropping the set drops its tasks, on its thread, and their handles return a
/// [cancelled](crate::JoinError::is_cancelled) error. Wakers that outlive the set do nothing. What
/// a destructor spawns here meanwhile is cancelled at once. Panics of destructors go to the tasks'
/// joiners, also when the set is dropped by a panic.
///
/// # What local tasks do without
/// They stay with their thread, and no worker or relief polls or drops them. So the promise of
/// bounded waits does not hold for them: a poll that is long keeps all tasks of the set waiting.
/// They share the slice of the [budget](crate::budget) that the poll of the set has: once it is
/// used up, their awaits that are ready yield. [`task::current`](super::current()) finds no task in
/// them, long polls are not [reported](crate::Builder::on_stall), a shutdown of the runtime does
/// not wait for them, and [`detect`](crate::detect) does not see what they wait for.
///
/// # Cost
/// A spawn makes three allocations, and two more for a name; a wake takes one lock. A poll of the
/// set costs the same however many tasks wait.
///
/// # Examples
/// Tasks that share a counter without a lock:
/// ```
/// use evenkeel::task::{LocalSet, spawn_local};
/// use std::{cell::Cell, rc::Rc};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let set = LocalSet::new();
/// let strokes = Rc::new(Cell::new(0));
/// set.block_on(&runtime, async {
///     let rowers: Vec<_> = (0..8).map(|_| {
///         let strokes = strokes.clone();
///         spawn_local(async move {
///             for _ in 0..5 {
///                 strokes.set(strokes.get() + 1);
///                 evenkeel::yield_now().await;
///             }
///         })
///     }).collect();
///     for rower in rowers {
///         rower.await.unwrap();
///     }
/// });
/// assert_eq!(strokes.get(), 40);
/// ```
///
/// The set as a future ends when its tasks have ended:
/// ```
/// use evenkeel::task::LocalSet;
/// use std::{cell::RefCell, rc::Rc};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let log = Rc::new(RefCell::new(Vec::new()));
/// let set = LocalSet::new();
/// for watch in ["first", "second"] {
///     let log = log.clone();
///     drop(set.spawn_local(async move { log.borrow_mut().push(watch) }));
/// }
/// runtime.block_on(set);
/// assert_eq!(*log.borrow(), ["first", "second"]);
/// ```
#[must_use = "local tasks run while the set is awaited"]
pub struct LocalSet {
    tasks: Rc<Tasks>,
    /// That of the set itself, as a driver.
    place: Place,
}

impl LocalSet {
    /// Makes an empty set, which is bound to the calling thread. It belongs to no runtime.
    pub fn new() -> Self {
        let tasks = Rc::new(Tasks::new());
        let place = tasks.place();
        Self { tasks, place }
    }

    /// Spawns a local task. It is polled once the set is driven; a driver that waits is woken.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::LocalSet;
    /// use std::rc::Rc;
    /// let set = LocalSet::new();
    /// let course = Rc::new(90);
    /// let helm = set.spawn_local(async move { *course });
    /// assert_eq!(evenkeel::block_on(set.run_until(helm)).unwrap(), 90);
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> LocalJoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_named(future, None, Location::caller())
    }

    /// Spawns a local task with a name, or without one.
    pub(super) fn spawn_named<F>(
        &self,
        future: F,
        name: Option<Box<str>>,
        site: &'static Location<'static>,
    ) -> LocalJoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.tasks.spawn(future, name, site)
    }

    /// Runs a future to its end, and the local tasks of the set meanwhile. Tasks that are left stay
    /// in the set, for the next call.
    ///
    /// The future may borrow, and need not be `Send`. It is inside the set, so
    /// [`spawn_local()`] works in it; but it is not a local task. Each poll polls
    /// the future first, and then up to 64 tasks. Several calls on one set may be awaited at the
    /// same time.
    ///
    /// # Cancel safety
    /// That of `future`. The tasks stay in the set.
    ///
    /// # Panics
    /// With the panic of the future, and not with those of tasks.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::{LocalSet, spawn_local};
    /// use std::rc::Rc;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let set = LocalSet::new();
    /// let sum = runtime.block_on(set.run_until(async {
    ///     let port = Rc::new(2);
    ///     let starboard = port.clone();
    ///     let task = spawn_local(async move { *starboard });
    ///     *port + task.await.unwrap()
    /// }));
    /// assert_eq!(sum, 4);
    /// ```
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        let mut place = self.tasks.place();
        let mut future = pin!(future);
        let mut alone = None;
        poll_fn(|cx| {
            current::enter(&self.tasks, |tasks| {
                // An executor of another crate may poll this, and the local tasks are others.
                let is_alone = party::present() == Id::NONE;
                let turn = is_alone
                    .then(|| alone.get_or_insert_with(|| Alone(id::take_one())).0)
                    .and_then(turn_of);
                if let Poll::Ready(output) = future.as_mut().poll(cx) {
                    return Poll::Ready(output);
                }
                drop(turn);
                tasks.drive(&mut place, cx.waker());
                Poll::Pending
            })
        })
        .await
    }

    /// Runs a future to its end on this thread, inside the runtime, and the local tasks of the set
    /// meanwhile: [`Runtime::block_on`] of [`run_until`](Self::run_until).
    ///
    /// # Panics
    /// As [`Runtime::block_on`].
    ///
    /// # Examples
    /// Local tasks spawn others on the workers, and wait for them:
    /// ```
    /// use evenkeel::task::{LocalSet, spawn_local};
    /// use std::rc::Rc;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let sum = LocalSet::new().block_on(&runtime, async {
    ///     let own = Rc::new(1);
    ///     let task = spawn_local(async move { *own + evenkeel::spawn(async { 2 }).await.unwrap() });
    ///     task.await.unwrap()
    /// });
    /// assert_eq!(sum, 3);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }
}

/// Runs the local tasks, and is ready when none is left. It may be awaited again, after more have
/// been spawned.
///
/// # Cancel safety
/// By reference, as in `(&mut set).await`, the tasks stay in the set.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { tasks, place } = self.get_mut();
        current::enter(tasks, |tasks| tasks.drive(place, cx.waker()));
        if tasks.is_empty() {
            place.leave();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        current::enter(&self.tasks, Tasks::close);
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

/// A future beside local tasks that no party of this library's polls: a party itself, until it is
/// dropped.
struct Alone(Id);

impl Drop for Alone {
    fn drop(&mut self) {
        party::end(self.0);
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}
