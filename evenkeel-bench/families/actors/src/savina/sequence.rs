//! The suite's own random numbers, the same in every language.

/// A linear congruential sequence of 16 bits: poor, but the rule.
pub(super) struct Sequence(u32);

impl Sequence {
    /// Makes the sequence of a seed, of which 20 bits count.
    pub(super) fn new(seed: u32) -> Sequence {
        Sequence(seed & 0xf_ffff)
    }

    /// The next number, from 0 to 65,535.
    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        self.0 = (self.0 * 1_309 + 13_849) & 0xffff;
        self.0
    }

    /// The next number below `bound`, by the remainder.
    #[inline]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    /// The next fraction: one over a number from 1 to 65,536.
    pub(super) fn fraction(&mut self) -> f64 {
        1.0 / (f64::from(self.next()) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Sequence;

    #[test]
    fn it_is_the_published_sequence() {
        let mut sequence = Sequence::new(74_755);
        let mut value = 74_755_u64;
        for _ in 0..1_000 {
            value = (value * 1_309 + 13_849) % 65_536;
            assert_eq!(u64::from(sequence.next()), value);
        }
        assert_eq!(Sequence::new(0).next(), 13_849);
        assert_eq!(Sequence::new(0).below(100), 49);
        assert!((Sequence::new(0).fraction() - 1.0 / 13_850.0).abs() < 1e-12);
    }
}
