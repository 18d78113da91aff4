//! Numbers in as few bytes as they need, and a reader that checks every step.
//!
//! A number is written seven bits a byte, lowest first, with the high bit set on all but the last
//! byte (LEB128, as in DWARF and Protocol Buffers). Only the shortest form is read, so that equal
//! frames have equal bytes.

use super::FrameError;

/// The most bytes that a number takes.
pub(crate) const LONGEST_NUMBER: usize = 10;

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns how many bytes a number takes.
#[inline]
pub(crate) fn length(number: u64) -> usize {
    let bits = u64::BITS - (number | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Maps a signed number near zero to a small unsigned one ("zigzag").
pub(crate) fn fold(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// The inverse of [`fold`].
pub(crate) fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// A reader of bytes from front to back. It does not panic, and all that it returns is borrowed.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// Where `rest` begins in the frame, for errors.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, which begin at `at` in the frame.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { rest: bytes, at }
    }

    /// Returns the place of the next byte in the frame.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the bytes that are not read yet.
    #[inline]
    pub(crate) fn left(&self) -> &'a [u8] {
        self.rest
    }

    /// Passes over the next `length` bytes, of which there are as many.
    #[inline]
    pub(crate) fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
        self.at += length;
    }

    /// Reads the next byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, FrameError> {
        let (&byte, rest) = self.rest.split_first().ok_or_else(|| self.truncated(1))?;
        self.rest = rest;
        self.at += 1;
        Ok(byte)
    }

    /// Reads the next `length` bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], FrameError> {
        let missing = length.saturating_sub(self.rest.len());
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| FrameError::Truncated { at: self.at + self.rest.len(), missing })?;
        self.rest = rest;
        self.at += length;
        Ok(bytes)
    }

    /// Reads a number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, FrameError> {
        let at = self.at;
        let first = self.byte()?;
        if first < 0x80 { Ok(first.into()) } else { self.longer(at, first) }
    }

    /// Reads the rest of a number of several bytes, after the first. A separate function, so that
    /// the inlined part is short.
    #[inline(never)]
    fn longer(&mut self, at: usize, first: u8) -> Result<u64, FrameError> {
        let mut number = u64::from(first & 0x7F);
        for index in 1..LONGEST_NUMBER as u32 {
            let byte = self.byte()?;
            if index == 9 && byte > 1 {
                return Err(FrameError::TooGreat { at, most: u64::MAX });
            }
            number |= u64::from(byte & 0x7F) << (7 * index);
            if byte < 0x80 {
                let is_shortest = byte != 0;
                return if is_shortest { Ok(number) } else { Err(FrameError::Overlong { at }) };
            }
        }
        Err(FrameError::TooGreat { at, most: u64::MAX })
    }

    /// Reads a number of at most `most`.
    #[inline]
    pub(crate) fn number_up_to(&mut self, most: u64) -> Result<u64, FrameError> {
        let at = self.at;
        let number = self.number()?;
        if number <= most { Ok(number) } else { Err(FrameError::TooGreat { at, most }) }
    }

    /// Reads a number of 32 bits.
    #[inline]
    pub(crate) fn number32(&mut self) -> Result<u32, FrameError> {
        self.number_up_to(u32::MAX.into()).map(|number| number as u32)
    }

    /// Reads a length of at most `most`, and a text of this number of bytes.
    pub(crate) fn text(&mut self, what: &'static str, most: usize) -> Result<&'a str, FrameError> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if length > most {
            return Err(FrameError::Oversized { what, length, most });
        }
        let at = self.at;
        std::str::from_utf8(self.bytes(length)?).map_err(|_| FrameError::NotText { at })
    }

    /// Reads all that is left.
    #[inline]
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.at += self.rest.len();
        std::mem::take(&mut self.rest)
    }

    /// Checks that nothing is left.
    #[inline]
    pub(crate) fn finish(&self) -> Result<(), FrameError> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(FrameError::Trailing { at: self.at, bytes }),
        }
    }

    fn truncated(&self, missing: usize) -> FrameError {
        FrameError::Truncated { at: self.at, missing }
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameError, LONGEST_NUMBER, Reader, fold, length, put, unfold};
    use proptest::prelude::*;

    fn written(number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, number);
        bytes
    }

    #[test]
    fn small_numbers_take_one_byte_and_the_greatest_takes_ten() {
        assert_eq!(written(0), [0]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(128), [0x80, 1]);
        assert_eq!(written(u64::MAX).len(), LONGEST_NUMBER);
    }

    #[test]
    fn numbers_in_a_longer_form_are_refused() {
        for bytes in [&[0x80, 0][..], &[0xFF, 0x80, 0]] {
            assert_eq!(Reader::new(bytes, 5).number(), Err(FrameError::Overlong { at: 5 }));
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let too_great = Err(FrameError::TooGreat { at: 0, most: u64::MAX });
        let mut bytes = [0xFF; 10];
        assert_eq!(Reader::new(&bytes, 0).number(), too_great);
        bytes[9] = 2;
        assert_eq!(Reader::new(&bytes, 0).number(), too_great);
        bytes[9] = 1;
        assert_eq!(Reader::new(&bytes, 0).number(), Ok(u64::MAX));
        bytes[9] = 0x81;
        assert_eq!(Reader::new(&bytes, 0).number(), too_great);
    }

    #[test]
    fn a_number_that_ends_early_says_where() {
        let truncated = Err(FrameError::Truncated { at: 2, missing: 1 });
        assert_eq!(Reader::new(&[0x80, 0x80], 0).number(), truncated);
    }

    proptest! {
        #[test]
        fn a_number_is_read_as_it_was_written(number: u64) {
            let bytes = written(number);
            prop_assert_eq!(bytes.len(), length(number));
            let mut reader = Reader::new(&bytes, 0);
            prop_assert_eq!(reader.number(), Ok(number));
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn folding_loses_nothing_and_keeps_small_numbers_small(number: i64) {
            prop_assert_eq!(unfold(fold(number)), number);
            prop_assert!(number.unsigned_abs() > 63 || fold(number) < 128);
        }
    }
}
