//! How long an asker waits for its answer at most.
//!
//! # Cost
//! An ask that is answered before its asker first waits pays nothing. One that waits arms a timer
//! then, and takes it back with its answer: two locked instructions of
//! the worker's own wheel. The timers' boxes are kept by the thread and used again, so that nothing
//! is allocated for an ask.
//!
//! # Rejected
//! A list of those who wait that is searched now and then: an ask has to enter it and to leave it,
//! which costs the same two steps under a lock, and its limit is
//! coarse. A timer that stays armed for the next ask of its task: it keeps the memory of tasks that
//! have ended, and wakes tasks for nothing. A limit for questions to
//! other nodes alone: a place for an answer may come to be on another node after the question was
//! asked here.

use crate::system::System;
use evenkeel::Handle;
use evenkeel::internal::running;
use evenkeel::time::{Instant, Sleep, sleep, sleep_until};
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Boxes that a thread keeps. An estimate: as many asks as wait at once on a worker that is not
/// flooded; no benchmark sets it.
const KEPT: usize = 64;

thread_local! {
    /// Timers that are not armed.
    static TIMERS: RefCell<Vec<Pin<Box<Sleep>>>> = const { RefCell::new(Vec::new()) };
}

/// How long an asker waits.
#[derive(Debug)]
pub(super) enum Limit {
    /// As the system of the asked actor says, from when it first waits.
    OfSystem,
    /// Until then.
    At(Instant),
    /// The timer for that.
    Own(Timer),
    /// The timer for what the system says.
    Default(Timer),
    /// For ever.
    None,
}

impl Limit {
    /// From now on.
    pub(super) fn after(duration: Duration) -> Self {
        Self::At(sleep(duration).deadline())
    }

    /// Whether it is that of the system, and its timer is armed.
    #[inline]
    pub(super) fn is_default(&self) -> bool {
        matches!(self, Self::Default(_))
    }

    /// Whether the time is over, for an asker that waits; it is woken then. `system` is that of the
    /// asked actor.
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
                    // Where no runtime is there are no timers.
                    let has_timers = running().is_some() || Handle::try_current().is_some();
                    *self = match system().ask_limit() {
                        Some(limit) if has_timers => {
                            Self::Default(Timer::new(sleep(limit).deadline()))
                        }
                        _ => Self::None,
                    };
                }
            }
        }
    }
}

/// A timer in a box that is used again.
#[derive(Debug)]
pub(super) struct Timer {
    /// There until it is dropped.
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
        // Out of its wheel, whose runtime may end before the box is used again.
        let deadline = sleep.deadline();
        sleep.as_mut().reset(deadline);
        // A thread whose own things are gone frees it.
        let _ = TIMERS.try_with(|timers| {
            let mut timers = timers.borrow_mut();
            if timers.len() < KEPT {
                timers.push(sleep);
            }
        });
    }
}
