//! Which operations are looked at.

/// One operation in so many is looked at: it is sampled, which takes 30 ns, and its task gives
/// others a turn if it has had one for long or others come to the same object. Tasks that never
/// wait do so after some microseconds of short operations. Simulated on the 16 cores of CoreTime's
/// experiment, one in 16 makes no more operations (`evenkeel-bench simulate --coretime`). Two in
/// the models.
pub const ONE_IN: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// A mark for the look of this number: below `u32::MAX / n` for one in `n` of them, more evenly
/// than at random (multiples of the golden ratio: Weyl; Knuth, "The Art of Computer Programming",
/// 6.4).
pub(super) fn mark(look: u32) -> u32 {
    look.wrapping_mul(0x9E37_79B9)
}

/// After how many operations a core looks at the next one, when it has looked so often: one of
/// [`ONE_IN`] in the mean, at changing distances, so that a task that goes round some objects comes
/// to each of them with one. A core counts them down, for less than a number for each would take.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::sample::{ONE_IN, gap};
/// let gaps: Vec<u32> = (0..100).map(gap).collect();
/// assert!(gaps.iter().all(|gap| (1..2 * ONE_IN).contains(gap)));
/// assert!((63 * 100..65 * 100).contains(&gaps.iter().sum::<u32>()));
/// ```
#[must_use]
pub fn gap(look: u32) -> u32 {
    1 + ((u64::from(mark(look)) * u64::from(2 * ONE_IN - 1)) >> u32::BITS) as u32
}
