//! Which processor to look at, and which worker to steal from.

use alloc::vec::Vec;
use core::ops::Range;

use super::Locality;

/// Of this number of looks, all but one stay among the near processors, those behind the same
/// last-level cache. The other look may go anywhere, so that locality never beats the promise. C∀
/// goes far three times in 256; a look costs one cache line, and farther caches are more often
/// idle. An estimate from the cost of a look; no benchmark sets it.
pub const FAR_ONE_IN: u64 = 4;

/// Returns the processor to look at, by 64 random bits.
///
/// `others` are all other processors, nearest first; the first `near` of them share the last-level
/// cache with the one that looks round.
///
/// # Examples
/// ```
/// use evenkeel_policy::victim::pick;
/// assert_eq!(pick(0, &[], 0), None);
/// assert_eq!(pick(12345, &[7], 1), Some(7));
/// ```
#[inline]
#[must_use]
pub fn pick(random: u64, others: &[usize], near: usize) -> Option<usize> {
    let far = near == 0 || random.is_multiple_of(FAR_ONE_IN);
    let range = if far { others.len() } else { near.min(others.len()) };
    // The high bits decide: the low ones have chosen between near and far.
    let index = ((random >> 32) * range as u64) >> 32;
    others.get(index as usize).copied()
}

/// The groups of equally distant workers in a list of others, nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    parts: Vec<Range<usize>>,
    /// The range of all others, if there are any.
    all: Option<Range<usize>>,
}

impl Groups {
    /// Groups `others`, which are sorted by their distance.
    #[inline]
    #[must_use]
    pub fn of<D: PartialEq>(others: &[usize], distance: impl Fn(usize) -> D) -> Self {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for part in others.chunk_by(|&a, &b| distance(a) == distance(b)) {
            let start = parts.last().map_or(0, |before| before.end);
            parts.push(start..start + part.len());
        }
        let all = parts.last().map(|last| 0..last.end);
        Self { parts, all }
    }
}

/// Returns the victims that a worker without work asks for fork-join jobs, in order: each of
/// `others` that is in one of the groups, once.
///
/// With [`Locality::Random`] the first victim is any of them at random, as in Cilk Plus. Otherwise
/// the nearest group comes first, and the first victim within a group is random.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Locality, victim::{Groups, order}};
/// let others = [9, 4, 5, 6];
/// let groups = Groups::of(&others, |other| other < 9);
/// let round = |locality| order(locality, &others, &groups, 2).collect::<Vec<_>>();
/// assert_eq!(round(Locality::Off), [9, 6, 4, 5]);
/// assert_eq!(round(Locality::Random), [5, 6, 9, 4]);
/// ```
#[inline]
pub fn order<'a>(
    locality: Locality,
    others: &'a [usize],
    groups: &'a Groups,
    random: u64,
) -> impl Iterator<Item = usize> + 'a {
    let parts = match locality {
        Locality::Random => groups.all.as_slice(),
        Locality::Off | Locality::Biased | Locality::Strict => &groups.parts,
    };
    parts.iter().flat_map(move |part| {
        let part = &others[part.clone()];
        let (before, after) = part.split_at((random % part.len() as u64) as usize);
        after.iter().chain(before).copied()
    })
}
