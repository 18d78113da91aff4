//! A cache of many keys, cut into shards: each key belongs to one of them. Most operations read.

use std::collections::HashMap;

use super::zipf::Zipf;
use super::{Done, Kind, Look, Work, scrambled};
use crate::party::Hand;

/// The shards of a cache.
#[derive(Clone, Copy)]
pub(crate) struct Cache {
    /// Keys of all shards together.
    pub(crate) keys: usize,
    pub(crate) shards: usize,
    /// How the key of an operation is chosen.
    pub(crate) chosen: Zipf,
    /// Read-only operations of a hundred.
    pub(crate) reads: u32,
}

impl Cache {
    /// Draws the key of a party's next operation, and whether the operation writes.
    #[inline(always)]
    pub(crate) fn next(self, hand: &mut Hand) -> (usize, bool) {
        let key = self.chosen.draw(&mut hand.random);
        let writes = hand.random.below(100) >= self.reads as usize;
        (key, writes)
    }

    /// Returns the first entry of a key.
    pub(crate) fn first(key: usize) -> (u64, u64) {
        (scrambled(key), 0)
    }

    /// Returns the key that a hand holds, and whether the operation writes.
    #[inline(always)]
    fn held(hand: &Hand) -> (usize, bool) {
        ((hand.at >> 1) as usize, hand.at & 1 == 1)
    }
}

impl Kind for Cache {
    type Value = HashMap<u64, u64>;

    fn make(self, number: usize) -> HashMap<u64, u64> {
        (number..self.keys).step_by(self.shards).map(Self::first).collect()
    }

    fn total(self, map: &HashMap<u64, u64>) -> u64 {
        map.values().sum()
    }
}

impl Work for Cache {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        let (key, writes) = self.next(hand);
        hand.at = (key as u32) << 1 | u32::from(writes);
        key % in_use
    }

    #[inline(never)]
    fn operate(self, map: &mut HashMap<u64, u64>, hand: &mut Hand) -> Done {
        let value = map.get_mut(&scrambled(Self::held(hand).0));
        let found = value.map(|value| *value += 1).is_some();
        Done { added: u64::from(found), right: found }
    }

    fn looks(self) -> bool {
        true
    }

    fn look(self, hand: &Hand) -> Option<Look<Self>> {
        let look: Look<Self> = |_, map, hand| read(map, Self::held(hand).0);
        (!Self::held(hand).1).then_some(look)
    }
}

#[inline(never)]
fn read(map: &HashMap<u64, u64>, key: usize) -> Done {
    Done { added: 0, right: map.contains_key(&scrambled(key)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_in_the_shard_that_is_chosen_for_it_and_few_operations_write() {
        let cache = Cache { keys: 100, shards: 3, chosen: Zipf::new(100, 99), reads: 90 };
        let mut shards: Vec<_> = (0..3).map(|number| cache.make(number)).collect();
        assert_eq!(shards.iter().map(HashMap::len).sum::<usize>(), 100);
        let (mut hand, mut writes) = (Hand::new(1, 0), 0);
        for _ in 0..1_000 {
            let number = cache.choose(&mut hand, 3);
            let done = match cache.look(&hand) {
                Some(look) => look(cache, &shards[number], &mut hand),
                None => cache.operate(&mut shards[number], &mut hand),
            };
            assert!(done.right);
            writes += done.added;
        }
        assert!((60..140).contains(&writes), "{writes}");
        assert_eq!(shards.iter().map(|shard| cache.total(shard)).sum::<u64>(), writes);
        shards[0].clear();
        assert!(!read(&shards[0], 0).right);
    }
}
