//! Whom to look at.

/// Of this many looks, all but one stay among the near processors, those behind the same last-level
/// cache. The other one may go anywhere, so that locality never beats the promise. C∀ goes far three
/// times in 256; a look costs one cache line, and farther caches are more often idle. An estimate from the cost
/// of a look; no benchmark sets it.
pub const FAR_ONE_IN: u64 = 4;

/// The processor to look at, by 64 random bits.
///
/// `others` are all other processors, nearest first; the first `near` of them share the last-level
/// cache with the one that looks.
///
/// # Examples
/// ```
/// use evenkeel::policy::victim::pick;
/// assert_eq!(pick(0, &[], 0), None);
/// assert_eq!(pick(12345, &[7], 1), Some(7));
/// ```
#[must_use]
pub fn pick(random: u64, others: &[usize], near: usize) -> Option<usize> {
    let far = near == 0 || random.is_multiple_of(FAR_ONE_IN);
    let range = if far { others.len() } else { near.min(others.len()) };
    // The high bits decide: the low ones have chosen between near and far.
    let index = ((random >> 32) * range as u64) >> 32;
    others.get(index as usize).copied()
}
