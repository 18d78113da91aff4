//! How long a reader reads before it gives way.

use evenkeel::internal::now;

/// Nanoseconds that a reader reads before it gives way, as long as an actor's turn. An estimate; no
/// benchmark sets it.
const BUDGET: u64 = 20_000;

/// Messages between two looks at the time. An estimate: about a microsecond; no benchmark sets it.
const LOOK: u32 = 32;

/// What a reader has read since it has given way, over frames: a frame may be of one message.
pub(super) struct Turn {
    /// Messages before the next look at the time.
    left: u32,
    /// When it is over, once there was a look.
    until: u64,
}

impl Turn {
    pub(super) fn new() -> Self {
        // The time begins to count at the first look, which a small frame does not come to.
        Self { left: LOOK, until: 0 }
    }

    /// A message has been read. Whether the reader is to give way.
    #[inline]
    pub(super) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }

    /// The next message may take as long as many do: the time is looked at after it.
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
