//! Random numbers that depend on a seed alone, and cost less than what is measured with them.

use evenkeel_policy::interleaving::among;

/// Marsaglia's xorshift with 64 bits of state ("Xorshift RNGs", 2003): three shifts, and good
/// enough to pick a spot.
///
/// The library's own generator, [`evenkeel_policy::random`], gives other sequences: what has been
/// simulated and measured with these would not come out again.
///
/// # Examples
/// ```
/// use evenkeel_sim::random::Random;
/// let [mut one, mut same, mut other] = [(7, 0), (7, 0), (7, 1)].map(|(a, b)| Random::new(a, b));
/// assert_eq!(one.next(), same.next());
/// assert_ne!(one.next(), other.next());
/// assert_eq!(Random::from_state(one.state()).below(100), one.below(100));
/// let mut numbers: Vec<u32> = (0..100).collect();
/// one.shuffle(&mut numbers);
/// assert!(!numbers.is_sorted());
/// numbers.sort();
/// assert!(numbers.into_iter().eq(0..100));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a sequence of its own for each `task` of a run.
    #[must_use]
    pub fn new(seed: u64, task: usize) -> Self {
        // The multiplier is 2^64 over the golden ratio: it spreads neighbouring numbers over all
        // bits. The lowest bit is set because zero is the one state that xorshift never leaves.
        let mixed = (seed ^ ((task as u64) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed ^ (mixed >> 29)) | 1)
    }

    /// Returns the state from which the sequence continues.
    #[inline]
    #[must_use]
    pub fn state(&self) -> u64 {
        self.0
    }

    /// Continues a sequence from its state, which is not zero.
    #[inline]
    #[must_use]
    pub fn from_state(state: u64) -> Self {
        Self(state)
    }

    /// Returns the next 64 bits.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound`, by a multiplication instead of a division.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        among(self.next(), bound)
    }

    /// Puts `items` into a random order: Durstenfeld's form of the shuffle of Fisher and Yates
    /// ("Algorithm 235", 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
