//! What the tasks of a run do.

use super::task::{Task, Then};
use std::ops::Range;

/// What a poll does.
#[derive(Clone, Debug)]
pub(crate) struct Poll {
    /// How long it lasts, beside what wakes cost that end a processor's sleep.
    pub(crate) length: u64,
    /// The tasks that it spawns as it begins.
    pub(crate) spawns: Range<usize>,
    /// The task that it wakes then.
    pub(crate) wakes: Option<usize>,
    /// What the task does when it ends.
    pub(crate) then: Then,
    /// The poll of another processor that it ends.
    pub(crate) release: Option<Release>,
}

/// The end of a poll that has waited for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    pub(crate) processor: usize,
    pub(crate) task: usize,
    /// How long that poll goes on.
    pub(crate) length: u64,
    /// Whether it wakes all other tasks that wait.
    pub(crate) wakes: bool,
}

/// The tasks' part of a run.
pub(crate) trait Load {
    /// Begins a poll of a task, whose number is `number`, at processor `me`.
    fn begin(&mut self, number: usize, task: &mut Task, me: usize, now: u64) -> Poll;
}

/// Tasks that do what their fields say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned;

impl Load for Planned {
    fn begin(&mut self, _number: usize, task: &mut Task, _me: usize, _now: u64) -> Poll {
        Poll {
            length: task.next_poll,
            spawns: std::mem::replace(&mut task.spawns, 0..0),
            wakes: task.wakes,
            then: task.then,
            release: None,
        }
    }
}
