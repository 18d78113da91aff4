//! A processor's neighbours: their distances, and the caches it shares with them.

use crate::policy::victim::{self, Groups};
use crate::policy::{Locality, locality};
use crate::topology::{Distance, Topology};

/// The machine as one processor sees it.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// All other processors, nearest first.
    pub(crate) others: Vec<usize>,
    /// The number of the first `others` that share the last-level cache.
    pub(crate) near: usize,
    /// The distance of each processor, by its number.
    distances: Vec<Distance>,
    /// The groups of `others` at equal distance.
    groups: Groups,
    /// The sizes of the caches, the smallest first, and the distance of the farthest sharers of
    /// each.
    caches: Vec<(Distance, u64)>,
}

impl Neighbours {
    /// Returns the neighbours of each processor; `places` has the hardware thread of each.
    pub(crate) fn all(topology: &Topology, places: &[usize]) -> Box<[Self]> {
        (0..places.len()).map(|me| Self::of(me, topology, places)).collect()
    }

    fn of(me: usize, topology: &Topology, places: &[usize]) -> Self {
        let distances: Vec<_> =
            places.iter().map(|&place| topology.distance(places[me], place)).collect();
        let distance = |&other: &usize| distances[other];
        // Ties are in the order of the numbers from the processor on, so that not all prefer the
        // same victim.
        let mut others: Vec<_> = (me + 1..places.len()).chain(0..me).collect();
        others.sort_by_key(distance);
        let near =
            others.iter().take_while(|&other| distance(other) <= Distance::SharedLlc).count();
        let groups = Groups::of(&others, |other| distances[other]);
        Self { near, groups, caches: caches(topology, places[me]), others, distances }
    }

    /// Makes neighbours at one and the same distance: for schedulers without a machine.
    #[cfg(any(all(test, loom), shuttle))]
    pub(crate) fn flat(me: usize, count: usize) -> Self {
        Self::of(me, &Topology::flat(count), &(0..count).collect::<Vec<_>>())
    }

    /// Returns the distance of another processor.
    pub(crate) fn distance(&self, other: usize) -> Distance {
        self.distances[other]
    }

    /// Returns all others, each once, in the order in which this processor asks them for fork-join
    /// jobs.
    #[inline]
    pub(crate) fn round(&self, locality: Locality, random: u64) -> impl Iterator<Item = usize> {
        victim::order(locality, &self.others, &self.groups, random)
    }

    /// Returns the distance up to which workers share the cache to which `bytes` of this processor
    /// are anchored.
    pub(crate) fn reach(&self, bytes: u64) -> Distance {
        locality::reach(bytes, &self.caches)
    }
}

/// Returns the caches of known size of a hardware thread, the smallest first, and the distance of
/// the farthest threads that share each.
fn caches(topology: &Topology, place: usize) -> Vec<(Distance, u64)> {
    let own = topology.caches().iter().filter(|cache| cache.cpus.contains(&place));
    let mut caches: Vec<_> = own
        .filter_map(|cache| {
            let sharers = cache.cpus.iter().map(|&cpu| topology.distance(place, cpu));
            // A private cache belongs to a core.
            Some((sharers.max()?.max(Distance::SmtSibling), cache.size?))
        })
        .collect();
    caches.sort_by_key(|&(_, size)| size);
    caches
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn machine() -> Box<[Neighbours]> {
        let text = "2 packages, 2 l2 groups, 2 cores, l1 32K, l2 1M, l3 8M";
        Neighbours::all(&text.parse().unwrap(), &[0, 1, 2, 3, 4, 5, 6, 7])
    }

    #[test]
    fn a_round_goes_to_everybody_nearest_first() {
        let all = machine();
        for random in 0..12 {
            let round: Vec<_> = all[5].round(Locality::Biased, random).collect();
            assert_eq!(round.len(), 7);
            assert!(round.is_sorted_by_key(|&other| all[5].distance(other)));
            assert_eq!(round[0], 4);
        }
        let far = |random| all[5].round(Locality::Biased, random).nth(3);
        assert_ne!(far(0), far(1), "not always the same one");
    }

    #[test]
    fn a_random_round_begins_with_any_processor() {
        let all = machine();
        let mut firsts: Vec<_> =
            (0..7).flat_map(|random| all[5].round(Locality::Random, random).next()).collect();
        firsts.sort_unstable();
        assert_eq!(firsts, [0, 1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn a_footprint_reaches_as_far_as_its_cache() {
        let all = machine();
        assert_eq!(all[0].reach(1), Distance::SmtSibling);
        assert_eq!(all[0].reach(17 << 10), Distance::SharedL2);
        assert_eq!(all[0].reach(1 << 20), Distance::SharedLlc);
        assert_eq!(all[0].reach((4 << 20) + 1), Distance::Remote);
    }

    #[test]
    fn nothing_is_anchored_where_no_cache_is_known() {
        let all = Neighbours::all(&Topology::flat(2), &[0, 1]);
        assert_eq!(all[1].reach(1), Distance::Remote);
    }
}
