//! The handle of a task, which returns its output and can abort it.
//!
//! # Protocol
//! The slot for the joiner's waker belongs to the handle until the handle sets `JOINER`, and from
//! then on to the completer; the handle may take it back for as long as the task is not complete.
//! So each of the two knows from its own change of the word whether the slot is its own. A handle
//! that is dropped takes its waker back, then gives up `HANDLE`. If it finds the task complete, it
//! drops the output. If the completer finds that there is no handle, the completer drops the
//! output.
//!
//! The thread that shuts the runtime down may [give the handle up](crate::raw_task::state) while
//! the task is inside a poll that does not return. From then on neither slot nor output is the
//! handle's, and its hold is a reference. So the handle looks at the slot only by a word in which
//! it has not been given up.

#![allow(unsafe_code, reason = "the joiner's slot and the output belong to one party at a time")]

use super::abort_handle::AbortHandle;
use super::budget;
use super::error::{Failure, JoinError};
use super::task_ref::Task;
use super::waker;
use crate::detect;
use crate::primitives::unwind;
use crate::raw_task::header::{Live, TaskPtr};
use crate::raw_task::id::Id;
use crate::raw_task::rights::Reference;
use crate::raw_task::state::{Join, Release, Signal, Word};
use crate::scheduler::wake;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// The panic of a call that needs the task of its handle.
pub(super) const USED: &str =
    "the handle has returned its output, and has no task any more: use it before it is awaited";

/// The panic of a handle that is polled after it was ready.
pub(super) const POLLED_AGAIN: &str =
    "the handle has returned its output and is polled again: keep the output, and poll it no more";

/// A task's handle: a future of its output.
///
/// Dropping the handle [detaches](Self::detach) the task, which goes on. One allocation serves the
/// task and its handle.
///
/// The handle of each task finishes: with the output, or with a [`JoinError`] if the task panicked,
/// was cancelled, or was still inside a poll when a shutdown with a
/// [deadline](crate::Shutdown::Deadline) left it behind.
///
/// # Cancel safety
/// Dropping a handle that has been polled loses the output and nothing else. Awaiting `&mut handle`
/// may be given up and taken up again.
///
/// # Panics
/// When polled again after it has returned the output.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let sum = runtime.block_on(async {
///     let handle = evenkeel::spawn(async { 2 + 2 });
///     handle.await.unwrap()
/// });
/// assert_eq!(sum, 4);
/// ```
///
/// A limit on a wait, not on the task: the timeout borrows the handle, and the task goes on:
/// ```
/// use evenkeel::time::{Duration, sleep, timeout};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let mut handle = evenkeel::spawn(sleep(Duration::from_secs(90)));
///     assert!(timeout(Duration::from_secs(60), &mut handle).await.is_err());
///     assert!(!handle.is_finished());
///     assert!(timeout(Duration::from_secs(60), &mut handle).await.unwrap().is_ok());
///     assert!(handle.is_finished());
/// });
/// ```
#[must_use = "a dropped handle detaches the task: await the handle, or call `detach`"]
pub struct JoinHandle<T> {
    /// None once the output has been taken, and with it the handle's hold on the task.
    task: Option<TaskPtr>,
    id: Id,
    output: PhantomData<T>,
}

// SAFETY: through the handle a `T` moves to the thread that polls it, which `T: Send` permits; the
// rest of the task is made for sharing.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The handle of a new task.
    ///
    /// # Safety
    /// The task has a handle by its state, this is the only one made, and `T` is its output's type.
    pub(crate) unsafe fn new(task: TaskPtr, id: Id) -> Self {
        Self { task: Some(task), id, output: PhantomData }
    }

    #[track_caller]
    fn live(&self) -> Option<Live<'_>> {
        // SAFETY: the handle holds the task for as long as it has its address.
        self.task.map(|task| unsafe { Live::new(task) })
    }

    /// Has the task's future dropped at its next turn; the handle then returns a
    /// [cancelled](JoinError::is_cancelled) error. Nothing interrupts a poll that is under way. A
    /// complete task is not affected, and one that
    /// completes in the poll that is under way keeps its output.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let watch = runtime.spawn(std::future::pending::<()>());
    /// let cabin_boy = runtime.spawn(async { 1 });
    /// while !cabin_boy.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// watch.abort();
    /// cabin_boy.abort();
    /// runtime.block_on(async {
    ///     assert!(watch.await.unwrap_err().is_cancelled());
    ///     assert_eq!(cabin_boy.await.unwrap(), 1, "it was complete");
    /// });
    /// ```
    pub fn abort(&self) {
        if let Some(header) = self.live() {
            wake::signal(header, Signal::Abort);
        }
    }

    /// Returns whether awaiting the handle does not wait: the task is complete, by its own end, a
    /// panic or an abort, or a shutdown has left it behind as [stuck](JoinError::is_stuck). The
    /// await returns at once, or yields first if the [slice](crate::budget) of the poll is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.live().is_none_or(|header| header.state.load_joined().joined() != Join::Done)
    }

    /// Returns the task's number, by which reports and errors name the task.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let handle = runtime.spawn(async { panic!("adrift") });
    /// let id = handle.id();
    /// let error = runtime.block_on(handle).map(|()| "ashore").unwrap_err();
    /// assert_eq!(error.id(), id);
    /// assert_eq!(error.to_string(), format!("task {id} panicked: adrift"));
    /// ```
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns a reference to the task, by which it can be unparked.
    ///
    /// # Panics
    /// If the handle has returned its output.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::park;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let sleeper = runtime.spawn(async {
    ///     park().await;
    ///     "awake"
    /// });
    /// let task = sleeper.task();
    /// std::thread::spawn(move || task.unpark());
    /// assert_eq!(runtime.block_on(sleeper).unwrap(), "awake");
    /// ```
    #[must_use]
    #[track_caller]
    pub fn task(&self) -> Task {
        let header = self.live().expect(USED);
        Task::new(Reference::of(header))
    }

    /// Returns the right to abort the task, which can be given away and outlives the handle. If the
    /// handle has returned its output, the right aborts nothing, and is
    /// [finished](AbortHandle::is_finished).
    ///
    /// # Cost
    /// One locked instruction: a counted reference to the task.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let watch = runtime.spawn(std::future::pending::<()>());
    /// let abort = watch.abort_handle();
    /// std::thread::spawn(move || abort.abort());
    /// assert!(runtime.block_on(watch).unwrap_err().is_cancelled());
    /// ```
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        match self.live() {
            Some(header) => AbortHandle::new(Task::new(Reference::of(header))),
            None => AbortHandle::finished(self.id),
        }
    }

    /// Lets the task go on without a handle, as the drop of the handle does. Its output is dropped,
    /// and a panic goes to [`on_task_panic`](crate::Builder::on_task_panic).
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// runtime.spawn(async move { sender.send("aweigh").unwrap() }).detach();
    /// assert_eq!(receiver.recv(), Ok("aweigh"));
    /// ```
    pub fn detach(self) {
        drop(self);
    }

    /// Leaves a waker that is woken when the handle is finished, in the place of an earlier one.
    /// Returns false if the handle is finished already. Takes no unit of the budget.
    ///
    /// # Panics
    /// If the handle has returned its output.
    #[track_caller]
    pub(super) fn leave_waker(&mut self, waker: &Waker) -> bool {
        let live = self.live().expect(USED);
        // The task that has awaited it before does so no more.
        detect::joined(self.id);
        let word = live.state.load_joined();
        word.joined() == Join::Done && Self::leave(live, word, waker) == Join::Done
    }

    /// Returns what a finished handle has, and `None` if the handle has to wait or has returned its
    /// output. Takes no unit of the budget.
    pub(super) fn try_join(&mut self) -> Option<Result<T, JoinError>> {
        let live = self.live()?;
        let task = live.ptr();
        match live.state.load_joined().joined() {
            Join::Complete => Some(self.take(task)),
            Join::GivenUp => Some(Err(self.give_in(task))),
            Join::Done => None,
        }
    }

    /// Takes the output of a complete task, and ends the handle's hold.
    fn take(&mut self, task: TaskPtr) -> Result<T, JoinError> {
        let mut output = MaybeUninit::<Result<T, Failure>>::uninit();
        self.task = None;
        detect::joined(self.id);
        // SAFETY: the hold ends below.
        let header = unsafe { task.header() };
        // SAFETY: the task is complete and has a handle, so the output is there and the handle's;
        // the room is of the right type, and the output is taken once because the handle has lost
        // the address.
        unsafe { (header.vtable.take_output)(task, NonNull::from(&mut output).cast()) };
        if header.state.release_handle() == Release::Last {
            // SAFETY: no other thread can reach the task, and its output is gone.
            unsafe { task.free() }
        }
        // SAFETY: `take_output` has filled it.
        let output = unsafe { output.assume_init() };
        output.map_err(|failure| failure.into_error(self.id))
    }

    /// Ends the hold of this handle, which has been given up.
    #[cold]
    fn give_in(&mut self, task: TaskPtr) -> JoinError {
        self.task = None;
        detect::joined(self.id);
        // SAFETY: the handle has found that it was given up, and has lost the address.
        unsafe { Self::end_given_up(task) };
        JoinError::stuck(self.id)
    }

    /// Ends the hold of a handle that has been given up.
    ///
    /// # Safety
    /// The handle has been given up, and had its hold until this call.
    #[cold]
    unsafe fn end_given_up(task: TaskPtr) {
        // SAFETY: the hold of a handle that has been given up is a counted reference, and the
        // handle ends it here.
        drop(unsafe { Reference::from_counted(task) });
    }

    /// Leaves a waker for the completer, or the previous one if both wake the same. The caller has
    /// seen `word`, in which the handle has to wait. Returns `Done` if it still has to.
    fn leave(header: Live<'_>, word: Word, waker: &Waker) -> Join {
        if word.has_joiner() {
            let unset = header.state.unset_joiner();
            if unset != Join::Done {
                return unset;
            }
        }
        // SAFETY: this is its handle.
        let joined = unsafe { header.joined() };
        // SAFETY: `JOINER` is not set, not even by the word in which the handle was not given up,
        // and this is the joiner, so the slot is its own.
        let left = unsafe { joined.take_joiner() };
        let joiner = match left {
            Some(left) if left.will_wake(waker) => left,
            left => {
                // Its destructor may panic: the handle is left with a waker all the same.
                unwind::contain(|| drop(left));
                waker.clone()
            }
        };
        // SAFETY: as above.
        unsafe { joined.put_joiner(Some(joiner)) };
        let join = header.state.set_joiner();
        if join != Join::Done {
            // SAFETY: as above: `JOINER` has not been set, so no other thread goes to the slot.
            unsafe { joined.put_joiner(None) };
        }
        join
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let live = self.live().expect(POLLED_AGAIN);
        let task = live.ptr();
        let word = live.state.load_joined();
        // A joiner that has waited needs no unit.
        if word.is_complete() && !word.has_joiner() && !budget::take_unit() {
            return budget::yield_to(context.waker());
        }
        let mut join = word.joined();
        if join == Join::Done {
            join = Self::leave(live, word, context.waker());
        }
        match join {
            Join::Complete => Poll::Ready(self.take(task)),
            Join::Done => {
                // The clone of a coroutine's waker is its task's.
                detect::joins(self.id, || waker::waiting(&context.waker().clone()));
                Poll::Pending
            }
            Join::GivenUp => Poll::Ready(Err(self.give_in(task))),
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let Some(task) = self.live() else { return };
        detect::joined(self.id);
        if task.state.load().has_joiner() && task.state.unset_joiner() == Join::Done {
            // SAFETY: this is its handle.
            let joined = unsafe { task.joined() };
            // SAFETY: `JOINER` is not set any more and this is the joiner, so the slot is its own.
            unsafe { joined.put_joiner(None) };
        }
        match task.state.detach() {
            Join::Done => return,
            Join::Complete => {}
            // SAFETY: the handle has been given up, and is being dropped.
            Join::GivenUp => return unsafe { Self::end_given_up(task.ptr()) },
        }
        // SAFETY: the task is complete and has a handle, so the output is there and the handle's,
        // which has not taken it.
        unsafe { (task.vtable.drop_output)(task.ptr()) };
        if task.state.release_handle() == Release::Last {
            // SAFETY: no other thread can reach the task, and its output is gone.
            unsafe { task.ptr().free() }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id).finish_non_exhaustive()
    }
}
