//! The length of an actor's turn.

use crate::policy::{Priority, turn};
use evenkeel::internal::{is_deterministic, now};

/// The progress of the current turn.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Turn {
    /// When the turn began, if that is known, and when the clock was last read: the lower half of
    /// the nanoseconds. Zero: not yet.
    begun: u32,
    looked: u32,
    /// Messages before the next reading of the clock, and between two readings. These fields are
    /// not adjacent: the compiler would merge their two loads into one, which waits for the store
    /// of the half that has just changed.
    left: u8,
    priority: Priority,
    stride: u8,
}

impl Turn {
    #[inline]
    pub(crate) fn new(priority: Priority) -> Self {
        let first = if is_deterministic() { turn::SINGLE } else { turn::FIRST };
        Self { left: first, stride: first, begun: 0, looked: 0, priority }
    }

    #[cfg(test)]
    pub(crate) fn priority(&self) -> Priority {
        self.priority
    }

    /// Ends the turn, and returns the number of messages since [`is_over`](Self::is_over) last
    /// reported. The next message begins another turn.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> u8 {
        let handled = self.stride - self.left;
        self.begun = 0;
        self.left = self.stride;
        handled
    }

    /// Returns whether the turn is over, after a message. At each reading of the clock it reports
    /// the number of messages to `note`.
    #[inline(always)]
    pub(crate) fn is_over(&mut self, note: impl FnOnce(u8)) -> bool {
        self.left -= 1;
        self.left == 0 && self.look(note)
    }

    /// As [`is_over`](Self::is_over), after an event, which does not count as a message.
    pub(crate) fn is_over_without(&mut self) -> bool {
        if is_deterministic() {
            return true;
        }
        let now = (now() as u32).max(1);
        if self.begun == 0 {
            (self.begun, self.looked) = (now, now);
            return false;
        }
        let over = turn::is_over(now.wrapping_sub(self.begun), self.priority);
        if over {
            self.begun = 0;
        }
        over
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, note: impl FnOnce(u8)) -> bool {
        note(self.stride);
        if is_deterministic() {
            self.left = self.stride;
            return true;
        }
        // The lower half of the time is enough for four seconds. A longer turn is over at the next
        // reading.
        let now = (now() as u32).max(1);
        if self.begun == 0 {
            (self.begun, self.looked) = (now, now);
            self.left = self.stride;
            return false;
        }
        self.stride = turn::stride(self.stride, now.wrapping_sub(self.looked));
        self.left = self.stride;
        self.looked = now;
        let over = turn::is_over(now.wrapping_sub(self.begun), self.priority);
        if over {
            self.begun = 0;
        }
        over
    }
}
