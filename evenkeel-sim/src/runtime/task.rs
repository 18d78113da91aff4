//! A simulated task: the lengths and the effects of its polls.

use std::ops::{Range, RangeInclusive};

/// The length of a poll that never returns: longer than any run.
pub(crate) const NEVER: u64 = u64::MAX / 4;

/// What a task does when a poll of it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It goes to the back of the queue.
    Yield,
    /// It parks until another task wakes it.
    Park,
    /// It parks until its timer fires at this time.
    Sleep(u64),
}

/// Where a task is. It is in one place at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not yet spawned.
    Unborn,
    /// In a queue, in an inbox or on its way between two.
    Ready,
    Running,
    Parked,
    Complete,
}

#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// How long its polls last.
    pub(crate) polls: RangeInclusive<u64>,
    /// Whether its polls put their processor out of action. The bound counts such a processor as
    /// one that makes no progress, and such a poll as no work.
    pub(crate) stuck: bool,
    /// Whether a poll that is stuck sleeps in the system, and does not compute.
    pub(crate) blocks: bool,
    /// How many polls it has left.
    pub(crate) left: u64,
    pub(crate) then: Then,
    /// The tasks that its first poll spawns as it begins.
    pub(crate) spawns: Range<usize>,
    /// The task that each of its polls wakes as it begins.
    pub(crate) wakes: Option<usize>,

    pub(crate) place: Place,
    /// Whether it has been woken since its poll began.
    pub(crate) token: bool,
    /// The length of its next poll.
    pub(crate) next_poll: u64,
    /// When it became ready.
    pub(crate) ready_at: u64,
    /// The stamp that it got then.
    pub(crate) stamp: u64,
    /// When its poll ends, if it takes no longer than planned.
    pub(crate) ends: u64,
    /// The work that was ahead of it.
    pub(crate) ahead: u64,
    /// How often it has become ready, and how often it has been polled.
    pub(crate) readied: u64,
    pub(crate) polled: u64,
}

impl Task {
    /// Creates a task that makes `left` polls and yields between them.
    pub(crate) fn new(polls: RangeInclusive<u64>, left: u64) -> Self {
        Self {
            polls,
            stuck: false,
            blocks: false,
            left,
            then: Then::Yield,
            spawns: 0..0,
            wakes: None,
            place: Place::Unborn,
            token: false,
            next_poll: 0,
            ready_at: 0,
            stamp: 0,
            ends: 0,
            ahead: 0,
            readied: 0,
            polled: 0,
        }
    }

    /// Creates a task with one poll of `length`, which is too long to wait for.
    pub(crate) fn stuck(length: u64) -> Self {
        Self { stuck: true, ..Self::new(length..=length, 1) }
    }

    /// Returns whether a run goes on until the task is complete.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.stuck && self.left < u64::MAX
    }
}
