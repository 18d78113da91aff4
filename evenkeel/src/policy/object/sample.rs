//! Which operations are sampled.

/// One operation in so many is sampled: two readings of the time-stamp counter, 9 ns each, are about
/// one nanosecond per operation then.
pub const ONE_IN: u32 = 16;

/// A mark for the operation of this number of a core: below `u32::MAX / n` for one in `n` of them, at
/// changing distances, so that a task that goes round some objects comes to each of them with one
/// (multiples of the golden ratio: Weyl; Knuth, "The Art of Computer Programming", 6.4).
///
/// # Examples
/// ```
/// use evenkeel::policy::object::sample::{ONE_IN, mark};
/// let sampled = (0..1_600).filter(|n| mark(*n) < u32::MAX / ONE_IN).count();
/// assert!((90..110).contains(&sampled));
/// ```
#[must_use]
#[inline(always)]
pub fn mark(operation: u32) -> u32 {
    operation.wrapping_mul(0x9E37_79B9)
}
