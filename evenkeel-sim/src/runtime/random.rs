//! Random numbers that depend on a seed alone. The constants of the promise's bound are fitted to
//! loads from these numbers.

use evenkeel_policy::random::Random as Bits;
use std::ops::RangeInclusive;

/// The source of random loads.
#[derive(Clone, Debug)]
pub(crate) struct Random(Bits);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Bits::new(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// Returns one of the values of `range`, each equally likely.
    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.next() % (range.end() - range.start() + 1)
    }

    /// Does the same for indices and counts.
    pub(crate) fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        self.within(*range.start() as u64..=*range.end() as u64) as usize
    }

    /// Returns a value of `range` with a uniformly distributed number of bits.
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
