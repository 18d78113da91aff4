//! How long a reader reads before it yields.

use evenkeel::internal::now;

/// Nanoseconds that a reader reads before it yields, as long as an actor's turn. An estimate; no
/// benchmark sets it.
const BUDGET: u64 = 20_000;

/// Messages between two looks at the time. An estimate: about a microsecond; no benchmark sets it.
const LOOK: u32 = 32;

/// What a reader has read since it last yielded, over several frames: a frame may have one message.
pub(super) struct Turn {
    /// Messages before the next look at the time.
    left: u32,
    /// When the turn is over, once there was a look.
    until: u64,
}

impl Turn {
    pub(super) fn new() -> Self {
        // The time begins to count at the first look, which a small frame does not come to.
        Self { left: LOOK, until: 0 }
    }

    /// Counts a message that was read. Returns whether the reader is to yield.
    #[inline]
    pub(super) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }

    /// Has the time looked at after the next message, which may take as long as many do.
    pub(super) fn looks_soon(&mut self) {
        self.left = 1;
    }

    fn look(&mut self) -> bool {
        self.left = LOOK;
        let now = now();
        if self.until == 0 {
            self.until = now + BUDGET;
        }
        now >= self.until
    }
}
