//! How far an actor's turn has come.

use crate::policy::{Priority, turn};
use evenkeel::internal::{is_deterministic, now};

/// How far the present turn has come.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Turn {
    /// When the turn began, as far as that is known, and the last look: the lower half of the
    /// nanoseconds. Zero: not yet.
    begun: u32,
    looked: u32,
    /// Messages before the next look at the time, and between two looks. Not side by side: of two
    /// loads the compiler would make one, which waits for the store of the half that has just
    /// changed.
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

    /// Ends the turn, and says how many messages it has had since [`is_over`](Self::is_over) last
    /// told: the next message begins another.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> u8 {
        let handled = self.stride - self.left;
        self.begun = 0;
        self.left = self.stride;
        handled
    }

    /// Whether the turn is over, after a message. Now and then it tells `note` how many there have
    /// been.
    #[inline(always)]
    pub(crate) fn is_over(&mut self, note: impl FnOnce(u8)) -> bool {
        self.left -= 1;
        self.left == 0 && self.look(note)
    }

    /// The same after something that is no message, and that does not count as one.
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
        // Half of it is enough for four seconds, and a turn that is longer is over at the next
        // look.
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
