//! Random numbers that depend on a seed alone, and places in tables.

use crate::interleaving::{STEP, among, mix};

/// Scatters numbers that lie at equal distances, such as addresses of things of one size: returns
/// the upper half of the product with the golden ratio (Fibonacci hashing; Knuth, "The Art of
/// Computer Programming", volume 3, 6.4). A table of `1 << bits` places, 32 bits at most, takes the
/// highest or the lowest `bits` of these 32.
///
/// # Examples
/// ```
/// use evenkeel_policy::random::scatter;
/// assert_eq!([1, 2, 3, 4].map(|n| scatter(n) >> (32 - 3)), [4, 1, 6, 3]);
/// ```
#[inline(always)]
#[must_use]
pub const fn scatter(number: u64) -> usize {
    (number.wrapping_mul(STEP) >> 32) as usize
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): any
/// seed is good, and so are neighbouring ones. Not for cryptography.
///
/// # Examples
/// ```
/// use evenkeel_policy::random::Random;
/// let [mut one, mut same, mut other] = [7, 7, 8].map(Random::new);
/// assert_eq!(one.next(), same.next());
/// assert_ne!(one.next(), other.next());
/// assert!((0..100).all(|_| one.below(6) < 6));
/// assert_eq!(one.below(0), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns a number below `bound`; zero if `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        among(self.next(), bound as usize) as u64
    }
}
