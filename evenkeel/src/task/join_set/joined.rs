//! The handle of a member: that of a task on the workers, or of a local one.

use crate::raw_task::id::Id;
use crate::task::abort_handle::AbortHandle;
use crate::task::error::JoinError;
use crate::task::join::JoinHandle;
use crate::task::local_set::LocalJoinHandle;
use std::task::Waker;

pub(super) enum Joined<T> {
    Task(JoinHandle<T>),
    Local(LocalJoinHandle<T>),
}

impl<T> Joined<T> {
    pub(super) fn id(&self) -> Id {
        match self {
            Self::Task(handle) => handle.id(),
            Self::Local(handle) => handle.id(),
        }
    }

    pub(super) fn abort(&self) {
        match self {
            Self::Task(handle) => handle.abort(),
            Self::Local(handle) => handle.abort(),
        }
    }

    /// Panics if the handle has returned its output.
    #[track_caller]
    pub(super) fn abort_handle(&self) -> AbortHandle {
        match self {
            Self::Task(handle) => AbortHandle::new(handle.task()),
            Self::Local(handle) => {
                handle.assert_unused();
                handle.abort_handle()
            }
        }
    }

    /// Leaves a waker that is woken when the handle is finished. Returns false if it is finished
    /// already. Panics if it has returned its output.
    #[track_caller]
    pub(super) fn leave_waker(&mut self, waker: &Waker) -> bool {
        match self {
            Self::Task(handle) => handle.leave_waker(waker),
            Self::Local(handle) => handle.leave_waker(waker),
        }
    }

    /// Returns what a finished handle has.
    pub(super) fn try_join(&mut self) -> Option<Result<T, JoinError>> {
        match self {
            Self::Task(handle) => handle.try_join(),
            Self::Local(handle) => handle.try_join(),
        }
    }
}
