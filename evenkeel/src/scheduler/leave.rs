//! When a [driver](super::driver) leaves the loop of a worker.

use crate::primitives::clock;
use std::time::Duration;

/// When a driver leaves.
#[derive(Clone, Copy)]
pub(super) struct Leave<'a> {
    /// Whether the driver has what it waits for.
    pub(super) is_due: &'a dyn Fn() -> bool,
    /// The time, by the machine's clock, at which it leaves at the latest.
    pub(super) until: Option<u64>,
}

impl Leave<'_> {
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| clock::now() >= until)
    }

    /// Returns how long the thread may sleep.
    pub(super) fn rest(&self) -> Option<Duration> {
        self.until.map(|until| Duration::from_nanos(until.saturating_sub(clock::now())))
    }
}
