//! Random numbers that depend on a seed alone. The constants of the [bound](super::bound) are
//! fitted to loads that these make.

use std::ops::RangeInclusive;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): any
/// seed is good, neighbours too.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of the values of `range`, each as likely.
    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.next() % (range.end() - range.start() + 1)
    }

    /// The same for indices and counts.
    pub(crate) fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        self.within(*range.start() as u64..=*range.end() as u64) as usize
    }

    /// A value of `range` in whose logarithm no part of the range is likelier than another.
    pub(crate) fn scaled(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start(), *range.end());
        if low == high {
            return low;
        }
        let bits = |value: u64| u64::from(u64::BITS - value.leading_zeros());
        let octave = self.within(bits(low)..=bits(high));
        let from = low.max(1 << octave.saturating_sub(1));
        let to = high.min((1 << octave) - 1);
        self.within(from..=to.max(from))
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.next().is_multiple_of(one_in)
    }
}
