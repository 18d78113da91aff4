//! A small generator of random numbers for each processor.

/// Marsaglia's xorshift64* ("Xorshift RNGs", 2003; Vigna 2016): a few instructions, a seed, no
/// security.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator whose sequence depends on `seed` alone.
    pub(crate) fn new(seed: u64) -> Self {
        // Any odd constant spreads small seeds; zero would be a fixed point.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        let mut x = self.0;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn equal_seeds_give_equal_sequences_and_different_seeds_do_not() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(draw(0), [0, 0, 0]);
    }
}
