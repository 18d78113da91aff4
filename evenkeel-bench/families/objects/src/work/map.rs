//! Hash maps with the standard library's hasher; an operation changes a random value.

use std::collections::HashMap;

use super::{Done, Kind, Work, scrambled};
use crate::party::Hand;

/// Maps of this many keys.
#[derive(Clone, Copy)]
pub(crate) struct Maps(pub(crate) usize);

/// Returns about how many bytes the table of such a map takes. It has a power of two of places, of
/// which an eighth is empty, each with a key, a value, and a byte that says whether it is empty.
pub(crate) fn map_bytes(keys: usize) -> usize {
    (keys * 8 / 7).next_power_of_two() * (size_of::<(u64, u64)>() + 1)
}

impl Kind for Maps {
    type Value = HashMap<u64, u64>;

    fn make(self, _: usize) -> HashMap<u64, u64> {
        (0..self.0).map(|number| (scrambled(number), 0)).collect()
    }

    fn total(self, map: &HashMap<u64, u64>) -> u64 {
        map.values().sum()
    }
}

impl Work for Maps {
    #[inline(never)]
    fn operate(self, map: &mut HashMap<u64, u64>, hand: &mut Hand) -> Done {
        match map.get_mut(&scrambled(hand.random.below(self.0))) {
            Some(value) => {
                *value += 1;
                Done { added: 1, right: true }
            }
            None => Done { added: 0, right: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_key_is_noticed() {
        let work = Maps(3);
        let (mut map, mut hand) = (work.make(0), Hand::new(1, 0));
        assert_eq!(map.len(), 3);
        assert!((0..50).all(|_| work.operate(&mut map, &mut hand).right));
        assert_eq!(work.total(&map), 50);
        map.clear();
        assert!(!work.operate(&mut map, &mut hand).right);
    }

    #[test]
    fn tables_have_room_for_more_than_their_keys() {
        assert_eq!(map_bytes(1 << 10), (1 << 11) * 17);
        assert_eq!(map_bytes(7), 8 * 17);
    }
}
