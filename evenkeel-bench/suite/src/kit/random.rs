//! Random choices that cost less than what is measured.

/// Marsaglia's xorshift with 64 bits of state: three shifts, and good enough to pick a spot.
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each task of a run.
    pub fn new(seed: u64, task: usize) -> Random {
        // The multiplier is 2^64 over the golden ratio: it spreads neighbouring numbers over all
        // bits. The lowest bit is set because zero is the one state that xorshift never leaves.
        let mixed = (seed ^ ((task as u64) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random((mixed ^ (mixed >> 29)) | 1)
    }

    /// Returns the state from which the sequence continues.
    #[inline]
    pub fn state(&self) -> u64 {
        self.0
    }

    /// Continues a sequence from its state.
    #[inline]
    pub fn from_state(state: u64) -> Random {
        Random(state)
    }

    /// Returns a number below `bound`, by a multiplication instead of a division.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}
