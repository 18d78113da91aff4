//! Every decision of [evenkeel](https://docs.rs/evenkeel)'s scheduler, as a pure function of plain
//! values.
//!
//! No function reads a clock, an atomic or a thread, so the same functions run in the workers, in
//! unit tests with made-up values, and on simulated machines. Times are nanoseconds. The crate has
//! no standard library and no unsafe code, which the compiler enforces.
//!
//! Programs use `evenkeel`. This crate is a part of it and changes with it: each version of one
//! belongs to one version of the other.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod batch;
pub mod budget;
pub mod departing;
mod distance;
pub mod forking;
pub mod helping;
pub mod interleaving;
pub mod keeping;
pub mod locality;
pub mod object;
pub mod overtaking;
pub mod placement;
pub mod random;
pub mod readiness;
pub mod relieving;
pub mod searching;
pub mod stealing;
pub mod timing;
pub mod together;
pub mod victim;
pub mod waking;

pub use distance::Distance;
pub use locality::Locality;

/// One processor's view of another, or of itself, from two cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Tasks in the ready queue.
    pub ready: usize,
    /// How long the head of the ready queue has been waiting.
    pub head_age: u64,
    /// Ready tasks that have travelled to an object of this processor. No other processor takes
    /// them as long as this one switches.
    pub visitors: usize,
    /// The moving average of the waits of the tasks that the processor has polled lately.
    pub mean_wait: u64,
    /// The moving average of the time of a poll there.
    pub mean_poll: u64,
    /// The moving average of the work in a task there: the time of a poll times the polls per
    /// completed task.
    pub mean_work: u64,
    /// Whether tasks wait in the inbox, or in an answer that has not been fetched.
    pub inbox: bool,
    /// Whether tasks have left the ready queue since the last look: the processor has polled one,
    /// or another processor has taken some, in which case the observer looks once more.
    pub switched: bool,
    /// How long tasks have waited there of which none has left.
    pub stalled: u64,
    /// Whether a [trial](together) has shown that its tasks run better on one processor.
    pub together: bool,
    /// Whether sockets have woken tasks there before its last sleep ended, and its worker comes to
    /// them.
    pub serves: bool,
    /// Whether threads that are no workers want the workers' cores: a worker has
    /// [lost](searching::LOST_CORE) its core to one lately.
    pub contended: bool,
}

impl Look {
    /// Returns whether any task waits at the processor.
    #[inline]
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.ready > 0 || self.inbox || stealing::is_stranded(self)
    }

    /// Returns whether a task of the processor is worth the move to another one.
    #[inline]
    #[must_use]
    pub fn is_worth_moving(&self) -> bool {
        self.mean_work >= stealing::MIGRATION && !self.together
    }

    /// Returns whether sockets wake its tasks, and their polls are [short](waking::REQUEST).
    #[inline]
    #[must_use]
    pub fn serves_quickly(&self) -> bool {
        self.serves && self.mean_poll < waking::REQUEST
    }

    /// Returns the time that the processor needs for its ready queue, by its own average.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.mean_poll.saturating_mul(self.ready as u64)
    }
}

/// Returns the next value of a moving average in which a new value has a quarter of the weight.
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
