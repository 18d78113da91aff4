//! The handle of a local task.

use super::waking::Waking;
use crate::raw_task::id::Id;
use crate::task::abort_handle::{Abort, AbortHandle};
use crate::task::budget::Unit;
use crate::task::error::{Failure, JoinError};
use crate::task::join::{POLLED_AGAIN, USED};
use crate::task::outcome::Outcome;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// The handle of a local task: a future of its output. Returned by
/// [`LocalSet::spawn_local`](super::LocalSet::spawn_local) and [`spawn_local`](super::spawn_local).
///
/// It is what [`JoinHandle`](crate::JoinHandle) is to other tasks, and has its methods but for
/// `task`, since a local task is not parked. Dropping it detaches the task, which goes on while its
/// set is driven. If the output is `Send`, so is the handle: it may be awaited on another thread,
/// while the task's own thread drives the set.
///
/// The handle finishes with the output, or with a [`JoinError`] if the task panicked, or was
/// cancelled by an abort or by the end of its set. A panic without a joiner goes to the
/// [hook](crate::Builder::on_task_panic) of the runtime in which the set is driven.
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
/// use evenkeel::task::LocalSet;
/// let set = LocalSet::new();
/// let task = set.spawn_local(async { "ahoy" });
/// let joiner = std::thread::spawn(move || evenkeel::block_on(task));
/// evenkeel::block_on(set);
/// assert_eq!(joiner.join().unwrap().unwrap(), "ahoy");
/// ```
#[must_use = "a dropped handle detaches the task: await the handle, or call `detach`"]
pub struct LocalJoinHandle<T> {
    /// None once the output has been taken.
    outcome: Option<Arc<Outcome<Result<T, Failure>>>>,
    waking: Arc<Waking>,
    unit: Unit,
}

impl<T> LocalJoinHandle<T> {
    pub(super) fn new(outcome: Arc<Outcome<Result<T, Failure>>>, waking: Arc<Waking>) -> Self {
        Self { outcome: Some(outcome), waking, unit: Unit::NEW }
    }

    /// Has the task's future dropped at its next turn, on its thread; the handle then returns a
    /// [cancelled](JoinError::is_cancelled) error. A complete task is not affected, and one that
    /// completes in the poll that is under way keeps its output.
    ///
    /// The turn comes while the set is driven, or else with the drop of the set.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::LocalSet;
    /// let set = LocalSet::new();
    /// let watch = set.spawn_local(std::future::pending::<()>());
    /// watch.abort();
    /// assert!(evenkeel::block_on(set.run_until(watch)).unwrap_err().is_cancelled());
    /// ```
    pub fn abort(&self) {
        self.waking.clone().abort();
    }

    /// Returns whether awaiting the handle does not wait: the task is complete, by its own end, a
    /// panic or an abort, or by the end of its set. The await returns at once, or yields first if
    /// the [slice](crate::budget) of the poll is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.as_ref().is_none_or(|outcome| outcome.is_there())
    }

    /// Returns the task's number, by which reports and errors name the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.waking.id()
    }

    /// Returns the right to abort the task from anywhere.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::LocalSet;
    /// let set = LocalSet::new();
    /// let watch = set.spawn_local(std::future::pending::<()>());
    /// let abort = watch.abort_handle();
    /// std::thread::spawn(move || abort.abort());
    /// assert!(evenkeel::block_on(set.run_until(watch)).unwrap_err().is_cancelled());
    /// ```
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::local(self.waking.clone())
    }

    /// Lets the task go on without a handle, as the drop of the handle does, while its set is
    /// driven. Its output is dropped, and a panic goes to
    /// [`on_task_panic`](crate::Builder::on_task_panic).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::LocalSet;
    /// use std::{cell::Cell, rc::Rc};
    /// let (set, anchor) = (LocalSet::new(), Rc::new(Cell::new("down")));
    /// let weighed = anchor.clone();
    /// set.spawn_local(async move { weighed.set("aweigh") }).detach();
    /// evenkeel::block_on(set);
    /// assert_eq!(anchor.get(), "aweigh");
    /// ```
    pub fn detach(self) {
        drop(self);
    }

    /// Returns, or panics if the handle has returned its output.
    #[track_caller]
    pub(in crate::task) fn assert_unused(&self) {
        self.outcome.as_ref().expect(USED);
    }

    /// Leaves a waker that is woken when the handle is finished, in the place of an earlier one.
    /// Returns false if the handle is finished already. Takes no unit of the budget.
    ///
    /// # Panics
    /// If the handle has returned its output.
    #[track_caller]
    pub(in crate::task) fn leave_waker(&mut self, waker: &Waker) -> bool {
        let outcome = self.outcome.as_ref().expect(USED);
        outcome.leave(waker)
    }

    /// Returns what a finished handle has, and `None` if the handle has to wait or has returned its
    /// output. Takes no unit of the budget.
    pub(in crate::task) fn try_join(&mut self) -> Option<Result<T, JoinError>> {
        let result = self.outcome.as_ref()?.try_take()?;
        self.outcome = None;
        Some(result.map_err(|failure| failure.into_error(self.waking.id())))
    }
}

impl<T> Future for LocalJoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { outcome, waking, unit } = &mut *self;
        let place = outcome.as_ref();
        let place = place.expect(POLLED_AGAIN);
        let result = ready!(place.poll(cx.waker(), unit));
        *outcome = None;
        Poll::Ready(result.map_err(|failure| failure.into_error(waking.id())))
    }
}

impl<T> Drop for LocalJoinHandle<T> {
    fn drop(&mut self) {
        if let Some(outcome) = &self.outcome {
            outcome.detach();
        }
    }
}

impl<T> fmt::Debug for LocalJoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalJoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}
