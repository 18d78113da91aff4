//! The poll that a thread makes: of which task, and where the task goes afterwards.

use super::Context;
use crate::primitives::atomic::Ordering;
use crate::raw_task::berth::After;
use crate::raw_task::header::{Header, TaskPtr};
use std::cell::Cell;
use std::ptr;

/// The present poll of a thread, if it makes one.
#[derive(Debug)]
pub(super) struct Present {
    /// The task that the thread polls; null for none.
    task: Cell<*mut Header>,
    /// Whether the thread, a driver, polls the future for which it drives.
    is_main: Cell<bool>,
    /// The task's next place if its poll returns `Pending`.
    after: Cell<After>,
}

impl Present {
    pub(super) fn none() -> Self {
        Self {
            task: Cell::new(ptr::null_mut()),
            is_main: Cell::default(),
            after: Cell::new(After::Wait),
        }
    }
}

impl Context {
    /// Calls `poll`, which polls the future for which this thread drives.
    pub(crate) fn while_main<R>(&self, poll: impl FnOnce() -> R) -> R {
        struct Polling<'a>(&'a Cell<bool>);
        impl Drop for Polling<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.present.is_main.set(true);
        let _polling = Polling(&self.present.is_main);
        poll()
    }

    /// Returns whether the thread polls the future for which it drives.
    pub(crate) fn polls_main(&self) -> bool {
        self.present.is_main.get()
    }

    /// Begins the poll of a task.
    #[inline(always)]
    pub(crate) fn begin_poll(&self, task: TaskPtr) {
        self.present.task.set(task.as_ptr());
        self.seat.processor().published.polled.store(task.as_ptr(), Ordering::Relaxed);
    }

    /// Begins to drop the future of an aborted task, up to [`end_drop`](Self::end_drop).
    pub(crate) fn begin_drop(&self, task: TaskPtr) {
        self.present.task.set(task.as_ptr());
        let published = &self.seat.processor().published;
        published.drops.store(task.as_ptr(), Ordering::Relaxed);
        // A thread that sees this task there sees that it is dropped.
        published.polled.store(task.as_ptr(), Ordering::Release);
    }

    /// Says that the task whose future was dropped is complete.
    pub(crate) fn end_drop(&self) {
        self.seat.processor().published.drops.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Ends the poll.
    #[inline(always)]
    pub(crate) fn end_poll(&self) {
        self.present.task.set(ptr::null_mut());
    }

    /// Returns the task that the thread polls; null for none.
    #[inline(always)]
    pub(crate) fn polled(&self) -> *mut Header {
        self.present.task.get()
    }

    /// Returns whether this thread polls `task`.
    #[inline(always)]
    pub(crate) fn polls(&self, task: TaskPtr) -> bool {
        ptr::eq(self.polled(), task.as_ptr())
    }

    /// Returns the address of the task that the thread polls, zero if it polls none.
    #[inline(always)]
    pub(crate) fn task_address(&self) -> usize {
        self.polled().addr()
    }

    #[inline(always)]
    pub(crate) fn take_after(&self) -> After {
        let after = self.present.after.get();
        if after != After::Wait {
            self.present.after.set(After::Wait);
        }
        after
    }

    /// Returns the next place of the polled task.
    #[inline(always)]
    pub(crate) fn after(&self) -> After {
        self.present.after.get()
    }

    /// Sets the next place of the polled task, for when its poll returns `Pending`.
    #[inline(always)]
    pub(crate) fn set_after(&self, after: After) {
        self.present.after.set(after);
    }
}
