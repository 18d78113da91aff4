//! Which objects of a core are the hottest, from samples, in a table that does not grow.
//!
//! Each object hashes to a place. A sample adds to its object's count there, or takes from the
//! count of another object that has the place. When nothing is left there, the sampled object gets
//! the place, and what is left of its sample. An object with more than half of the sampled time of
//! a place has it, whatever the order (the majority vote of Boyer and Moore, one for each place,
//! with weights; frequent items by a table of such votes are Misra and Gries, 1982).

use crate::random::scatter;
use alloc::{boxed::Box, vec};

/// Places, which take 2 KiB. 1,024 are no better, and with 8,192 some rows make a tenth less
/// (`evenkeel-bench run --bench directory,bank,histogram,graph --kib 2048,32768 --access found
/// --tasks-per-core 16 --runtime home,automatic`).
pub const PLACES: usize = 128;

/// The heat of objects, which any number but zero identifies.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::Heat;
/// let mut heat = Heat::default();
/// (0..30).for_each(|n| heat.add(if n % 3 == 0 { 7 } else { 8 }, 10));
/// assert_eq!(heat.total(), 300);
/// let mut hottest: Vec<_> = heat.objects().collect();
/// hottest.sort();
/// assert_eq!(hottest, [(7, 100), (8, 200)]);
/// heat.age();
/// assert_eq!(heat.total(), 150);
/// ```
#[derive(Clone, Debug)]
pub struct Heat {
    places: Box<[(u64, u64)]>,
    total: u64,
}

impl Default for Heat {
    fn default() -> Self {
        Self { places: vec![(0, 0); PLACES].into_boxed_slice(), total: 0 }
    }
}

impl Heat {
    /// Adds a sampled time to an object.
    pub fn add(&mut self, object: u64, nanos: u64) {
        self.rest(nanos);
        let place = &mut self.places[place(object)];
        if place.0 == object {
            place.1 = place.1.saturating_add(nanos);
        } else if place.1 > nanos {
            place.1 -= nanos;
        } else {
            *place = (object, nanos - place.1);
        }
    }

    /// Adds a sampled time to the total alone: its object does not move.
    pub fn rest(&mut self, nanos: u64) {
        self.total = self.total.saturating_add(nanos);
    }

    /// Forgets an object that is given to another core.
    pub fn remove(&mut self, object: u64) {
        let place = &mut self.places[place(object)];
        if place.0 == object {
            self.total = self.total.saturating_sub(place.1);
            *place = (0, 0);
        }
    }

    /// Returns the sum of all sampled times.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the objects that have a place, each with a lower bound of its sampled time.
    pub fn objects(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places.iter().copied().filter(|&(_, nanos)| nanos > 0)
    }

    /// Begins a period: all earlier samples count half.
    pub fn age(&mut self) {
        self.total /= 2;
        self.places.iter_mut().for_each(|(_, nanos)| *nanos /= 2);
    }
}

fn place(object: u64) -> usize {
    scatter(object) >> (u32::BITS - PLACES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_hot_object_keeps_its_place_beside_many_cold_ones() {
        let mut heat = Heat::default();
        for n in 1..=100_000 {
            heat.add(1_000_000 + n, 1);
            heat.add(5, 200);
        }
        let found = heat.objects().find(|&(object, _)| object == 5).expect("it has a place");
        assert!(found.1 > 200 * 99_000, "{found:?}");
        assert_eq!(heat.total(), 201 * 100_000);
    }

    #[test]
    fn more_than_half_of_the_sampled_time_has_the_place_in_every_order() {
        let others: Vec<u64> = (2..).filter(|&object| place(object) == place(1)).take(2).collect();
        // The object has 9 of 16 units.
        let samples = [(1, 5), (1, 4), (others[0], 3), (others[0], 2), (others[1], 2)];
        for order in 0..5_usize.pow(5) {
            let order: Vec<usize> = (0..5).map(|digit| order / 5_usize.pow(digit) % 5).collect();
            if (0..5).any(|index| !order.contains(&index)) {
                continue;
            }
            let mut heat = Heat::default();
            order.iter().for_each(|&index| heat.add(samples[index].0, samples[index].1));
            let found: Vec<_> = heat.objects().collect();
            assert!(matches!(found[..], [(1, 1..=9)]), "{order:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_removed_or_old_goes() {
        let mut heat = Heat::default();
        heat.add(1, 8);
        heat.add(2, 8);
        heat.remove(1);
        heat.remove(1);
        assert_eq!((heat.total(), heat.objects().count()), (8, 1));
        (0..4).for_each(|_| heat.age());
        assert_eq!((heat.total(), heat.objects().count()), (0, 0));
        heat.add(3, u64::MAX);
        heat.add(3, u64::MAX);
        assert_eq!(heat.total(), u64::MAX);
    }
}
