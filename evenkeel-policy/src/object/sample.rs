//! Which operations a worker samples.

/// A worker looks at one operation in `ONE_IN`. It samples the operation, which takes 30 ns. The
/// task gives others a turn if its own has lasted long, or if others come to the same object; so a
/// task that never waits yields after some microseconds of short operations. Simulated on the 16
/// cores of CoreTime's experiment, one in 16 makes no more operations (`evenkeel-bench simulate
/// --coretime`). Two in the models.
pub const ONE_IN: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// Returns a mark for the look of this number: below `u32::MAX / n` for one in `n` of them, more
/// evenly than at random (multiples of the golden ratio: Weyl; Knuth, "The Art of Computer
/// Programming", 6.4).
pub(super) fn mark(look: u32) -> u32 {
    look.wrapping_mul(0x9E37_79B9)
}

/// Decides which operations of one core are looked at: one in [`ONE_IN`] on average, at changing
/// distances, so that a task that goes round some objects has a look at each of them. It counts
/// down, which costs less than a number for each operation.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sample::{ONE_IN, Looks};
/// let mut looks = Looks::default();
/// let looked_at = (0..100 * ONE_IN).filter(|_| looks.count()).count();
/// assert!((95..105).contains(&looked_at));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// How many operations begin until the next look, including the one that is looked at.
    left: u32,
    looks: u32,
}

impl Default for Looks {
    fn default() -> Self {
        Self { left: gap(0), looks: 0 }
    }
}

impl Looks {
    /// Counts an operation, and returns whether it is looked at.
    #[inline(always)]
    pub fn count(&mut self) -> bool {
        self.left -= 1;
        let is_looked_at = self.left == 0;
        if is_looked_at {
            self.looks = self.looks.wrapping_add(1);
            self.left = gap(self.looks);
        }
        is_looked_at
    }
}

/// Returns the operations from the look of this number to the next.
#[cold]
fn gap(look: u32) -> u32 {
    1 + ((u64::from(mark(look)) * u64::from(2 * ONE_IN - 1)) >> u32::BITS) as u32
}
