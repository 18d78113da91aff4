//! A hash of numbers, for maps with keys that no outsider chooses: addresses, and numbers that are
//! given in turn.

use std::hash::{BuildHasherDefault, Hasher};

/// The hasher of such maps.
pub(crate) type Numbers = BuildHasherDefault<ByProduct>;

/// Fibonacci hashing (D. E. Knuth, "The Art of Computer Programming", volume 3, 6.4), with the
/// halves exchanged, since maps look at both ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByProduct(u64);

impl Hasher for ByProduct {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }
}
