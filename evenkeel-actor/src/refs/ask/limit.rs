//! The limit of an asker's wait.
//!
//! # Cost
//! An ask that is answered before its asker first waits costs nothing. An asker that waits arms a
//! timer, and disarms it when the answer comes: two locked instructions of the worker's own wheel.
//! The thread keeps the timers' boxes and reuses them, so an ask allocates nothing.
//!
//! # Rejected
//! A list of waiting askers that is searched now and then: an ask has to enter it and to leave it,
//! which costs the same two steps under a lock, and its limit is coarse.
//!
//! A timer that stays armed for the next ask of its task: it keeps the memory of tasks that have
//! ended, and wakes tasks for nothing.
//!
//! A limit for questions to other nodes only: a place for an answer may move to another node after
//! the question was asked here.

use crate::system::System;
use evenkeel::internal::{cancel, deadline, deadline_here};
use evenkeel::time::{Instant, Sleep, sleep_until};
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Boxes that a thread keeps. An estimate: the number of asks that wait at once on a worker that is
/// not flooded; no benchmark sets it.
const KEPT: usize = 64;

thread_local! {
    /// Timers that are not armed.
    static TIMERS: RefCell<Vec<Pin<Box<Sleep>>>> = const { RefCell::new(Vec::new()) };
}

/// The limit of an asker's wait.
#[derive(Debug)]
pub(super) enum Limit {
    /// The limit of the asked actor's system, counted from the asker's first wait.
    OfSystem,
    /// A deadline that the asker has set.
    At(Instant),
    /// The timer of that deadline.
    Own(Timer),
    /// The timer of the system's limit.
    Default(Timer),
    /// No limit.
    None,
}

impl Limit {
    /// A limit of `duration`, counted from this call.
    pub(super) fn after(duration: Duration) -> Self {
        Self::At(deadline(duration))
    }

    /// Returns whether this is the system's limit, with its timer armed.
    #[inline]
    pub(super) fn is_default(&self) -> bool {
        matches!(self, Self::Default(_))
    }

    /// Ready if the time is over; otherwise it will wake the asker, which waits. `system` returns
    /// the asked actor's system.
    pub(super) fn poll(
        &mut self,
        system: impl Fn() -> System,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            match self {
                Self::None => return Poll::Pending,
                Self::Own(timer) | Self::Default(timer) => return timer.poll(context),
                &mut Self::At(deadline) => *self = Self::Own(Timer::new(deadline)),
                Self::OfSystem => {
                    // Without a runtime there are no timers.
                    *self = match system().ask_limit().and_then(deadline_here) {
                        Some(deadline) => Self::Default(Timer::new(deadline)),
                        None => Self::None,
                    };
                }
            }
        }
    }
}

/// A timer in a box that the thread reuses.
#[derive(Debug)]
pub(super) struct Timer {
    /// Some until the timer is dropped.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    fn new(deadline: Instant) -> Self {
        let kept = TIMERS.try_with(|timers| timers.borrow_mut().pop()).ok().flatten();
        let sleep = match kept {
            Some(mut sleep) => {
                sleep.as_mut().reset(deadline);
                sleep
            }
            None => Box::pin(sleep_until(deadline)),
        };
        Self { sleep: Some(sleep) }
    }

    #[inline]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(context))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some(mut sleep) = self.sleep.take() else { return };
        // A reset would arm it for the asker anew. The wheel's runtime may end before the box is
        // reused.
        cancel(sleep.as_mut());
        // If the thread's locals are destroyed, the box is freed.
        let _ = TIMERS.try_with(|timers| {
            let mut timers = timers.borrow_mut();
            if timers.len() < KEPT {
                timers.push(sleep);
            }
        });
    }
}
