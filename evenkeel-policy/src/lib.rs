//! Every decision of [evenkeel](https://docs.rs/evenkeel)'s scheduler, as a pure function of plain
//! values.
//!
//! Nothing here reads a clock, an atomic or a thread, so that the same functions run in the
//! workers, in unit tests with made-up values, and on simulated machines. Times are nanoseconds.
//! There is no standard library and no unsafe code below: the compiler keeps it so.
//!
//! Programs use `evenkeel`. This crate is a part of it and changes with it: each version of either
//! goes with one of the other.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod batch;
pub mod departing;
mod distance;
pub mod forking;
pub mod helping;
pub mod interleaving;
pub mod locality;
pub mod object;
pub mod placement;
pub mod random;
pub mod searching;
pub mod stealing;
pub mod timing;
pub mod together;
pub mod victim;
pub mod waking;

pub use distance::Distance;
pub use locality::Locality;

/// What one processor sees of another, or of itself, by reading two cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Tasks in the ready queue.
    pub ready: usize,
    /// How long the head of the ready queue has been waiting.
    pub head_age: u64,
    /// Tasks that can run and are there for the sake of an object: nobody takes them as long as the
    /// processor switches.
    pub visitors: usize,
    /// The moving average of the waits of the tasks that were polled there lately.
    pub mean_wait: u64,
    /// The moving average of the time of a poll there.
    pub mean_poll: u64,
    /// The moving average of the work in a task there: the time of a poll times the polls per
    /// completed task.
    pub mean_work: u64,
    /// Whether tasks wait in the inbox, or in an answer that has not been fetched.
    pub inbox: bool,
    /// Whether tasks have left the ready queue since the last look at the processor: it has polled
    /// one, or another has taken some, which makes this one look once more.
    pub switched: bool,
    /// For how long it has had tasks, and none has left.
    pub stalled: u64,
    /// Whether a [trial](together) has shown that its tasks are better off on one processor.
    pub together: bool,
}

impl Look {
    /// Whether any task waits there.
    #[inline]
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.ready > 0 || self.inbox || stealing::is_stranded(self)
    }

    /// Whether a task there is worth the move to another processor.
    #[inline]
    #[must_use]
    pub fn is_worth_moving(&self) -> bool {
        self.mean_work >= stealing::MIGRATION && !self.together
    }

    /// The time that the processor needs for what is in its ready queue, by its own average.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.mean_poll.saturating_mul(self.ready as u64)
    }
}

/// A moving average that gives a new value a quarter of the weight.
///
/// # Examples
/// ```
/// use evenkeel_policy::smooth;
/// assert_eq!(smooth(100, 200), 125);
/// assert_eq!(smooth(7, 7), 7);
/// ```
#[inline]
#[must_use]
pub fn smooth(average: u64, value: u64) -> u64 {
    average - average / 4 + value / 4
}
