//! What ends when it is dropped: that an actor is sent what happens elsewhere.

use std::fmt;

/// Where there are subscribers, by number.
pub(crate) trait Subscribed: Send + Sync {
    /// Tells this one nothing more.
    fn unsubscribe(&self, number: u64);
}

/// What became of something that a subscriber was to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Taken,
    /// There was no room for it.
    Full,
    /// The subscriber has stopped.
    Gone,
}

/// Ends when it is dropped: nothing is told any more.
#[must_use = "a subscription that is dropped ends at once"]
pub struct Subscription {
    at: &'static dyn Subscribed,
    number: u64,
}

impl Subscription {
    pub(crate) fn new(at: &'static dyn Subscribed, number: u64) -> Self {
        Self { at, number }
    }

    /// Keeps it for as long as its actor.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.at.unsubscribe(self.number);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("number", &self.number).finish_non_exhaustive()
    }
}
