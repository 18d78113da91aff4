//! How far an actor's turn has come.

use crate::policy::turn;
use evenkeel::internal::{is_deterministic, now};

/// How far the present turn has come.
#[derive(Debug)]
pub(crate) struct Turn {
    /// When the turn began, as far as that is known, and the last look: the lower half of the nanoseconds. Zero: not yet.
    begun: u32,
    looked: u32,
    /// Messages before the next look at the time, and between two looks.
    left: u8,
    stride: u8,
}

impl Default for Turn {
    fn default() -> Self {
        let first = if is_deterministic() { turn::SINGLE } else { turn::FIRST };
        Self { left: first, stride: first, begun: 0, looked: 0 }
    }
}

impl Turn {
    /// Ends the turn: the next message begins another.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.begun = 0;
        self.left = self.stride;
    }

    /// Whether the turn is over, after a message.
    #[inline(always)]
    pub(crate) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> bool {
        if is_deterministic() {
            self.left = turn::SINGLE;
            return true;
        }
        // Half of it is enough for four seconds, and a turn that is longer is over at the next look.
        let now = (now() as u32).max(1);
        if self.begun == 0 {
            (self.begun, self.looked) = (now, now);
            self.left = self.stride;
            return false;
        }
        self.stride = turn::stride(self.stride, now.wrapping_sub(self.looked));
        self.left = self.stride;
        self.looked = now;
        let over = turn::is_over(now.wrapping_sub(self.begun));
        if over {
            self.begun = 0;
        }
        over
    }
}
