//! Random numbers that depend on a seed alone.

/// Marsaglia's xorshift with 64 bits of state ("Xorshift RNGs", 2003).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a sequence of its own for each `task` of a run.
    pub(crate) fn new(seed: u64, task: usize) -> Self {
        // The multiplier is 2^64 over the golden ratio: it spreads neighbouring numbers over all
        // bits. The lowest bit is set because zero is the one state that xorshift never leaves.
        let mixed = (seed ^ ((task as u64) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed ^ (mixed >> 29)) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound`, by a multiplication instead of a division.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}
