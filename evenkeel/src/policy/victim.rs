//! Whom to look at.

use std::ops::Range;

use super::Locality;

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

/// Whom a worker without work asks for fork-join jobs, in which order: places in the list of all others, nearest first, of which
/// `groups` are the parts that are equally far. Everybody is asked once.
///
/// With [`Locality::Random`] the first is anybody, as Cilk Plus has it. Otherwise the nearest come first, and
/// among those that are equally far the first is anybody.
///
/// # Examples
/// ```
/// use evenkeel::policy::{Locality, victim::order};
/// let places = |locality, random| order(locality, &[0..1, 1..4], random).collect::<Vec<_>>();
/// assert_eq!(places(Locality::Off, 2), [0, 3, 1, 2]);
/// assert_eq!(places(Locality::Random, 2), [2, 3, 0, 1]);
/// ```
#[inline]
pub fn order(
    locality: Locality,
    groups: &[Range<usize>],
    random: u64,
) -> impl Iterator<Item = usize> {
    let all = 0..groups.last().map_or(0, |last| last.end);
    let (whole, groups) = match locality {
        Locality::Random => (Some(all), &groups[..0]),
        Locality::Off | Locality::Biased | Locality::Strict => (None, groups),
    };
    whole.into_iter().chain(groups.iter().cloned()).flat_map(move |part| around(part, random))
}

/// All of a part, from a random one on.
fn around(part: Range<usize>, random: u64) -> impl Iterator<Item = usize> {
    let start = part.start + (random % part.len().max(1) as u64) as usize;
    (start..part.end).chain(part.start..start)
}
