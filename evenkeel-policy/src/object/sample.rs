//! Which operations are looked at.

/// One operation in so many is looked at: its task gives others a turn, so it is some microseconds
/// of short operations in tasks that never wait; and it is sampled, which takes 30 ns. Simulated on
/// the 16 cores of CoreTime's experiment, one in 16 makes no more operations
/// (`evenkeel-bench simulate --coretime`). Two in the models.
pub const ONE_IN: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// A mark for the operation of this number of a core: below `u32::MAX / n` for one in `n` of them,
/// at changing distances, so that a task that goes round some objects comes to each of them with
/// one (multiples of the golden ratio: Weyl; Knuth, "The Art of Computer Programming", 6.4).
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sample::{ONE_IN, mark};
/// let sampled = (0..6_400).filter(|n| mark(*n) < u32::MAX / ONE_IN).count();
/// assert!((90..110).contains(&sampled));
/// ```
#[must_use]
#[inline(always)]
pub fn mark(operation: u32) -> u32 {
    operation.wrapping_mul(0x9E37_79B9)
}
